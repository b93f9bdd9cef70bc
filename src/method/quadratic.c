/* Newton's method kept warm: hold and certify (hold.h) with the Hessian of an earlier x, which is made anew only when the
 * stream has outgrown it, x has left it, or steps with it no longer gain a digit. A new point costs 1 FO and O(d nnz) for
 * the bound; an improvement one pass of gradients, without a Hessian, or none where the curvatures prove that the gradient is known.
 */
#include "hold/hold.h"
#include "method/method.h"

static keepfit_status quadratic_create(struct kf_task *task, void *state, keepfit_error *error)
{
    (void)error;
    return kf_hold_create(task, state, true);
}

const struct kf_method kf_quadratic_method = {
    .name = "quadratic",
    .summary = "hold the model, improve it by Newton's steps with an old Hessian when the proved bound exceeds epsilon",
    .does = "holds x and its exact gradient; when the bound exceeds epsilon, Newton's steps with the Hessian of an "
            "earlier stage while it serves, without a pass where its own error is proved to be small",
    .gradients = "1, sometimes i a step",
    .output = "within epsilon, proved",
    .needs_convexity = true,
    .holds_epsilon = true,
    .state_size = sizeof(struct kf_hold),
    .create = quadratic_create,
    .forget = kf_hold_forget,
    .leave = kf_hold_leave,
    .take = kf_hold_take,
    .settle = kf_hold_settle,
    .advantage = kf_hold_advantage,
    .archive = kf_hold_archive,
    .destroy = kf_hold_destroy,
};
