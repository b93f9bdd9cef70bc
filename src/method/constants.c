#include "method/constants.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

double kf_constant_smoothness(const struct kf_problem *problem)
{
    double given = problem->options->smoothness;
    return given > 0 ? given : kf_smoothness(&problem->objective);
}

double kf_constant_convexity(const struct kf_problem *problem)
{
    double given = problem->options->convexity;
    return given > 0 ? given : 2 * problem->objective.lambda;
}

double kf_constant_lipschitz(const struct kf_problem *problem, struct kf_lipschitz *lipschitz)
{
    if (problem->options->lipschitz > 0)
        return problem->options->lipschitz;
    const struct kf_objective *objective = &problem->objective;
    double radius = problem->domain.type->radius(&problem->domain, kf_size(problem));
    if (radius != lipschitz->radius)
        *lipschitz = (struct kf_lipschitz){.radius = radius};
    for (; lipschitz->counted < problem->points.count; lipschitz->counted++)
        lipschitz->slope_most = fmax(lipschitz->slope_most, kf_slope_most(objective, lipschitz->counted, radius));
    double share = (double)problem->points.count * kf_inverse_weight(objective);
    assert(lipschitz->counted == problem->points.count && lipschitz->slope_most >= 0);
    return lipschitz->slope_most * share + 2 * objective->lambda * radius;
}

void kf_lipschitz_archive(struct kf_lipschitz *lipschitz, const struct kf_problem *problem, struct kf_archive *archive)
{
    kf_archive_real(archive, &lipschitz->slope_most);
    kf_archive_real(archive, &lipschitz->radius);
    kf_archive_count(archive, &lipschitz->counted, problem->points.count);
}

/* A number above 0 and what it is divided by, such as "/L". */
static bool read_share(const char *text, const char *divisor, double *value)
{
    const char *end = text + strlen(text), *stop;
    return kf_read_real(text, end, value, &stop) == KF_NUMBER_OK && strcmp(stop, divisor) == 0 && *value > 0;
}

static bool read_number(const char *text, double *value)
{
    const char *end = text + strlen(text), *stop;
    return kf_read_real(text, end, value, &stop) == KF_NUMBER_OK && stop == end && *value > 0;
}

keepfit_status kf_step_read(const keepfit_options *options, struct kf_step_size fallback, bool decreasing, bool theory,
                            struct kf_step_size *step, keepfit_error *error)
{
    const char *text = options->step;
    double value = 0;
    if (!text)
        *step = fallback;
    else if (read_number(text, &value))
        *step = (struct kf_step_size){KF_STEP_CONSTANT, value};
    else if (read_share(text, "/L", &value))
        *step = (struct kf_step_size){KF_STEP_SHARE, value};
    else if (decreasing && read_share(text, "/t", &value))
        *step = (struct kf_step_size){KF_STEP_DIVIDED, value};
    else if (decreasing && strcmp(text, "paper") == 0)
        *step = (struct kf_step_size){KF_STEP_PAPER, 0};
    else if (decreasing && strcmp(text, "capped") == 0)
        *step = (struct kf_step_size){KF_STEP_CAPPED, 0};
    else if (theory && strcmp(text, "theory") == 0)
        *step = (struct kf_step_size){KF_STEP_THEORY, 0};
    else
        return kf_fail(error, KEEPFIT_USAGE,
                       "{step}: '%s' is no step of %s; it takes a number above 0 or a share of 1/L "
                       "such as 0.3/L%s%s",
                       text, options->method, decreasing ? ", one divided by t such as 0.1/t, paper, capped" : "",
                       theory ? ", theory" : "");
    bool needs_lambda = step->rule == KF_STEP_PAPER || step->rule == KF_STEP_CAPPED || step->rule == KF_STEP_THEORY;
    double lambda = options->lambda_total > 0 ? options->lambda_total : options->lambda;
    if (needs_lambda && !(lambda > 0))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{lambda}: must be above 0 for a step that is a multiple of 1/lambda "
                       "(give {step} a number or a share of 1/L instead)");
    return KEEPFIT_OK;
}

double kf_step_fixed(const struct kf_problem *problem, const struct kf_step_size *step)
{
    assert(step->rule == KF_STEP_CONSTANT || step->rule == KF_STEP_SHARE);
    if (step->rule == KF_STEP_CONSTANT)
        return step->value;
    double smoothness = kf_constant_smoothness(problem);
    return smoothness > 0 ? step->value / smoothness : 0;
}

struct kf_step_size kf_step_as_printed(const struct kf_problem *problem)
{
    if (problem->objective.hidden)
        return (struct kf_step_size){KF_STEP_SHARE, 1.0 / 3};
    bool whole = kf_domain_is_whole(&problem->domain);
    return (struct kf_step_size){whole ? KF_STEP_CAPPED : KF_STEP_PAPER, 0};
}
