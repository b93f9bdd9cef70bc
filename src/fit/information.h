/* What H says of the model besides how near the optimum is: standard errors of its weights, and what it would be without a point. Both
 * make H anew at x, a pass over all points and a factor, and change nothing. */
#ifndef KF_INFORMATION_H
#define KF_INFORMATION_H

#include "fit/fit.h"
#include "optimum/optimum.h"

/* H of the sum of all functions, W times that of the mean, with what its assembly needs. */
struct kf_information {
    size_t size;
    double *hessian; /* of the losses alone: the lower triangle */
    double *factor;  /* with the regulariser, and what holds the intercepts of several outputs together */
    double held;     /* by which these are held together; 0: they need not be */
    struct kf_curves curves;
};

/* Fails where there is no such thing: networks, domains, too many coordinates, a singular H. The caller frees it in any case. */
keepfit_status kf_information_make(keepfit_fit *fit, struct kf_information *information);
void kf_information_free(struct kf_information *information);
/* The status, or that memory was wanting underneath, which does not end the fit. */
keepfit_status kf_information_sound(keepfit_fit *fit, keepfit_status status);
/* The regulariser's part of H on the diagonal, of all coordinates that are not free. */
double kf_information_penalty(const keepfit_fit *fit);

#endif
