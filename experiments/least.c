#include "least.h"

#include <math.h>

#include "toolkit/exit_code.h"

static bool meets(struct search *search, struct budget *budget)
{
    search->code = search->measure(search, budget);
    return search->code == EXIT_DONE && budget->worst <= search->epsilon;
}

/* The smallest T for this alpha. */
static struct budget least_steps(struct search *search, double alpha)
{
    struct budget low = {.inner = 0}, high = {.inner = 1, .alpha = alpha};
    while (!meets(search, &high)) {
        if (search->code != EXIT_DONE || high.inner >= search->steps_most ||
            !unit_tick(search->unit, search->unit->share))
            return (struct budget){.fo = INFINITY};
        low = high;
        high.inner *= 2;
    }
    while (high.inner - low.inner > fmax(1, 0.1 * low.inner) && search->code == EXIT_DONE) {
        struct budget middle = {.inner = floor((low.inner + high.inner) / 2), .alpha = alpha};
        if (meets(search, &middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

struct budget least_budget(struct search *search)
{
    struct budget best = {.fo = INFINITY};
    if (isnan(search->first_alpha))
        return least_steps(search, NAN);
    size_t dearer = 0;
    for (double alpha = search->first_alpha; dearer < 2 && alpha > 1e-5 && search->code == EXIT_DONE; alpha /= 2) {
        struct budget budget = least_steps(search, alpha);
        if (!unit_tick(search->unit, fmin(search->unit->share + 0.1, 0.95)))
            break;
        dearer = isfinite(best.fo) && budget.fo >= best.fo ? dearer + 1 : 0;
        if (budget.fo < best.fo)
            best = budget;
    }
    return best;
}
