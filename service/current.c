#include <stdlib.h>
#include <string.h>

#include "service/service.h"

struct current *current_take(struct trained *trained)
{
    pthread_mutex_lock(&trained->lock);
    struct current *current = trained->current;
    if (current)
        atomic_fetch_add(&current->users, 1);
    pthread_mutex_unlock(&trained->lock);
    return current;
}

void current_leave(struct current *current)
{
    if (!current || atomic_fetch_sub(&current->users, 1) != 1)
        return;
    current_leave(current->measured);
    keepfit_model_free(current->model);
    free(current);
}

/* What validation has found, with what its pointers lead to. */
static void copy_validation(struct current *made, keepfit_fit *fit)
{
    keepfit_validation *found = &made->validation;
    *found = (keepfit_validation){.struct_size = sizeof *found};
    keepfit_fit_validation(fit, found);
    size_t parts = found->calibration < PARTS_MOST ? found->calibration : 0;
    if (parts) {
        memcpy(made->calibration_count, found->calibration_count, parts * sizeof *found->calibration_count);
        memcpy(made->predicted, found->predicted, parts * sizeof *found->predicted);
        memcpy(made->happened, found->happened, parts * sizeof *found->happened);
    }
    found->calibration = parts;
    found->calibration_count = made->calibration_count;
    found->predicted = made->predicted;
    found->happened = made->happened;
}

keepfit_status current_publish(struct trained *trained)
{
    keepfit_durability durability = {.struct_size = sizeof durability};
    struct current *made = calloc(1, sizeof *made);
    if (!made)
        return KEEPFIT_NO_MEMORY;
    atomic_init(&made->users, 1);
    made->report = (keepfit_report){.struct_size = sizeof made->report};
    made->about = (keepfit_description){.struct_size = sizeof made->about};
    made->schema = (keepfit_schema){.struct_size = sizeof made->schema};
    keepfit_fit_report(trained->fit, &made->report);
    keepfit_fit_durability(trained->fit, &durability);
    made->safe = durability.safe;
    copy_validation(made, trained->fit);
    made->late = trained->late;
    keepfit_status status = KEEPFIT_OK;
    if (made->report.points)
        status = keepfit_fit_model(trained->fit, &made->model);
    if (status != KEEPFIT_OK) {
        current_leave(made);
        return status;
    }
    if (made->model) {
        keepfit_model_describe(made->model, &made->about);
        keepfit_model_schema(made->model, &made->schema);
    }
    shown_publish(trained, made);
    pthread_mutex_lock(&trained->lock);
    struct current *before = trained->current;
    trained->current = made;
    pthread_mutex_unlock(&trained->lock);
    current_leave(before);
    return KEEPFIT_OK;
}
