/* Lazy refitting, what anybody would write who wants to be sure: hold and certify (hold.h), and when the bound exceeds
 * epsilon solve again, warm, by Newton's method with a new Hessian at every step. The bar that other methods have to clear. */
#include "hold/hold.h"
#include "method/method.h"

static keepfit_status refit_create(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    return kf_hold_create(task, state, false);
}

const struct kf_method kf_refit = {
    .name = "refit",
    .summary =
        "hold the model, track its exact gradient, re-solve by Newton only when the proved bound exceeds epsilon",
    .does = "holds x and its exact gradient; when the bound exceeds epsilon, Newton's steps with a new Hessian each",
    .gradients = "1, sometimes i a step (2i in domains and with huber and both hinges)",
    .output = "within epsilon, proved",
    .needs_convexity = true,
    .holds_epsilon = true,
    .state_size = sizeof(struct kf_hold),
    .create = refit_create,
    .forget = kf_hold_forget,
    .leave = kf_hold_leave,
    .take = kf_hold_take,
    .settle = kf_hold_settle,
    .advantage = kf_hold_advantage,
    .archive = kf_hold_archive,
    .destroy = kf_hold_destroy,
};
