/* Every method x loss x domain reaches the optimum that an independent program computed (tests/reference/optima.py wrote
 * optima.txt), from points pushed one at a time; and the solver behind --gap agrees with the same numbers to rounding. */
#include <string.h>

#include "support.h"

#define TEXT 64
#define SETS_MOST 32

struct set {
    char name[TEXT];
    size_t rows, features;
    keepfit_point point[64];
    double value[64][16];
};

struct problem {
    const struct set *set;
    char loss[TEXT], domain[TEXT], lambda[TEXT];
    int bias, intercept;
    double optimum, x[64];
    size_t x_count;
};

static struct set sets[SETS_MOST];
static size_t set_count;

static void read_set(FILE *file)
{
    struct set *set = &sets[set_count++];
    TAP_NEED(fscanf(file, "%63s %zu %zu", set->name, &set->rows, &set->features) == 3);
    TAP_NEED(set->rows <= 64 && set->features <= 16);
    for (size_t j = 0; j < set->rows; j++) {
        keepfit_point *point = &set->point[j];
        TAP_NEED(fscanf(file, "%lf %lf", &point->weight, &point->target) == 2);
        for (size_t f = 0; f < set->features; f++)
            TAP_NEED(fscanf(file, "%lf", &set->value[j][f]) == 1);
        point->row = (keepfit_row){set->features, NULL, set->value[j]};
    }
}

static void read_problem(FILE *file, struct problem *problem)
{
    char name[TEXT];
    TAP_NEED(fscanf(file, "%63s %63s %63s %d %d %63s %lf", name, problem->loss, problem->domain, &problem->bias,
                    &problem->intercept, problem->lambda, &problem->optimum) == 7);
    for (size_t k = 0; k < set_count; k++)
        if (strcmp(sets[k].name, name) == 0)
            problem->set = &sets[k];
    TAP_NEED(problem->set);
    size_t outputs = strcmp(problem->loss, "softmax") == 0 ? 3 : 1;
    problem->x_count = (problem->set->features + (size_t)(problem->bias || problem->intercept)) * outputs;
    TAP_NEED(fscanf(file, " x") == 0);
    for (size_t k = 0; k < problem->x_count; k++)
        TAP_NEED(fscanf(file, "%lf", &problem->x[k]) == 1);
}

/* Enough work a stage for each method to come as near to the optimum of 40 points as its tolerance says. */
static const struct {
    const char *method, *options;
    double tolerance;
} methods[] = {
    {"gd", "epsilon=1e-7 inner=20000", 1e-6},
    {"sgd", "inner=20000 step=capped", 5e-2},
    {"sgd-sparse", "inner=20000 step=capped alpha=0.02", 5e-2},
    {"svrg", "outer=20 inner=100", 1e-5},
    {"lsvrg", "inner=4000", 1e-5},
    {"saga", "inner=2000", 1e-5},
    {"sarah", "outer=20 inner=100", 1e-5},
    {"katyusha", "outer=20 inner=100", 1e-5},
    {"strsaga", "inner=2000", 1e-5},
    {"dynasaga", "inner=2000", 1e-5},
    {"ssvrg", "convexity=4 inner=800 step=0.05/L", 2e-2},
    {"csvrg", "inner=500", 2e-3},
    {"csvrg", "setting=paper inner=500", 3e-2},
    {"exact", "", 1e-12},
    {"refit", "epsilon=1e-8", 1e-8},
    {"quadratic", "epsilon=1e-8", 1e-8},
    {"table", "epsilon=1e-7", 1e-7},
    {"auto", "epsilon=1e-6", 1e-6},
};

static keepfit_fit *make_fit(const struct problem *problem, const char *method, const char *extra)
{
    char text[400];
    snprintf(text, sizeof text, "loss=%s domain=%s lambda=%s method=%s %s %s %s", problem->loss, problem->domain,
             problem->lambda, method, extra, problem->bias ? "bias=1" : "", problem->intercept ? "intercept=true" : "");
    return fit_from(text);
}

