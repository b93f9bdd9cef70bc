#define _POSIX_C_SOURCE 200809L /* strtok_r, strdup */
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "must.h"
#include "toolkit/output.h"
#include "statistics.h"

int options_start(const char *options, uint64_t seed, keepfit_options **made)
{
    char *text = must_allocate(strlen(options) + 64), *save = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_status status = KEEPFIT_OK;
    sprintf(text, "%s threads=1 seed=%llu", options, (unsigned long long)seed);
    *made = must_have(keepfit_options_create());
    for (char *word = strtok_r(text, " ", &save); word && status == KEEPFIT_OK; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        status = keepfit_options_set(*made, word, value, &error);
    }
    free(text);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(&error).text);
}

int fit_start(const char *options, uint64_t seed, keepfit_fit **fit)
{
    keepfit_options *made = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    int code = options_start(options, seed, &made);
    if (code == EXIT_DONE && keepfit_fit_create(made, fit, &error) != KEEPFIT_OK)
        code = fail_status(error.status, message_of(&error).text);
    keepfit_options_free(made);
    return code;
}

int fit_failed(const struct unit *unit, const keepfit_fit *fit)
{
    return fail(EXIT_FAILED, "%s: %s", unit->name, message_of(keepfit_fit_error(fit)).text);
}

bool stage_is_recorded(uint64_t stage, uint64_t n)
{
    const double step = log(1.05);
    return stage == 1 || stage == n / 2 || stage == n ||
           floor(log((double)stage) / step) > floor(log((double)stage - 1) / step);
}

struct curve curve_of(const struct unit *units, size_t seeds, size_t x_column, size_t y_column)
{
    size_t count = 0;
    for (size_t s = 0; s < seeds; s++)
        count = units[s].frame.rows > count ? units[s].frame.rows : count;
    double *space = must_allocate(4 * count * sizeof *space);
    struct curve curve = {count, space, space + count, space + 2 * count, space + 3 * count};
    for (size_t k = 0; k < count; k++) {
        struct range range = range_empty();
        double there = 0;
        for (size_t s = 0; s < seeds; s++) {
            if (units[s].frame.rows <= k)
                continue;
            double y = frame_at(&units[s].frame, k, y_column);
            curve.x[k] = frame_at(&units[s].frame, k, x_column);
            curve.mean[k] += y;
            range_widen(&range, y);
            there++;
        }
        curve.mean[k] /= there;
        curve.low[k] = range.low;
        curve.high[k] = range.high;
    }
    return curve;
}

void curve_free(struct curve *curve)
{
    free(curve->x);
}

struct plot_series curve_series(const struct curve *curve, const char *name)
{
    return (struct plot_series){name, curve->count, curve->x, curve->mean, curve->low, curve->high};
}
