/* What says that it is time to stop: one atomic that signal handlers and other threads may raise. Whoever looks at it keeps it,
 * so that it may be freed before them. */
#ifndef KF_STOPPING_H
#define KF_STOPPING_H

#include <stdatomic.h>

#include "keepfit.h"

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may only touch what has no lock");

struct keepfit_stop {
    atomic_bool raised;
    atomic_size_t keepers;
};

/* Given back with keepfit_stop_free; NULL stays NULL. */
keepfit_stop *kf_stop_keep(keepfit_stop *stop);

/* NULL: nothing stops. Nothing else is handed over by it, so no order is needed. */
static inline bool kf_is_raised(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

static inline bool kf_stop_is_raised(const keepfit_stop *stop)
{
    return stop && kf_is_raised(&stop->raised);
}

#endif
