#define _POSIX_C_SOURCE 200809L /* strtok_r, strdup */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/output.h"

/* Whether one method may have it for itself: not what changes the problem, which is one for all, or what the runs set. */
static bool is_method_option(const char *key)
{
    static const char *const common[] = {"method", "window", "seed", "threads"};
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; k < sizeof common / sizeof common[0]; k++)
        if (strcmp(common[k], key) == 0)
            return false;
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (strcmp(option.key, key) == 0)
            return strcmp(option.group, "method") == 0;
    return true; /* unknown: reported by whoever sets it */
}

/* "name:key=value:key=value" into the options of one contestant; text is cut up. */
static int apply_own_options(struct contestant *contestant, char *text)
{
    keepfit_error error = {.struct_size = sizeof error};
    char *save = NULL, *part = strtok_r(text, ":", &save);
    if (!part)
        return fail(EXIT_USAGE, "--methods: an empty name");
    if (keepfit_options_set(contestant->options, "method", part, &error) != KEEPFIT_OK)
        return fail(EXIT_USAGE, "--methods: %s", message_of(&error).text);
    while ((part = strtok_r(NULL, ":", &save))) {
        char *equals = strchr(part, '=');
        if (!equals)
            return fail(EXIT_USAGE, "--methods: '%s' in '%s' is not of the form key=value", part, contestant->name);
        *equals = '\0';
        if (!is_method_option(part))
            return fail(
                EXIT_USAGE,
                "--methods: %s: '%s' is not for one method alone; all solve the same problem with the same seeds",
                contestant->name, part);
        if (keepfit_options_set(contestant->options, part, equals + 1, &error) != KEEPFIT_OK)
            return fail(EXIT_USAGE, "--methods: %s: %s", contestant->name, message_of(&error).text);
    }
    return EXIT_DONE;
}

/* Options that do not fit a method are reported before hours are spent on the others. */
static int check_contestant(const struct contestant *contestant)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_fit_create(contestant->options, &fit, &error);
    keepfit_fit_free(fit);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(&error).text);
}

static int add_contestant(struct comparison *comparison, const char *name)
{
    struct contestant *contestant = &comparison->contestants[comparison->contestant_count];
    char *text = strdup(name);
    contestant->name = strdup(name);
    contestant->options = keepfit_options_copy(comparison->arguments->options);
    comparison->contestant_count++;
    int code = text && contestant->name && contestant->options ? apply_own_options(contestant, text)
                                                               : fail(EXIT_FAILED, "out of memory");
    free(text);
    return code == EXIT_DONE ? check_contestant(contestant) : code;
}

static int read_contestants(struct comparison *comparison)
{
    char *list = strdup(comparison->arguments->methods), *save = NULL;
    size_t most = 1;
    for (const char *at = comparison->arguments->methods; *at; at++)
        most += *at == ',';
    comparison->contestants = calloc(most, sizeof *comparison->contestants);
    int code = list && comparison->contestants ? EXIT_DONE : fail(EXIT_FAILED, "out of memory");
    for (char *name = code == EXIT_DONE ? strtok_r(list, ",", &save) : NULL; name && code == EXIT_DONE;
         name = strtok_r(NULL, ",", &save))
        code = add_contestant(comparison, name);
    free(list);
    if (code == EXIT_DONE && comparison->contestant_count == 0)
        code = fail(EXIT_USAGE, "--methods: names no method");
    return code;
}

static int read_stream(struct comparison *comparison)
{
    struct arguments *arguments = comparison->arguments;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status =
        keepfit_stream_open(arguments->positional[0], arguments->options, &comparison->stream, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    status = keepfit_stream_read_all(comparison->stream);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(keepfit_stream_error(comparison->stream)).text);
    keepfit_stream_describe(comparison->stream, &comparison->info);
    if (!arguments->quiet)
        warn_cut(&comparison->info);
    if (comparison->info.total == 0)
        return fail(EXIT_DATA, "%s: no points", comparison->info.name);
    return EXIT_DONE;
}

/* The stages to measure, known beforehand since the stream's length is. */
static int plan_stages(struct comparison *comparison)
{
    struct trace_plan plan;
    uint64_t total = comparison->info.total;
    int code = trace_plan_read(&plan, comparison->arguments->trace_stages, total);
    if (code != EXIT_DONE)
        return code;
    comparison->stages = calloc(total, sizeof *comparison->stages);
    if (!comparison->stages)
        return fail(EXIT_FAILED, "out of memory");
    for (uint64_t stage = 1; stage <= total; stage++)
        if (trace_due(&plan, stage) || stage == total)
            comparison->stages[comparison->stage_count++] = stage;
    return EXIT_DONE;
}

static int make_races(struct comparison *comparison)
{
    size_t count = comparison->runs * comparison->contestant_count;
    comparison->races = calloc(count, sizeof *comparison->races);
    for (size_t k = 0; comparison->races && k < count; k++)
        if (!(comparison->races[k].rows = calloc(comparison->stage_count, sizeof(struct trace_row))))
            return fail(EXIT_FAILED, "out of memory");
    return comparison->races ? EXIT_DONE : fail(EXIT_FAILED, "out of memory");
}

static void free_comparison(struct comparison *comparison)
{
    size_t races = comparison->races ? comparison->runs * comparison->contestant_count : 0;
    for (size_t k = 0; k < races; k++)
        free(comparison->races[k].rows);
    free(comparison->races);
    for (size_t k = 0; k < comparison->contestant_count; k++) {
        free(comparison->contestants[k].name);
        keepfit_options_free(comparison->contestants[k].options);
    }
    free(comparison->contestants);
    free(comparison->stages);
    keepfit_stream_close(comparison->stream);
}

int run_compare(struct arguments *arguments)
{
    struct comparison comparison = {.arguments = arguments, .runs = arguments->runs};
    comparison.has_optimum = !is_network(arguments->options);
    comparison.epsilon = comparison.has_optimum ? keepfit_options_get_number(arguments->options, "epsilon") : NAN;
    comparison.skip = strcmp(keepfit_options_get(arguments->options, "on-error"), "skip") == 0;
    int code = check_gap(arguments);
    if (code == EXIT_DONE)
        code = read_contestants(&comparison);
    if (code == EXIT_DONE)
        code = read_stream(&comparison);
    if (code == EXIT_DONE)
        code = plan_stages(&comparison);
    if (code == EXIT_DONE)
        code = make_races(&comparison);
    if (code == EXIT_DONE)
        code = compare_run(&comparison);
    if (code == EXIT_DONE)
        code = compare_write(&comparison);
    free_comparison(&comparison);
    return code;
}
