/* A table of gradients over the first `count` points of the stream, kept from stage to stage: what strsaga and dynasaga share.
 * They differ only in when a point joins and which one a step takes.
 *
 * The iterate's drift is the sum of the table. With W the weight of the points in it, a step on u is
 *
 *     x <- P(x - step * ((count/W) (w_u grad loss_u(x) - table_u) + drift/W + 2 lambda x)),   table_u <- w_u grad loss_u(x)
 *
 * whose mean over all u in the table is the gradient of their weighted mean, whatever the table holds; so an entry may start
 * at 0, which costs nothing, and does until the point is first used. */
#ifndef KF_PREFIX_H
#define KF_PREFIX_H

#include "iterate/step.h"

struct kf_prefix {
    double *table; /* factors, factor_count numbers a point */
    size_t table_capacity;
    size_t count;
    double weight; /* W */
    bool stale;    /* the functions changed: every entry is void */
};

/* Before the steps of a stage: room for all points, and a table of zeros if the old one is void. False: out of memory. */
bool kf_prefix_begin(struct kf_task *task, struct kf_prefix *prefix);
/* The next point joins, with an entry of 0. */
void kf_prefix_take(struct kf_task *task, struct kf_prefix *prefix);
/* Point j leaves the stream, and the table if it is there. */
void kf_prefix_leave(struct kf_task *task, struct kf_prefix *prefix, size_t j);
void kf_prefix_archive(struct kf_task *task, struct kf_prefix *prefix, struct kf_archive *archive);
/* Of a step on point u. */
struct kf_estimator kf_prefix_estimator(const struct kf_problem *problem, const struct kf_prefix *prefix, size_t u);
/* One step on point u. 1 FO. */
void kf_prefix_step(struct kf_task *task, struct kf_prefix *prefix, double step, size_t u);
/* `steps` steps on points drawn from the table. */
void kf_prefix_draw(struct kf_task *task, struct kf_prefix *prefix, double step, uint64_t steps);

#endif