/* ssvrg looks at each point once. It gets all of them several times over, which changes neither the objective nor its optimum. */
static int times_over(const char *method)
{
    return strcmp(method, "ssvrg") == 0 ? 250 : 1;
}

static void push_set(keepfit_fit *fit, const struct set *set)
{
    TAP_NEED(keepfit_fit_push_block(fit, set->point, set->rows, NULL) == KEEPFIT_OK);
}

static void test_method(struct tap *tap, const struct problem *problem, size_t k)
{
    if (strcmp(methods[k].method, "exact") == 0 && strcmp(problem->loss, "squared") != 0)
        return;
    keepfit_fit *fit = make_fit(problem, methods[k].method, methods[k].options);
    for (int time = 0; time < times_over(methods[k].method); time++)
        push_set(fit, problem->set);
    keepfit_measurement measured = {.struct_size = sizeof measured};
    TAP_NEED(keepfit_fit_measure(fit, KEEPFIT_MEASURE_OBJECTIVE | KEEPFIT_MEASURE_BOUND, &measured) == KEEPFIT_OK);
    double gap = measured.objective - problem->optimum, limit = methods[k].tolerance * fmax(1, problem->optimum);
    /* An unregularised intercept is only weakly convex: gradient methods get there, but later. */
    if (problem->intercept)
        limit = fmax(10 * limit, 1e-4);
    bool proved = isnan(measured.bound) || measured.bound >= gap - 1e-12;
    tap_check(tap, gap <= limit && gap >= -1e-11 && proved, "%s %s on %s %s in %s%s%s: gap %.1e, bound %.1e",
              methods[k].method, methods[k].options, problem->set->name, problem->loss, problem->domain,
              problem->bias ? ", bias" : "", problem->intercept ? ", intercept" : "", gap, measured.bound);
    keepfit_fit_free(fit);
}

static void test_optimum(struct tap *tap, const struct problem *problem)
{
    keepfit_fit *fit = make_fit(problem, "sgd", "inner=1 step=0.001");
    push_set(fit, problem->set);
    keepfit_measurement measured = {.struct_size = sizeof measured};
    keepfit_status status = keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured);
    double error = measured.optimum - problem->optimum;
    tap_check(tap, status == KEEPFIT_OK && fabs(error) <= 2e-12,
              "the optimum of %s %s in %s agrees with SciPy's (%.1e)", problem->set->name, problem->loss,
              problem->domain, error);
    keepfit_fit_free(fit);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    TAP_NEED(count > 1);
    bool quick = count > 2 && strcmp(words[2], "quick") == 0;
    FILE *file = fopen(words[1], "r");
    TAP_NEED(file);
    char word[TEXT];
    size_t problems = 0;
    while (fscanf(file, "%63s", word) == 1) {
        if (word[0] == '#') {
            TAP_NEED(fscanf(file, "%*[^\n]") == 0);
        } else if (strcmp(word, "data") == 0) {
            TAP_NEED(set_count < SETS_MOST);
            read_set(file);
        } else {
            struct problem problem = {0};
            TAP_NEED(strcmp(word, "optimum") == 0);
            read_problem(file, &problem);
            test_optimum(&tap, &problem);
            for (size_t k = 0; k < sizeof methods / sizeof methods[0] && (!quick || problems % 7 == 0); k++)
                test_method(&tap, &problem, k);
            problems++;
        }
    }
    fclose(file);
    tap_check(&tap, problems == 49, "all 49 problems were read");
    size_t named = 0;
    for (size_t k = 0; kf_method_entry(k); k++)
        for (size_t j = 0; j < sizeof methods / sizeof methods[0]; j++)
            if (strcmp(methods[j].method, kf_method_entry(k)->name) == 0) {
                named++;
                break;
            }
    tap_check(&tap, kf_method_entry(named) == NULL, "every method of the table is in this test");
    return tap_end(&tap);
}
