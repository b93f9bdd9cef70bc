/* A weighted mean of iterates, which at the end becomes the iterate. Of a dense one it is kept as it is; of a scaled one, x = s*v + c*m, as
 * A = S*v + C*m + t: adding an iterate changes S and C, and a change of v or m is taken out of t, so that t has entries only where rows
 * were touched. When the mean becomes the iterate, t is folded into v there. */
#ifndef KF_MEAN_H
#define KF_MEAN_H

#include <stdbool.h>
#include <stddef.h>

struct kf_mean {
    bool under_way;
    double *vector;  /* dense: the mean so far; scaled: t, which is 0 between stages */
    double weight;   /* of the iterates so far */
    double s, c;     /* S and C */
    size_t *touched; /* points whose rows were changed since it began */
    size_t count, capacity;
    bool everywhere; /* t may have entries anywhere */
};

struct kf_task;

void kf_average_begin(struct kf_task *task);
void kf_average_add(struct kf_task *task, double weight);
void kf_average_end(struct kf_task *task);

/* For scaled.c. v is about to change by first*f and m by second*f, f the factors times the row. */
void kf_mean_follow(struct kf_task *task, double first, double second, size_t point, const double *factors);
/* v and m are about to become others altogether: t takes in what they stand for. */
void kf_mean_let_go(struct kf_task *task);

#endif
