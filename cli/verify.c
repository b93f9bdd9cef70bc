#include <stdio.h>

#include "arguments.h"
#include "toolkit/output.h"
#include "stored.h"

/* The first thing that is wrong, or that nothing is. */
static int judge(const struct arguments *arguments, const keepfit_journal_info *info)
{
    const char *folder = arguments->positional[0];
    if (info->damage)
        return fail(EXIT_CORRUPT, "%s", info->damage);
    if (info->spoilt)
        return fail(EXIT_CORRUPT, "%s: %llu checkpoints are damaged; the points are whole (--repair removes them)",
                    folder, (unsigned long long)info->spoilt);
    if (info->torn)
        return fail(
            EXIT_CORRUPT,
            "%s: %llu bytes behind record %llu are the torn tail of a crash, or are being written; they were never "
            "acknowledged (--repair cuts them off, and so does the next start)",
            folder, (unsigned long long)info->torn, (unsigned long long)info->records);
    printf("%s: whole: %llu records, %llu points, %llu of them present\n", folder, (unsigned long long)info->records,
           (unsigned long long)info->points, (unsigned long long)info->present);
    return EXIT_DONE;
}

static int verify_journal(const struct arguments *arguments)
{
    const char *folder = arguments->positional[0];
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = KEEPFIT_OK;
    if (arguments->repair)
        status = keepfit_journal_repair(folder, arguments->options, &error);
    if (status == KEEPFIT_OK)
        status = keepfit_journal_open(folder, arguments->options, &journal, &error);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    keepfit_journal_describe(journal, &info);
    int code = judge(arguments, &info);
    keepfit_journal_close(journal);
    return code;
}

static int verify_file(const char *path, enum stored_kind kind)
{
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    uint64_t record;
    keepfit_status status = kind == STORED_MODEL ? stored_model(path, NULL, &model, &error)
                                                 : keepfit_checkpoint_check(path, NULL, &record, &error);
    keepfit_model_free(model);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(&error).text);
    printf("%s: whole: a %s\n", path, kind == STORED_MODEL ? "model" : "checkpoint");
    return EXIT_DONE;
}

int run_verify(struct arguments *arguments)
{
    enum stored_kind kind = stored_kind(arguments->positional[0]);
    return kind == STORED_JOURNAL ? verify_journal(arguments) : verify_file(arguments->positional[0], kind);
}
