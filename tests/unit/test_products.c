/* Newton's directions by products (optimum/products.c) against elimination in long double, with the diagonal and with the inverse that
 * classes share; and that inverse against the matrix it is of. Full and sparse rows, weights, intercepts, columns of several sizes. */
#include <string.h>

#include "elimination.h"
#include "hold/hold.h"
#include "support.h"

#define COUNT 80
#define FEATURES 12
#define CLASSES 3
#define ROWS (FEATURES + 1)
#define SIZE (ROWS * CLASSES)

/* A problem's own numbers, a row a point, with the 1 of an intercept where there is one. */
struct drawn {
    size_t rows, classes;
    bool free;
    double lambda;
    long double row[COUNT][ROWS], weight[COUNT], p[COUNT][CLASSES], total;
};

static struct kf_hold *hold_of(keepfit_fit *fit)
{
    TAP_NEED(strcmp(fit->running[fit->running_count - 1].method->name, "refit") == 0);
    return fit->running[fit->running_count - 1].state;
}

static void draw(struct drawn *drawn, const struct cloud *cloud, const keepfit_fit *fit)
{
    const struct kf_objective *objective = &fit->task.problem.objective;
    *drawn = (struct drawn){
        .rows = objective->slots, .classes = objective->outputs, .free = objective->free, .lambda = objective->lambda};
    for (size_t j = 0; j < COUNT; j++) {
        const keepfit_point *point = &cloud->point[j];
        long double all = 0, most = -INFINITY, z[CLASSES] = {0};
        drawn->row[j][0] = drawn->free;
        for (size_t e = 0; e < point->row.count; e++)
            drawn->row[j][drawn->free + (point->row.index ? point->row.index[e] : e)] = point->row.value[e];
        drawn->total += drawn->weight[j] = point->weightless || point->weight != 0 ? point->weight : 1;
        for (size_t k = 0; k < drawn->classes; k++) {
            for (size_t r = 0; r < drawn->rows; r++)
                z[k] += drawn->row[j][r] * fit->task.iterate.x[r * drawn->classes + k];
            most = fmaxl(most, z[k]);
        }
        for (size_t k = 0; k < drawn->classes; k++)
            all += drawn->p[j][k] = expl(z[k] - most);
        for (size_t k = 0; k < drawn->classes; k++)
            drawn->p[j][k] /= all;
    }
}

/* The largest share of v that S (S^-1 v) - v is. */
static double error_of_inverse(const struct drawn *drawn, const struct kf_shared_inverse *shared,
                               const struct kf_objective *objective)
{
    double v[SIZE], out[SIZE], worst = 0;
    size_t classes = drawn->classes;
    for (size_t s = 0; s < drawn->rows * classes; s++)
        v[s] = sin(1.0 + (double)s);
    kf_shared_inverse_times(shared, objective, v, out);
    for (size_t r = 0; r < drawn->rows; r++)
        for (size_t k = 0; k < classes; k++) {
            long double sum = r == 0 && drawn->free ? 0 : 2 * drawn->lambda * out[r * classes + k];
            for (size_t j = 0; j < COUNT; j++) {
                long double curve = 0, score = 0;
                for (size_t c = 0; c < classes; c++)
                    curve += drawn->p[j][c] * (1 - drawn->p[j][c]) / classes;
                for (size_t q = 0; q < drawn->rows; q++)
                    score += drawn->row[j][q] * out[q * classes + k];
                sum += drawn->weight[j] / drawn->total * curve * score * drawn->row[j][r];
            }
            worst = fmax(worst, (double)fabsl(sum - v[r * classes + k]));
        }
    return worst;
}

