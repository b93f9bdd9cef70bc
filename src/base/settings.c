#include "base/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

#define LINE_MOST 4096

static bool is_remembered(const keepfit_option *option)
{
    if (strcmp(option->key, "threads") == 0)
        return false; /* the result is the same for any number */
    return strcmp(option->group, "problem") == 0 || strcmp(option->group, "method") == 0 ||
           strcmp(option->key, "scale") == 0 || strcmp(option->key, "key") == 0 || strcmp(option->key, "time") == 0;
}

char *kf_settings_write(const keepfit_options *options, uint64_t base, const char *objective)
{
    size_t used = 0, capacity = 0, room = strlen(objective) + 64;
    char *text = NULL;
    keepfit_option option = {.struct_size = sizeof option};
    if (!KF_RESERVE(text, capacity, room))
        return NULL;
    used += (size_t)snprintf(text, room, "base %" PRIu64 "\nobjective %.*s\n", base, (int)strcspn(objective, "\n"),
                             objective);
    for (size_t k = 0; keepfit_option_entry(k, &option); k++) {
        if (!is_remembered(&option))
            continue;
        const char *value = keepfit_options_get(options, option.key);
        room = strlen(option.key) + strlen(value) + 16;
        if (!KF_RESERVE(text, capacity, used + room)) {
            free(text);
            return NULL;
        }
        used +=
            (size_t)snprintf(text + used, room, "%s %s %s\n", options->given[k] ? "set" : "default", option.key, value);
    }
    return text;
}

/* The text behind the word at the start of a line; *text goes on to the next one. NULL: there is no such line. */
static const char *take_line(const char **text, const char *end, const char *word, size_t *length)
{
    size_t known = strlen(word);
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    if (!stop || (size_t)(stop - *text) < known || memcmp(*text, word, known) != 0)
        return NULL;
    const char *value = *text + known;
    *length = (size_t)(stop - value);
    *text = stop + 1;
    return value;
}

bool kf_settings_split(const char *text, size_t length, struct kf_settings *settings)
{
    const char *end = text + length, *stop = NULL;
    size_t digits = 0;
    const char *base = take_line(&text, end, "base ", &digits);
    if (!base || kf_read_count(base, base + digits, &settings->base, &stop) != KF_NUMBER_OK || stop != base + digits)
        return false;
    settings->objective = take_line(&text, end, "objective ", &settings->objective_length);
    settings->options = text;
    settings->options_length = (size_t)(end - text);
    return settings->objective;
}

static keepfit_status apply_line(keepfit_options *options, char *line, const char *from, keepfit_error *error)
{
    char *key = strchr(line, ' '), *value = key ? strchr(key + 1, ' ') : NULL;
    if (!value)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: invalid line in its settings: '%s'", from, line);
    *key++ = *value++ = '\0';
    const char *here = keepfit_options_get(options, key);
    if (!here)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: it was made with the option '%s', which this version does not know",
                       from, key);
    if (keepfit_options_given(options, key) && strcmp(here, value) != 0)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{%s}: is %s, but %s was made with %s; leave it out, or use another folder", key,
                       *here ? here : "absent", from, *value ? value : "none");
    keepfit_error refusal = {0};
    struct kf_marked reason;
    keepfit_status status = kf_options_put(options, key, value, strcmp(line, "set") == 0, &refusal);
    if (status == KEEPFIT_USAGE)
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: its settings hold what this version refuses: %s", from,
                       kf_error_marked(&refusal, &reason));
    return status == KEEPFIT_NO_MEMORY ? kf_fail_memory(error) : status;
}

keepfit_status kf_settings_apply(const struct kf_settings *settings, keepfit_options *options, const char *from,
                                 keepfit_error *error)
{
    const char *text = settings->options, *end = text + settings->options_length;
    keepfit_status status = KEEPFIT_OK;
    while (text < end && status == KEEPFIT_OK) {
        char line[LINE_MOST];
        size_t length;
        const char *start = take_line(&text, end, "", &length);
        if (!start || length >= sizeof line)
            return kf_fail(error, KEEPFIT_CORRUPT, "%s: its settings cannot be read", from);
        memcpy(line, start, length);
        line[length] = '\0';
        status = apply_line(options, line, from, error);
    }
    return status;
}
