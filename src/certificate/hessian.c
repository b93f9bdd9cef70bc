/* What rounding may have done to H, and an inverse of what is left when that is taken away. */
#include <math.h>

#include "certificate/internal.h"

/* Of a term w phi'' a_k a_l: the weight, the root and its square, the products, 1/W and what scaling takes. */
#define TERM_OPERATIONS 12
/* More of H than that is not given away for rounding: nothing is proved. */
#define SLACK_MOST 0.25

double kf_hessian_margin(const struct kf_curvature *curvature, size_t k)
{
    return kf_margin(curvature->hessian.size, curvature->hessian.operations + TERM_OPERATIONS,
                     curvature->hessian.peak[k]);
}

void kf_hessian_note_peaks(struct kf_curvature *curvature)
{
    for (size_t k = 0; k < curvature->hessian.size; k++)
        curvature->hessian.peak[k] =
            fmax(curvature->hessian.peak[k], curvature->hessian.matrix[k * curvature->hessian.capacity + k]);
}

bool kf_curvature_invert(struct kf_curvature *curvature)
{
    double *margin = kf_curvature_scratch(curvature, 0), *diagonal = kf_curvature_scratch(curvature, 1);
    double share = kf_margin(curvature->hessian.size, (double)curvature->hessian.size + 8, 1), ratio = share, trace = 0;
    struct kf_square inverse = kf_like_hessian(curvature, curvature->hessian.inverse);
    kf_hessian_note_peaks(curvature);
    kf_curvature_copy(curvature, curvature->hessian.matrix, curvature->hessian.inverse);
    for (size_t k = 0; k < curvature->hessian.size; k++) {
        diagonal[k] = curvature->hessian.matrix[k * curvature->hessian.capacity + k];
        margin[k] = kf_hessian_margin(curvature, k);
        ratio = fmax(ratio, margin[k] / diagonal[k] + share);
    }
    if (!kf_verified_factor(&inverse, margin))
        return false;
    double apart = kf_verified_inverse(&inverse, diagonal);
    if (!(apart < SLACK_MOST))
        return false;
    for (size_t k = 0; k < curvature->hessian.size; k++) {
        double own = curvature->hessian.inverse[k * curvature->hessian.capacity + k];
        curvature->hessian.width[k] = sqrt(own) * KF_UPWARD;
        trace += diagonal[k] * own * KF_UPWARD;
    }
    /* LL' is less than H by no more than twice what was taken off the diagonal, ratio diag(H), and diag(H) <= trace LL'. */
    curvature->hessian.slack = apart + 2 * ratio * trace / (1 - apart) + 8 * KF_UNIT;
    return curvature->hessian.slack < SLACK_MOST;
}