/* Newton's direction, with x's own part that all classes have in common taken away. */
static void newton(const struct drawn *drawn, const double *gradient, const double *x, double *direction)
{
    static long double matrix[SIZE * SIZE];
    long double right[SIZE];
    size_t classes = drawn->classes, size = drawn->rows * classes;
    memset(matrix, 0, sizeof matrix);
    for (size_t s = 0; s < size; s++) {
        right[s] = -gradient[s];
        for (size_t t = 0; t < size; t++) {
            size_t k = s % classes, l = t % classes;
            long double *at = &matrix[s * size + t];
            for (size_t j = 0; j < COUNT; j++)
                *at += drawn->weight[j] / drawn->total * drawn->row[j][s / classes] * drawn->row[j][t / classes] *
                       drawn->p[j][k] * ((k == l) - drawn->p[j][l]);
            *at += s == t && (s >= classes || !drawn->free) ? 2 * drawn->lambda : 0;
            *at += s / classes == t / classes ? 1 : 0; /* beside the directions whose numbers add up to 0 */
        }
    }
    eliminate(size, size, matrix, right);
    for (size_t s = 0; s < size; s += classes) {
        long double mean = 0, own = 0;
        for (size_t k = 0; k < classes; k++) {
            mean += right[s + k] / classes;
            own += s == 0 && drawn->free ? 0 : (long double)x[s + k] / classes;
        }
        for (size_t k = 0; k < classes; k++)
            direction[s + k] = (double)(right[s + k] - mean - own);
    }
}

static void test_problem(struct tap *tap, const char *extra, bool sparse, bool weighted)
{
    static struct drawn drawn;
    char options[200];
    double expected[SIZE], found[SIZE];
    struct cloud *cloud = cloud_make("softmax", COUNT, FEATURES, sparse, weighted, 3);
    for (size_t j = 0; j < COUNT; j++)
        for (size_t e = 0; e < cloud->point[j].row.count; e++)
            cloud->value[j][e] *= cloud->point[j].row.index && cloud->point[j].row.index[e] == 1 ? 50 : 1;
    for (size_t j = 0; j < COUNT && sparse; j += 2) /* few enough to join it entry by entry */
        cloud->point[j].row.count = cloud->point[j].row.count < 2 ? cloud->point[j].row.count : 2;
    snprintf(options, sizeof options, "loss=softmax method=refit lambda=1e-3 epsilon=1e-2 threads=1 %s", extra);
    keepfit_fit *fit = fit_from(options);
    push_range(fit, cloud, 0, COUNT);
    struct kf_hold *hold = hold_of(fit);
    kf_certificate_pass(&fit->task, &hold->certificate, NAN);
    draw(&drawn, cloud, fit);
    const struct kf_objective *objective = &fit->task.problem.objective;
    const double *gradient = hold->certificate.complete, *slopes = hold->certificate.slopes.at;
    kf_complete_gradient(objective, hold->certificate.sum, fit->task.iterate.x, hold->certificate.complete);
    newton(&drawn, gradient, fit->task.iterate.x, expected);
    for (int shared = 0; shared < 2; shared++) {
        struct kf_products *products = &hold->products;
        kf_shared_inverse_forget(&products->shared);
        products->shared.rent = shared ? 1e12 : 0;
        uint64_t before = fit->task.stage.products;
        kf_products_aim(products, &fit->task, slopes, gradient, 1e-9, found);
        double off = largest_difference(kf_size(&fit->task.problem), found, expected);
        tap_check(tap, off < 1e-6 && products->shared.made == shared,
                  "%s, %s rows, %s: Newton's direction (off by %.1g, %d products)", extra, sparse ? "sparse" : "full",
                  shared ? "shared inverse" : "diagonal", off, (int)(fit->task.stage.products - before));
    }
    double off = error_of_inverse(&drawn, &hold->products.shared, objective);
    tap_check(tap, off < 1e-10, "%s, %s rows: the shared inverse is that of S (off by %.1g)", extra,
              sparse ? "sparse" : "full", off);
    keepfit_fit_free(fit);
    free(cloud);
}

