/* What a training leaves on disk, and what it says of that while it runs. */
#include <stdio.h>

#include "team.h"
#include "train.h"

int train_save(struct training *training)
{
    keepfit_model *model = NULL;
    keepfit_error error = {.message = ""};
    keepfit_status status = keepfit_fit_model(training->fit, &model);
    if (status == KEEPFIT_OK && training->arguments->standard_errors &&
        (status = keepfit_fit_standard_errors(training->fit, model)) != KEEPFIT_OK) {
        keepfit_model_free(model);
        return fail_status(status, message_of(keepfit_fit_error(training->fit)).text);
    }
    if (status == KEEPFIT_OK)
        status = keepfit_model_unscale(model, training->stream, &error);
    if (status == KEEPFIT_OK && team_writes())
        status = keepfit_model_save(model, training->arguments->model, &error);
    keepfit_model_free(model);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(&error).text);
}

void train_acknowledge(struct training *training)
{
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_fit_durability(training->fit, &durability);
    if (durability.safe == training->safe)
        return;
    training->safe = durability.safe;
    printf("%llu\n", (unsigned long long)durability.safe);
    fflush(stdout);
}

int train_finish_journal(struct training *training)
{
    keepfit_durability durability = {.struct_size = sizeof durability};
    if (!*keepfit_options_get(training->arguments->options, "journal") || training->failed)
        return training->failed;
    keepfit_status status = keepfit_fit_checkpoint(training->fit);
    if (status != KEEPFIT_OK)
        return fail_status(status, message_of(keepfit_fit_error(training->fit)).text);
    keepfit_fit_durability(training->fit, &durability);
    if (training->arguments->acknowledge)
        train_acknowledge(training);
    if (durability.cut && !training->arguments->quiet)
        warn("the journal's last %llu bytes were cut off: the torn tail of a crash, never acknowledged",
             (unsigned long long)durability.cut);
    if (durability.spoilt && !training->arguments->quiet)
        warn("%llu checkpoints of the journal could not be used", (unsigned long long)durability.spoilt);
    return EXIT_DONE;
}
