/* How the objective reads the iterate: it asks for the product of a row with a block of x, and does not know whether x is stored as
 * it is or as s*v + c*m, two vectors with two numbers that are cheap to change. Linear models have the two vectors side by side, for
 * rows that are scattered; networks, whose blocks are long, have them apart. */
#ifndef KF_VIEW_H
#define KF_VIEW_H

#include "kernels/kernels.h"

struct kf_deferred;

struct kf_view {
    const double *dense; /* x itself, or NULL */
    const double *pairs; /* v and m side by side */
    const double *v, *m; /* the two apart; m may be missing, and is 0 then */
    double s, c;
    struct kf_deferred *deferred; /* what v has yet to take in (deferred.h); may be NULL */
};

/* Where coordinate k of v and of m is: v[k*stride], m[k*stride]. */
struct kf_lanes {
    double *v, *m;
    size_t stride;
};

static inline struct kf_view kf_dense_view(const double *x)
{
    return (struct kf_view){.dense = x};
}

#endif
