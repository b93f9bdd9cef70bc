#include "objective/loss_records.h"

#include <string.h>

/* In the order of the option's choices (base/options.c; tests/unit/test_objective.c compares them). */
static const struct kf_loss *const losses[] = {
    &kf_loss_squared, &kf_loss_logistic,      &kf_loss_huber,   &kf_loss_logcosh,
    &kf_loss_hinge,   &kf_loss_squared_hinge, &kf_loss_softmax, &kf_loss_network,
};

const struct kf_loss *kf_loss_entry(size_t k)
{
    return k < sizeof losses / sizeof losses[0] ? losses[k] : NULL;
}

const struct kf_loss *kf_loss_find(const char *name)
{
    for (size_t k = 0; k < sizeof losses / sizeof losses[0]; k++)
        if (strcmp(losses[k]->name, name) == 0)
            return losses[k];
    return NULL;
}
