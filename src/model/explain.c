/* What a score is made of. */
#include <math.h>

#include "kernels/kernels.h"
#include "model/model.h"

static double mean_weight(const keepfit_model *model, const double *weights)
{
    double sum = 0;
    for (size_t k = 0; k < model->outputs; k++)
        sum += weights[k];
    return model->outputs > 1 ? sum / (double)model->outputs : 0;
}

/* Puts a contribution in its place among those so far, the largest first; returns what falls out at the end, or 0. */
static double insert(keepfit_contribution *all, size_t *count, size_t most, const keepfit_contribution *one)
{
    size_t at = *count;
    if (most == 0)
        return one->contribution;
    while (at > 0 && fabs(all[at - 1].contribution) < fabs(one->contribution))
        at--;
    if (at == most)
        return one->contribution;
    double fallen = *count == most ? all[most - 1].contribution : 0;
    *count += *count < most;
    for (size_t k = *count - 1; k > at; k--)
        all[k] = all[k - 1];
    all[at] = *one;
    return fallen;
}

keepfit_status keepfit_model_explain(const keepfit_model *model, const keepfit_row *row, size_t output, size_t most,
                                     keepfit_contribution *contributions, size_t *count, double *intercept,
                                     double *rest)
{
    if (model->hidden || output >= model->outputs)
        return KEEPFIT_USAGE;
    double norm = model->unit_rows ? kf_norm(row->count, row->value) : 1, left = 0;
    size_t found = 0;
    for (size_t p = 0; p < row->count; p++) {
        uint32_t feature = row->index ? row->index[p] : (uint32_t)p;
        if (feature >= model->features || row->value[p] == 0)
            continue;
        const double *weights = model->weights + (size_t)feature * model->outputs;
        keepfit_contribution one = {.feature = feature,
                                    .value = row->value[p] / (norm > 0 ? norm : 1),
                                    .weight = weights[output] - mean_weight(model, weights)};
        one.contribution = one.weight * one.value;
        left += insert(contributions, &found, most, &one);
    }
    *count = found;
    *intercept = model->intercepts[output] - mean_weight(model, model->intercepts);
    *rest = left;
    return KEEPFIT_OK;
}
