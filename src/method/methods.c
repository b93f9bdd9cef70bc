/* The table of methods, and the choice that "auto" makes. */
#include <assert.h>
#include <string.h>

#include "certificate/curvature.h"
#include "method/csvrg.h"
#include "method/method.h"
#include "optimum/dual.h"
#include "optimum/products.h"
#include "problem/costs.h"

/* Stands in the table for its name and summary; the fit replaces it by what kf_method_choose says. */
static const struct kf_method automatic = {
    .name = "auto",
    .summary = "chooses among quadratic, table and refit by loss, size, domain and measured work; holds "
               "epsilon, proved",
    .does = "the first that applies: `csvrg` without a regulariser or for a network; `quadratic` where the curvature "
            "bound applies, with up to 128 coordinates or an intercept; `refit` for softmax in the whole space, an "
            "intercept or user-written objectives; else `table`. Where `table` would do too, the two are measured, and "
            "the cheaper stays",
    .holds_epsilon = true,
};

/* A row a method, in the order in which they are listed; its record is in the file of that name. */
#define METHODS(ROW)                                                                                                   \
    ROW(kf_csvrg_method)                                                                                               \
    ROW(kf_gd)                                                                                                         \
    ROW(kf_sgd)                                                                                                        \
    ROW(kf_sgd_sparse)                                                                                                 \
    ROW(kf_svrg)                                                                                                       \
    ROW(kf_lsvrg)                                                                                                      \
    ROW(kf_saga)                                                                                                       \
    ROW(kf_sarah)                                                                                                      \
    ROW(kf_katyusha)                                                                                                   \
    ROW(kf_strsaga)                                                                                                    \
    ROW(kf_dynasaga)                                                                                                   \
    ROW(kf_ssvrg_method)                                                                                               \
    ROW(kf_exact)                                                                                                      \
    ROW(kf_refit)                                                                                                      \
    ROW(kf_quadratic_method)                                                                                           \
    ROW(kf_table)

#define DECLARE(record) extern const struct kf_method record;
METHODS(DECLARE)

#define ADDRESS(record) &record,
static const struct kf_method *const methods[] = {&automatic, METHODS(ADDRESS)};

/* Where curvature is known and there are more coordinates, factors and inverses are much of the work at first: sampled steps begin. */
#define FEW_COORDINATES 128 /* speed: bench/auto.md */

const struct kf_method *kf_method_entry(size_t k)
{
    return k < sizeof methods / sizeof methods[0] ? methods[k] : NULL;
}

const struct kf_method *kf_method_find(const char *name)
{
    for (size_t k = 0; kf_method_entry(k); k++)
        if (strcmp(methods[k]->name, name) == 0)
            return methods[k];
    return NULL;
}

const struct kf_method *kf_method_choose(const struct kf_problem *problem, const char **reason)
{
    const struct kf_objective *objective = &problem->objective;
    if (objective->hidden) {
        *reason = "a network is not convex, so nothing can be proved";
        return &kf_csvrg_method;
    }
    if (!(objective->lambda > 0)) {
        *reason = "without a regulariser nothing can be proved";
        return &kf_csvrg_method;
    }
    if (kf_curvature_suits(problem) && (objective->free || kf_size(problem) <= FEW_COORDINATES)) {
        *reason =
            "few features and a loss of known curvature: held, and improved by Newton's steps with an old Hessian";
        return &kf_quadratic_method;
    }
    if (kf_products_suit(problem)) {
        *reason = "several classes: held, and improved by Newton's steps that are solved no further than epsilon asks";
        return &kf_refit;
    }
    if (!objective->loss || objective->free) {
        *reason = !objective->loss
                      ? "a user-written objective: held until the bound exceeds epsilon, then solved again"
                      : "a free intercept, which sampled steps find slowly: held, and solved again in time";
        return &kf_refit;
    }
    *reason = "held with a table of gradients, and improved by steps that cost a row each";
    return &kf_table;
}

const struct kf_method *kf_method_rival(const struct kf_problem *problem, const struct kf_method *chosen)
{
    const struct kf_objective *objective = &problem->objective;
    assert(chosen->settle || !(objective->lambda > 0) ||
           objective->hidden); /* auto keeps promises where there are any */
    if (!objective->loss || objective->free)
        return NULL; /* sampled steps find an intercept slowly */
    if (chosen == &kf_quadratic_method || chosen == &kf_refit)
        return &kf_table;
    bool few = kf_dual_suits(problem) && !kf_rows_are_sparse(problem); /* the products of rows cost little */
    if (chosen != &kf_table || (kf_size(problem) > KF_DENSE_MOST && !few))
        return NULL;
    return kf_curvature_suits(problem) ? &kf_quadratic_method : &kf_refit;
}
