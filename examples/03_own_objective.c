/* Your own objective: Poisson regression, which keepfit does not bring along, through callbacks for value and gradient.
 * The loss of a count b is exp(a.x) - b a.x. Its curvature has no bound, but in a ball of radius 1 around 0 it is at most
 * |a|^2 exp(|a|), and the domain keeps x there. */
#define KEEPFIT_UNSTABLE 1 /* objectives of one's own may still change */
#include <keepfit.h>
#include <math.h>
#include <stdio.h>

static double score(const double *x, const keepfit_point *point)
{
    double sum = 0;
    for (size_t k = 0; k < point->row.count; k++)
        sum += point->row.value[k] * x[k];
    return sum;
}

static int poisson_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    (void)context;
    double z = score(x, point);
    *value = exp(z) - point->target * z;
    return 0;
}

static int poisson_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    (void)context;
    double slope = exp(score(x, point)) - point->target;
    for (size_t k = 0; k < point->row.count; k++)
        gradient[k] = slope * point->row.value[k];
    return 0;
}

static int poisson_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    double square = 0;
    for (size_t k = 0; k < point->row.count; k++)
        square += point->row.value[k] * point->row.value[k];
    *curvature = square * exp(sqrt(square));
    return 0;
}

int main(void)
{
    const keepfit_objective poisson = {
        .name = "poisson",
        .dimension = 2,
        .value = poisson_value,
        .gradient = poisson_gradient,
        .curvature = poisson_curvature,
    };
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_options_set(options, "method", "saga", &error);
    keepfit_options_set(options, "domain", "ball:1", &error);
    keepfit_options_set(options, "lambda", "1e-3", &error);
    if (keepfit_fit_create_custom(options, &poisson, &fit, &error) != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    keepfit_options_free(options);

    for (int i = 1; i <= 400; i++) {
        const double values[] = {1, sin(i)};
        keepfit_point point = {.row = {2, NULL, values}, .target = round(exp(0.3 + 0.6 * values[1])), .weight = 1};
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK) {
            fprintf(stderr, "%s\n", keepfit_fit_error(fit)->message);
            return 1;
        }
    }
    size_t dimension;
    const double *x = keepfit_fit_iterate(fit, &dimension);
    keepfit_measurement measured = {.struct_size = sizeof measured};
    if (keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM | KEEPFIT_MEASURE_BOUND, &measured) != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", keepfit_fit_error(fit)->message);
        return 1;
    }
    printf("rate exp(%.2f + %.2f s), gap %.1e, proved at most %.1e\n", x[0], x[1], measured.gap, measured.bound);
    keepfit_fit_free(fit);
    return measured.gap < 1e-3 ? 0 : 1;
}
