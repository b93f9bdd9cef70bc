/* One inverse for all classes: that of
 *
 *   S = (1/W) sum_j w_j c_j a_j a_j' + 2 lambda I,      c_j the mean of the diagonal of C_j, the loss's curvature in its scores,
 *
 * with as many rows as there are features. H is a sum of C_j (x) a_j a_j'; what makes it hard to solve with is that features depend on each
 * other, and that S has of it. So conjugate gradients on H that go by S^-1, class by class, take a third or a quarter of the products that
 * its diagonal asks for. It stays when x moves and points come: it is only what they go by. */
#ifndef KF_SHARED_INVERSE_H
#define KF_SHARED_INVERSE_H

#include "iterate/task.h"

struct kf_shared_inverse {
    bool made;
    size_t size;    /* slots, then */
    double weight;  /* W, then */
    double rent;    /* what products have taken since, in nominal nanoseconds */
    double *matrix; /* S^-1, both triangles */
    size_t capacity;
    double *columns; /* room */
    size_t columns_capacity;
};

void kf_shared_inverse_free(struct kf_shared_inverse *shared);
void kf_shared_inverse_forget(struct kf_shared_inverse *shared);
void kf_shared_inverse_archive(struct kf_shared_inverse *shared, struct kf_archive *archive);

/* Makes it, once products without it, or with one that the stream has outgrown, have taken as much work as that will. slopes: those of
 * the points, times their weights. Returns whether there is one that fits. */
bool kf_shared_inverse_ready(struct kf_shared_inverse *shared, struct kf_task *task, const double *slopes);
/* What one of these takes, in nominal nanoseconds. */
double kf_shared_inverse_cost(const struct kf_objective *objective);
/* out = S^-1 v for each class; both have a number a class in each of their rows, one after the other. */
void kf_shared_inverse_times(const struct kf_shared_inverse *shared, const struct kf_objective *objective,
                             const double *v, double *out);

#endif
