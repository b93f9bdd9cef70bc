/* A judge of rounding: the same sums, losses, slopes and projections in 113 bits, and problems of extremes for it to judge. */
#ifndef KEEPFIT_TESTS_ROUNDING_JUDGE_H
#define KEEPFIT_TESTS_ROUNDING_JUDGE_H

#include "adversary/quad.h"
#include "support.h"

#define EXACT_OUTPUTS 3
#define EXACT_SIZE 256

/* The worst share of its bound that anything has been off by, and where. */
struct worst {
    double ratio;
    uint64_t seed;
    size_t judged, wrong;
};

/* `off` is to be at most `bound`. */
void worst_note(struct worst *worst, uint64_t seed, quad off, double bound);
/* Nothing was beyond its bound, and something was at least `sharp` of it: a bound that is never approached says little. */
void worst_check(struct tap *tap, const struct worst *worst, double sharp, const char *what);

double draw_range(struct kf_random *random, double low, double high);
/* 10 to the power of draw_range */
double draw_scale(struct kf_random *random, double low, double high);

/* How the extremes of a problem are drawn. */
struct kind {
    const char *loss, *domain;
    size_t count, slots;
    bool sparse, weighted;
    bool absorbing; /* all points but the first are just too small to be seen beside it: rounding adds up */
};

/* A fit that has the points without having seen them: task->iterate.x is drawn, sums are for the caller. */
keepfit_fit *draw_problem(const struct kind *kind, struct kf_random *random);
/* One more point of the kind. */
void draw_point(const struct kind *kind, struct kf_random *random, struct kf_task *task);

/* What is so at x, exactly for all that matters. */
void exact_scores(const struct kf_objective *objective, size_t j, const double *x, quad *z);
void exact_slopes(const struct kf_objective *objective, size_t j, const quad *z, quad *slopes);
quad exact_value(const struct kf_objective *objective, size_t j, const quad *z);
quad exact_curve(const struct kf_objective *objective, size_t j, quad z);
/* sum += share times the point's gradient, its weight included */
void exact_add(const struct kf_objective *objective, size_t j, const double *x, quad share, quad *sum);
void exact_sum(const struct kf_objective *objective, const double *x, quad *sum);
quad exact_losses(const struct kf_objective *objective, const double *x);
quad exact_weight(const struct kf_objective *objective);

/* In other files. */
void test_sums(struct tap *tap);
void test_losses(struct tap *tap);
void test_factors(struct tap *tap);
void test_gaps(struct tap *tap);

#endif