/* It is made once products have taken as much work, and no sooner; again when the weight has doubled. */
static void test_rent(struct tap *tap)
{
    struct cloud *cloud = cloud_make("softmax", COUNT, FEATURES, false, false, 4);
    keepfit_fit *fit = fit_from("loss=softmax method=refit lambda=1e-3 epsilon=1e-2 threads=1");
    push_range(fit, cloud, 0, COUNT / 4);
    struct kf_hold *hold = hold_of(fit);
    struct kf_shared_inverse *shared = &hold->products.shared;
    kf_certificate_pass(&fit->task, &hold->certificate, NAN);
    kf_shared_inverse_forget(shared);
    shared->rent = 1;
    bool early = kf_shared_inverse_ready(shared, &fit->task, hold->certificate.slopes.at);
    shared->rent = 1e12;
    bool made = kf_shared_inverse_ready(shared, &fit->task, hold->certificate.slopes.at);
    tap_check(tap, !early && made && shared->rent == 0, "it is made when it has been paid for");
    double weight = shared->weight;
    push_range(fit, cloud, COUNT / 4, COUNT);
    kf_certificate_pass(&fit->task, &hold->certificate, NAN);
    shared->rent = 1e6;
    kf_shared_inverse_ready(shared, &fit->task, hold->certificate.slopes.at);
    tap_check(tap, weight == COUNT / 4 && shared->weight == COUNT, "and made again for four times the points");
    keepfit_fit_free(fit);
    free(cloud);
}

/* ---- one score a point, many coordinates ---- */

#define WIDE 40
#define CUT 60

/* The second derivative, from the formula of each loss; delta is 1. */
static long double curve_at(const char *loss, long double z, long double target)
{
    long double margin = z * target;
    if (strcmp(loss, "logistic") == 0)
        return 1 / ((1 + expl(z)) * (1 + expl(-z)));
    if (strcmp(loss, "huber") == 0)
        return fabsl(z - target) < 1 ? 2 : 0;
    if (strcmp(loss, "hinge") == 0)
        return margin > 0 && margin < 1 ? 1 : 0;
    return strcmp(loss, "squared-hinge") == 0 ? (margin < 1 ? 2 : 0) : 2;
}

/* |H direction + gradient| as a share of |gradient|. */
static double residual_of(const char *loss, const struct cloud *cloud, const keepfit_fit *fit,
                          const struct kf_hold *hold)
{
    const double *x = fit->task.iterate.x, *direction = hold->direction, *gradient = hold->certificate.complete;
    long double left[WIDE], total = 0, square = 0, all = 0;
    for (size_t k = 0; k < WIDE; k++)
        left[k] = gradient[k] + 2e-4L * direction[k];
    for (size_t j = 0; j < COUNT; j++)
        total += cloud->point[j].weight;
    for (size_t j = 0; j < COUNT; j++) {
        const keepfit_row *row = &cloud->point[j].row;
        long double z = 0, moved = 0;
        for (size_t e = 0; e < row->count; e++) {
            size_t k = row->index ? row->index[e] : e;
            z += (long double)row->value[e] * x[k];
            moved += (long double)row->value[e] * direction[k];
        }
        for (size_t e = 0; e < row->count; e++)
            left[row->index ? row->index[e] : e] +=
                cloud->point[j].weight / total * curve_at(loss, z, cloud->point[j].target) * moved * row->value[e];
    }
    for (size_t k = 0; k < WIDE; k++) {
        square += left[k] * left[k];
        all += (long double)gradient[k] * gradient[k];
    }
    return (double)sqrtl(square / all);
}

