/* A proof of the gap for several classes with few coordinates: the curvature bound (curvature.h) at an x that is held.
 *
 * Along a step that moves the scores of a point by s, softmax's curvature falls by exp(-(max s - min s)) at most (docs/guarantee.md, Theorem 28). So with S the sum of the points' Hessians at x, and W times the regulariser's, M its inverse,
 *
 *   gap <= (c/R^2) (t + (1-t) ln(1-t)),     t = R N/c < 1,     N = |gradient|_M,
 *   R^2 = max over points j and classes k, l of |(e_k - e_l) (x) a_j|^2_M
 *
 * in which c = 1/W as long as no point has left: those that come only add to S. What x has the same for all classes moves no probability: it
 * counts by the regulariser alone, lambda |.|^2, and S gets something in these directions, in which no (e_k - e_l) (x) a_j has a part. */
#ifndef KF_CLASS_CURVATURE_H
#define KF_CLASS_CURVATURE_H

#include "iterate/task.h"
#include "problem/gap.h"

struct kf_class_curvature {
    bool made;               /* there is an M, of some x; */
    bool here;               /* of task->iterate.x, with what follows */
    size_t size;             /* coordinates, then */
    size_t points;           /* that S has, the first of all */
    double weight;           /* W, then */
    double spread;           /* R^2 */
    double least;            /* S is at least so many times the inverse of M */
    double blur;             /* what a curvature may have been more by, as a factor */
    double lost;             /* share of S that has left with its points */
    double *inverse, *width; /* M, and behind it the roots of its diagonal, and two such vectors for work */
    size_t capacity;
};

void kf_class_curvature_free(struct kf_class_curvature *classes);
void kf_class_curvature_archive(struct kf_class_curvature *classes, const struct kf_problem *problem,
                                struct kf_archive *archive);

bool kf_class_curvature_suit(const struct kf_problem *problem);
/* Whether M is of this x, and of nearly all points. */
bool kf_class_curvature_serve(const struct kf_class_curvature *classes, const struct kf_problem *problem);
/* Makes M at task->iterate.x, of the points' slopes there, times their weights. */
void kf_class_curvature_gather(struct kf_class_curvature *classes, struct kf_task *task, const double *slopes);
/* Point j is about to leave, with these slopes. */
void kf_class_curvature_leave(struct kf_class_curvature *classes, const struct kf_problem *problem, size_t j,
                              const double *slopes);
/* The bound; infinite where nothing is proved. */
double kf_class_curvature_bound(struct kf_class_curvature *classes, const struct kf_problem *problem, const double *x,
                                const double *gradient, const double *doubt);
/* Newton's direction with M, of whichever x. Returns the squared decrement; NaN: there is no M. */
double kf_class_curvature_aim(const struct kf_class_curvature *classes, const struct kf_problem *problem,
                              const double *x, const double *gradient, double *direction);

#endif
