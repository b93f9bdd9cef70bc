#define _POSIX_C_SOURCE 200809L
#include "train_check.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolkit/output.h"

/* Standard input or output, whichever the name is for. */
static bool is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

const char *train_data(const struct arguments *arguments)
{
    return arguments->positional_count ? arguments->positional[0] : "/dev/null";
}

bool train_is_live(const struct arguments *arguments)
{
    const char *data = train_data(arguments);
    struct stat status;
    return (is_standard(data) ? fstat(STDIN_FILENO, &status) : stat(data, &status)) == 0 && !S_ISREG(status.st_mode);
}

bool train_chooses_loss(const struct arguments *arguments)
{
    const char *journal = keepfit_options_get(arguments->options, "journal");
    struct stat status;
    return arguments->positional_count && !is_standard(train_data(arguments)) && !train_is_live(arguments) &&
           !keepfit_options_given(arguments->options, "loss") && (!*journal || stat(journal, &status) != 0);
}

static bool same_file(const char *one, const char *other)
{
    struct stat first, second;
    if (!one || !other)
        return false;
    if (stat(one, &first) == 0 && stat(other, &second) == 0)
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino && S_ISREG(first.st_mode);
    return strcmp(one, other) == 0;
}

/* What is said of a journal does nothing without one. */
static int check_journal_options(const struct arguments *arguments)
{
    static const char *const others[] = {"sync", "segment-bytes", "checkpoint-seconds", "checkpoint-gradients"};
    keepfit_options *options = arguments->options;
    if (strcmp(arguments->resume, "check") != 0 && strcmp(arguments->resume, "append") != 0)
        return fail_choice("--resume", arguments->resume, "check|append");
    if (keepfit_options_given(options, "journal") && !*keepfit_options_get(options, "journal"))
        return fail(EXIT_USAGE, "--journal names no folder");
    if (*keepfit_options_get(options, "journal"))
        return EXIT_DONE;
    if (arguments->acknowledge)
        return fail(EXIT_USAGE, "--acknowledge needs --journal");
    if (strcmp(arguments->resume, "append") == 0)
        return fail(EXIT_USAGE, "--resume append needs --journal");
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (keepfit_options_given(options, others[k]))
            return fail(EXIT_USAGE, "--%s needs --journal", others[k]);
    return EXIT_DONE;
}

/* What cannot be written is reported before the work, not after it. */
static int check_outputs(const struct arguments *arguments)
{
    const char *data = train_data(arguments);
    struct stat old;
    struct output probe;
    int usage = check_journal_options(arguments);
    if (usage != EXIT_DONE)
        return usage;
    if (arguments->save_every && !arguments->model)
        return fail(EXIT_USAGE, "--save-every needs --model");
    if (arguments->model && is_standard(arguments->model))
        return fail(EXIT_USAGE, "--model: a model is saved in a file, not on standard output");
    if (!is_standard(data) && (same_file(arguments->model, data) || same_file(arguments->trace, data)))
        return fail(EXIT_USAGE, "%s: the data would be overwritten", data);
    if (same_file(arguments->model, arguments->trace))
        return fail(EXIT_USAGE, "%s: --model and --trace name the same file", arguments->trace);
    if (!arguments->model)
        return EXIT_DONE;
    if (stat(arguments->model, &old) == 0 && !S_ISREG(old.st_mode))
        return fail(EXIT_FAILED, "%s: is not a regular file, so no model is written there", arguments->model);
    int code = output_open(&probe, arguments->model);
    output_discard(&probe);
    return code;
}

/* Without data, a journal has to be there: it would be made. */
static int check_journal(const struct arguments *arguments)
{
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    const char *folder = keepfit_options_get(arguments->options, "journal");
    if (!*folder)
        return fail(EXIT_USAGE, "train needs FILE|- ('keepfit help train'), or --journal DIR that has points already");
    keepfit_status status = keepfit_journal_open(folder, arguments->options, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_describe(journal, &info);
    int code = info.damage ? fail(EXIT_CORRUPT, "%s", info.damage) : EXIT_DONE;
    if (code == EXIT_DONE && (strstr(info.settings, "set scale columns") || strstr(info.settings, "set scale minmax")))
        code = fail(EXIT_USAGE,
                    "%s: its rows were scaled by their columns, by factors that only the data has; give the FILE, too",
                    folder);
    keepfit_journal_close(journal);
    return code;
}

int train_check_scale(const struct arguments *arguments)
{
    keepfit_options *options = arguments->options;
    const char *scale = keepfit_options_get(options, "scale");
    bool columns = strcmp(scale, "columns") == 0 || strcmp(scale, "minmax") == 0;
    char kind[16];
    snprintf(kind, sizeof kind, "%s", scale);
    bool shuffle = keepfit_options_get_flag(options, "shuffle");
    bool limited = *keepfit_options_get(options, "limit") && !shuffle; /* which comes behind the shuffle */
    if (!arguments->positional_count || !train_is_live(arguments))
        return EXIT_DONE;
    if (columns && !limited)
        return fail(EXIT_USAGE,
                    "--scale %s reads everything before it begins, and a pipe may never end; give a file, or --limit N "
                    "without --shuffle to read only so many, or --scale rows",
                    kind);
    if (shuffle && !arguments->quiet)
        warn("--shuffle reads the stream to its end before the first stage");
    return EXIT_DONE;
}

int train_check(const struct arguments *arguments)
{
    int code = check_outputs(arguments);
    return code == EXIT_DONE && !arguments->positional_count ? check_journal(arguments) : code;
}
