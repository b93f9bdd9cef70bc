#include "trap.h"

#include <math.h>

#include "ridge_optimum.h"
#include "runs.h"
#include "toolkit/exit_code.h"

double trap_formula(double n)
{
    return 1 / (n * (n * (n * (n + 5) + 7) + 2));
}

keepfit_point trap_point(uint64_t j, uint64_t k, uint64_t n)
{
    static const double rows[3][2] = {{0, 0}, {1, -1}, {1, 0}};
    size_t which = j == n ? 2 : j == k ? 1 : 0;
    return (keepfit_point){.row = {2, NULL, rows[which]}, .target = j == n, .weight = 1};
}

static double largest(const double *x, size_t size)
{
    double most = 0;
    for (size_t c = 0; c < size; c++)
        most = fmax(most, fabs(x[c]));
    return most;
}

int trap_run(const struct unit *unit, uint64_t n, uint64_t k, uint64_t seed, const char *options,
             struct trap_draw *draw)
{
    keepfit_fit *fit = NULL;
    struct optimum optimum;
    keepfit_report before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    const double *x = NULL;
    size_t size = 0;
    optimum_start(&optimum, 2, 1);
    *draw = (struct trap_draw){0};
    int code = fit_start(options, seed, &fit);
    for (uint64_t j = 1; j <= n && code == EXIT_DONE; j++) {
        keepfit_point point = trap_point(j, k, n);
        optimum_add(&optimum, &point);
        if (j == n)
            keepfit_fit_report(fit, &before);
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK)
            code = fit_failed(unit, fit);
        x = keepfit_fit_iterate(fit, &size);
        if (j < n)
            draw->before = fmax(draw->before, largest(x, size));
    }
    if (code == EXIT_DONE) {
        keepfit_fit_report(fit, &after);
        draw->stage_fo = (double)(after.fo - before.fo);
        draw->total_fo = (double)after.fo;
        draw->second = x[1];
        draw->gap = optimum_gap(&optimum, x, size);
    }
    optimum_free(&optimum);
    keepfit_fit_free(fit);
    return code;
}
