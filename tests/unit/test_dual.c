/* Newton's direction from the products of rows, against H in long double: as points come, leave, and x moves, with the factor of earlier
 * points and curvatures for preconditioner; and that a fit goes on from a snapshot with the same bits. */
#include <stdlib.h>
#include <string.h>

#include "elimination.h"
#include "hold/hold.h"
#include "support.h"

#define FEATURES 48
#define SIZE (FEATURES + 1)
#define POINTS 90

static struct kf_hold *hold_of(keepfit_fit *fit)
{
    return fit->running[fit->running_count - 1].state;
}

static void spread(const struct kf_problem *problem, size_t j, long double *out)
{
    keepfit_row row = kf_points_row(&problem->points, j);
    memset(out, 0, SIZE * sizeof *out);
    for (size_t e = 0; e < row.count; e++)
        out[row.index ? row.index[e] : e] = row.value[e];
}

/* H at the fit's x, and the gradient. */
static void find_model(const struct kf_problem *problem, const double *slopes, const double *x, long double *hessian,
                       long double *gradient)
{
    size_t size = kf_size(problem), free = problem->objective.free;
    long double row[SIZE], mean = 1 / (long double)problem->objective.weight_total;
    memset(hessian, 0, SIZE * SIZE * sizeof *hessian);
    memset(gradient, 0, SIZE * sizeof *gradient);
    for (size_t j = 0; j < problem->points.count; j++) {
        long double curve = kf_curve_recalled(problem, j, slopes[j]);
        spread(problem, j, row);
        for (size_t k = 0; k < size; k++) {
            gradient[k] += mean * slopes[j] * row[k];
            for (size_t l = 0; l < size; l++)
                hessian[k * SIZE + l] += mean * curve * row[k] * row[l];
        }
    }
    for (size_t k = free; k < size; k++) {
        gradient[k] += 2 * (long double)problem->objective.lambda * x[k];
        hessian[k * SIZE + k] += 2 * (long double)problem->objective.lambda;
    }
}

/* How far the direction is off, as a share: in the length that H gives. NaN: there was none. */
static double error_of_direction(keepfit_fit *fit)
{
    static long double hessian[SIZE * SIZE], spare[SIZE * SIZE];
    struct kf_task *task = &fit->task;
    struct kf_problem *problem = &task->problem;
    size_t size = kf_size(problem), count;
    long double gradient[SIZE], best[SIZE], off = 0, all = 0;
    double slopes[POINTS], rounded[SIZE], direction[SIZE];
    const double *x = keepfit_fit_iterate(fit, &count);
    for (size_t j = 0; j < problem->points.count; j++)
        kf_single_factors(&problem->objective, x, j, 1, &slopes[j]);
    find_model(problem, slopes, x, hessian, gradient);
    for (size_t k = 0; k < size; k++) {
        rounded[k] = (double)gradient[k];
        best[k] = -rounded[k];
    }
    memcpy(spare, hessian, sizeof spare);
    eliminate(size, SIZE, spare, best);
    double decrement = kf_dual_aim(&hold_of(fit)->dual, task, slopes, rounded, 1e-7, direction);
    if (!(decrement > 0))
        return NAN;
    for (size_t k = 0; k < size; k++)
        for (size_t l = 0; l < size; l++) {
            off += (direction[k] - best[k]) * hessian[k * SIZE + l] * (direction[l] - best[l]);
            all += best[k] * hessian[k * SIZE + l] * best[l];
        }
    return (double)sqrtl(off / all);
}

/* At stages here and there, after what the fit itself has asked of it. */
static void test_direction(struct tap *tap, const char *loss, const char *more, bool sparse, bool weighted, bool leaves)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s method=quadratic lambda=1e-3 epsilon=1e-4 %s", loss, more);
    keepfit_fit *fit = fit_from(text);
    struct cloud *cloud = cloud_make(loss, POINTS, FEATURES, sparse, weighted, 3);
    double worst = 0;
    int tried = 0;
    for (size_t j = 0; j < POINTS; j++) {
        push_range(fit, cloud, j, j + 1);
        if (leaves && j % 9 == 5)
            TAP_NEED(keepfit_fit_remove(fit, j % 5) == KEEPFIT_OK);
        if (j % 4 || !kf_dual_suits(&fit->task.problem) || kf_size(&fit->task.problem) <= KF_HOLD_CHEAP_MOST)
            continue;
        double error = error_of_direction(fit);
        worst = error <= worst ? worst : error;
        tried += !isnan(error);
    }
    tap_check(tap, worst <= 1e-4 && tried >= 8,
              "%s%s%s%s %s: %d directions from products of rows are off by at most %.1e", loss,
              sparse ? ", sparse" : "", weighted ? ", weighted" : "", leaves ? ", points leave" : "", more, tried,
              worst);
    keepfit_fit_free(fit);
    free(cloud);
}

/* Its factor is made again as it was, of points that joined one by one. */
static void test_snapshot(struct tap *tap, const char *loss, size_t first)
{
    char text[200];
    snprintf(text, sizeof text, "loss=%s method=quadratic lambda=1e-4 epsilon=1e-3", loss);
    keepfit_fit *one = fit_from(text), *other = fit_from(text);
    struct cloud *cloud = cloud_make(loss, POINTS, FEATURES, false, false, 4);
    static double rows[POINTS][FEATURES], targets[POINTS];
    const unsigned char *bytes;
    size_t count;
    for (size_t j = 0; j < POINTS; j++) {
        targets[j] = cloud->point[j].target;
        memcpy(rows[j], cloud->value[j], sizeof rows[j]);
    }
    push_range(one, cloud, 0, first);
    TAP_NEED(keepfit_fit_snapshot(one, &bytes, &count) == KEEPFIT_OK);
    keepfit_block block = {
        .count = first, .features = FEATURES, .stride = FEATURES, .value = rows[0], .target = targets};
    TAP_NEED(keepfit_fit_restore(other, &block, bytes, count) == KEEPFIT_OK);
    bool joined = hold_of(one)->dual.factored > hold_of(one)->dual.begun;
    push_range(one, cloud, first, POINTS);
    push_range(other, cloud, first, POINTS);
    tap_check(tap, same_iterate(one, other) && one->task.problem.objective.fo == other->task.problem.objective.fo,
              "%s: a fit of %zu points (factor of older ones: %s) goes on from a snapshot with the same bits", loss,
              first, joined ? "yes" : "no");
    keepfit_fit_free(one);
    keepfit_fit_free(other);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    const char *loss;
    for (size_t l = 0; (loss = linear_loss(l)); l++) {
        if (has_many_classes(loss))
            continue;
        test_direction(&tap, loss, "", false, false, false);
        test_direction(&tap, loss, "intercept=true", false, true, false);
        test_direction(&tap, loss, "bias=1", true, false, true);
        test_direction(&tap, loss, "intercept=true", true, false, true);
        test_snapshot(&tap, loss, 25);
        test_snapshot(&tap, loss, 41);
    }
    return tap_end(&tap);
}
