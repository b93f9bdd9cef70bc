/* How the objective reads the iterate: it asks for the scores of a row, and does not know whether x is stored as it is or as
 * s*v + c*m, two vectors side by side with two numbers that are cheap to change. */
#ifndef KF_VIEW_H
#define KF_VIEW_H

#include "kernels/kernels.h"

struct kf_view {
    const double *dense; /* x itself, or NULL */
    const double *pairs; /* v and m */
    double s, c;
};

static inline struct kf_view kf_dense_view(const double *x)
{
    return (struct kf_view){.dense = x};
}

#endif
