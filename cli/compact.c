#include <stdio.h>

#include "arguments.h"
#include "toolkit/output.h"

static int compact(const struct arguments *arguments, const keepfit_journal_info *before)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_journal *journal = NULL;
    keepfit_journal_info after = {.struct_size = sizeof after};
    const char *folder = arguments->positional[0];
    keepfit_status status = keepfit_options_set(arguments->options, "journal", folder, &error);
    if (status == KEEPFIT_OK)
        status = keepfit_fit_create(arguments->options, &fit, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    status = keepfit_fit_compact(fit);
    int code = status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(keepfit_fit_error(fit)).text);
    keepfit_fit_free(fit);
    if (code != EXIT_DONE)
        return code;
    status = keepfit_journal_open(folder, NULL, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_describe(journal, &after);
    printf("%s: %llu points, %llu bytes; before, %llu points, %llu bytes\n", folder, (unsigned long long)after.points,
           (unsigned long long)after.bytes, (unsigned long long)before->points, (unsigned long long)before->bytes);
    keepfit_journal_close(journal);
    return EXIT_DONE;
}

int run_compact(struct arguments *arguments)
{
    const char *folder = arguments->positional[0];
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = keepfit_journal_open(folder, NULL, &journal, &error); /* a fit would make one */
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_describe(journal, &info);
    int code = EXIT_DONE;
    if (info.damage)
        code = fail(EXIT_CORRUPT, "%s", info.damage);
    else if (info.present == info.points && info.removals == 0)
        printf("%s: all %llu points are present, so there is nothing to leave out\n", folder,
               (unsigned long long)info.points);
    else
        code = compact(arguments, &info);
    keepfit_journal_close(journal);
    return code;
}
