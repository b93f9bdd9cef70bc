#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "toolkit/output.h"

static const struct {
    const char *name;
    keepfit_family family;
} families[] = {
    {"methods", KEEPFIT_METHODS}, {"losses", KEEPFIT_LOSSES},     {"domains", KEEPFIT_DOMAINS},
    {"formats", KEEPFIT_FORMATS}, {"features", KEEPFIT_FEATURES},
};

/* One line of the list: aligned text, or a member of a JSON array. */
static void print_entry(bool json, bool first, int width, const char *name, const char *summary)
{
    if (!json) {
        printf("%-*s  %s\n", width, name, summary);
        return;
    }
    printf("%s\n  {\"name\": ", first ? "" : ",");
    json_text(stdout, name);
    printf(", \"summary\": ");
    json_text(stdout, summary);
    putchar('}');
}

static void list_family(keepfit_family family, bool json)
{
    keepfit_entry entry = {.struct_size = sizeof entry};
    int width = 0;
    for (size_t k = 0; keepfit_family_entry(family, k, &entry); k++)
        if ((int)strlen(entry.name) > width)
            width = (int)strlen(entry.name);
    for (size_t k = 0; keepfit_family_entry(family, k, &entry); k++)
        print_entry(json, k == 0, width, entry.name, entry.summary);
#ifdef KEEPFIT_SERVICE
    if (family == KEEPFIT_FEATURES)
        print_entry(json, false, width, "service", "keepfit serve: learns and predicts over HTTP (libmicrohttpd)");
#endif
}

static void print_option(bool json, bool first, const char *key, const char *value, const char *help)
{
    char name[128];
    snprintf(name, sizeof name, "--%s%s%s", key, *value ? " " : "", value);
    print_entry(json, first, 44, json ? key : name, help);
}

/* Whether the table has an earlier row of this name, for other commands. */
static bool is_repeated(size_t k)
{
    for (size_t earlier = 0; earlier < k; earlier++)
        if (strcmp(own_option_entry(earlier)->key, own_option_entry(k)->key) == 0)
            return true;
    return false;
}

/* The library's, and then those of the commands. */
static void list_options(bool json)
{
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        print_option(json, k == 0, option.key, option.value, option.help);
    for (size_t k = 0; own_option_entry(k); k++) {
        const struct own_option *own = own_option_entry(k);
        if (!is_repeated(k))
            print_option(json, false, own->key, own->value, own->help);
    }
}

int run_list(struct arguments *arguments)
{
    const char *what = arguments->positional[0];
    size_t count = sizeof families / sizeof families[0], chosen = 0;
    while (chosen < count && strcmp(families[chosen].name, what) != 0)
        chosen++;
    if (chosen == count && strcmp(what, "options") != 0)
        return fail_choice("list", what, arguments->command->positional);
    if (arguments->json)
        putchar('[');
    if (chosen == count)
        list_options(arguments->json);
    else
        list_family(families[chosen].family, arguments->json);
    if (arguments->json)
        printf("\n]\n");
    return EXIT_DONE;
}
