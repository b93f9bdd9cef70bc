#include "problem/problem.h"

#include <string.h>

void kf_copy(const struct kf_problem *problem, double *to, const double *from)
{
    memcpy(to, from, kf_size(problem) * sizeof *to);
}

void kf_clear(const struct kf_problem *problem, double *vector)
{
    memset(vector, 0, kf_size(problem) * sizeof *vector);
}

void kf_project(const struct kf_problem *problem, double *x)
{
    const struct kf_domain *domain = &problem->domain;
    size_t free = problem->objective.free;
    domain->type->project(domain, kf_size(problem) - free, x + free, domain->scratch);
}
