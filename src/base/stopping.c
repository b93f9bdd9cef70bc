#include "base/stopping.h"

#include <stdlib.h>

#include "base/memory.h"

keepfit_stop *keepfit_stop_create(void)
{
    keepfit_stop *stop = kf_allocate(1, sizeof *stop);
    if (stop)
        atomic_init(&stop->keepers, 1);
    return stop;
}

keepfit_stop *kf_stop_keep(keepfit_stop *stop)
{
    if (stop)
        atomic_fetch_add(&stop->keepers, 1);
    return stop;
}

void keepfit_stop_free(keepfit_stop *stop)
{
    if (stop && atomic_fetch_sub(&stop->keepers, 1) == 1)
        free(stop);
}

void keepfit_stop_raise(keepfit_stop *stop)
{
    if (stop)
        atomic_store(&stop->raised, true);
}

void keepfit_stop_lower(keepfit_stop *stop)
{
    if (stop)
        atomic_store(&stop->raised, false);
}

bool keepfit_stop_is_raised(const keepfit_stop *stop)
{
    return kf_stop_is_raised(stop);
}
