/* The model that a journal stands for: a fit is made from it as one would be that goes on, but nothing is locked and nothing
 * written, so it works beside the process that is writing the journal, and without permission to write. */
#include <string.h>

#include "base/error.h"
#include "fit/durable.h"
#include "model/model.h"

/* What scaled the rows before the journal saw them. */
static keepfit_status unscale(const keepfit_fit *fit, const char *folder, keepfit_model *model, keepfit_error *error)
{
    switch ((enum kf_scale)fit->options->scale) {
    case KF_SCALE_NONE:
        return KEEPFIT_OK;
    case KF_SCALE_ROWS:
        model->unit_rows = true;
        strcpy(model->scale, "rows");
        return KEEPFIT_OK;
    default:
        return kf_fail(error, KEEPFIT_USAGE,
                       "%s: its rows were scaled by their columns ({scale}), by factors that only the data has, so the "
                       "journal alone gives no model; train again with the data",
                       folder);
    }
}

/* The options of a fit that looks at the journal. NULL: *error says why. */
static keepfit_options *looking(const keepfit_options *options, const char *folder, keepfit_error *error)
{
    keepfit_options *own = keepfit_options_create();
    if (!own) {
        kf_fail_memory(error);
        return NULL;
    }
    if (keepfit_options_set(own, "journal", folder, error) != KEEPFIT_OK) {
        keepfit_options_free(own);
        return NULL;
    }
    own->looking = true;
    own->disk = options ? options->disk : NULL;
    keepfit_options_stop(own, options ? options->stop : NULL);
    own->threads = options ? options->threads : 0;
    return own;
}

keepfit_status keepfit_journal_fit(const char *folder, const keepfit_options *options, keepfit_fit **out,
                                   keepfit_error *error)
{
    keepfit_error reason = {.struct_size = sizeof reason};
    keepfit_fit *fit = NULL;
    keepfit_options *own = looking(options, folder, &reason);
    keepfit_status status = own ? keepfit_fit_create(own, &fit, &reason) : reason.status;
    if (status == KEEPFIT_OK && fit->task.problem.points.count == 0)
        status = kf_fail(&reason, KEEPFIT_DATA, "%s: the journal has no points, so there is no model", folder);
    keepfit_options_free(own);
    if (status == KEEPFIT_OK) {
        *out = fit;
        return status;
    }
    keepfit_fit_free(fit);
    if (error)
        kf_error_give(error, &reason);
    return status;
}

keepfit_status keepfit_journal_model(const char *folder, const keepfit_options *options, keepfit_model **out,
                                     keepfit_error *error)
{
    keepfit_error reason = {.struct_size = sizeof reason};
    keepfit_fit *fit = NULL;
    keepfit_model *model = NULL;
    keepfit_status status = keepfit_journal_fit(folder, options, &fit, &reason);
    if (status == KEEPFIT_OK && (status = keepfit_fit_model(fit, &model)) != KEEPFIT_OK)
        kf_error_give(&reason, &fit->error);
    if (status == KEEPFIT_OK)
        status = unscale(fit, folder, model, &reason);
    keepfit_fit_free(fit);
    if (status == KEEPFIT_OK) {
        *out = model;
        return status;
    }
    keepfit_model_free(model);
    if (error)
        kf_error_give(error, &reason);
    return status;
}