/* Directions without a new Hessian, by the diagonal and by the factor of one at another x. */
static void test_rented(struct tap *tap, const char *loss, bool sparse, bool weighted)
{
    char options[100];
    struct cloud *cloud = cloud_make(loss, COUNT, WIDE, sparse, weighted, 5);
    snprintf(options, sizeof options, "loss=%s method=quadratic lambda=1e-4 epsilon=1e-2 threads=1", loss);
    keepfit_fit *fit = fit_from(options);
    push_range(fit, cloud, 0, COUNT / 2);
    struct kf_hold *hold = fit->running[0].state;
    struct kf_certificate *certificate = &hold->certificate;
    for (int factored = 0; factored < 2; factored++) {
        certificate->curvature.phase = KF_PHASE_NONE;
        if (factored)
            TAP_NEED(kf_certificate_anchor(&fit->task, certificate) == KEEPFIT_OK);
        if (!factored)
            push_range(fit, cloud, COUNT / 2, COUNT);
        for (size_t k = 0; k < WIDE; k++)
            fit->task.iterate.x[k] += 0.02 * sin((double)k);
        kf_certificate_pass(&fit->task, certificate, NAN);
        certificate->now.bound = 1;
        certificate->now.target = 1e-30;
        double decrement = kf_hold_aim_rented(&fit->task, hold), left = residual_of(loss, cloud, fit, hold);
        tap_check(tap, decrement > 0 && left < 1.001e-3, "%s, %s rows, %s: the model's gradient comes down to %.2g",
                  loss, sparse ? "sparse" : "full", factored ? "an old factor" : "the diagonal", left);
    }
    keepfit_fit_free(fit);
    free(cloud);
}

/* A fit that goes on from a snapshot goes on with the same rent, and inverse. Without a window so few points would be another solver's
 * (optimum/dual.h). */
static void test_snapshot(struct tap *tap, const char *options, const char *loss, size_t features)
{
    static double rows[COUNT][FEATURES_MOST];
    double targets[COUNT];
    const unsigned char *bytes;
    size_t count;
    keepfit_fit *fit = fit_from(options), *other = fit_from(options);
    struct cloud *cloud = cloud_make(loss, COUNT, features, false, false, 6);
    for (size_t j = 0; j < COUNT; j++) {
        targets[j] = cloud->point[j].target;
        memcpy(rows[j], cloud->value[j], sizeof rows[j]);
    }
    keepfit_block block = {
        .count = CUT, .features = features, .stride = FEATURES_MOST, .value = rows[0], .target = targets};
    push_range(fit, cloud, 0, CUT);
    TAP_NEED(keepfit_fit_snapshot(fit, &bytes, &count) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_restore(other, &block, bytes, count) == KEEPFIT_OK);
    bool said = fit->task.stage.products > 0;
    push_range(fit, cloud, CUT, COUNT);
    push_range(other, cloud, CUT, COUNT);
    tap_check(tap, said, "%s: products have been taken", options);
    tap_check(tap, same_iterate(fit, other), "%s: goes on from a snapshot bit for bit", options);
    keepfit_fit_free(fit);
    keepfit_fit_free(other);
    free(cloud);
}

int main(void)
{
    static const char *const losses[] = {"squared", "logistic", "huber", "hinge", "squared-hinge"};
    static const char *const extras[] = {"", "intercept=true"};
    struct tap tap = {0};
    for (size_t e = 0; e < 2; e++)
        for (int kind = 0; kind < 4; kind++)
            test_problem(&tap, extras[e], kind % 2, kind / 2);
    test_rent(&tap);
    for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++)
        for (int kind = 0; kind < 4; kind++)
            test_rented(&tap, losses[l], kind % 2, kind / 2);
    test_snapshot(&tap, "loss=huber method=quadratic lambda=1e-4 epsilon=1e-3 threads=1 window=100", "huber", WIDE);
    test_snapshot(&tap, "loss=hinge method=quadratic lambda=1e-4 epsilon=1e-4 threads=1 window=100", "hinge", WIDE);
    test_snapshot(&tap, "loss=softmax method=refit lambda=1e-4 epsilon=1e-3 threads=1", "softmax", 50);
    return tap_end(&tap);
}
