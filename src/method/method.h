/* A method keeps the model good as points arrive. It is a const record of functions plus private state; methods.c lists
 * them all. The fit validates, allocates and dispatches; a method trusts what it is given.
 *
 * When stage() is called, or take(), the new point is the last of task->problem.points, everything has its new size, and the iterate is the
 * output of the stage before (in the domain). stage() and settle() leave the stage's output there: scaled methods through iterate.h,
 * the others in task->iterate.x. */
#ifndef KF_METHOD_H
#define KF_METHOD_H

#include "iterate/task.h"

struct kf_method {
    const char *name, *summary;
    const char *does, *gradients, *output; /* a row of docs/methods.md (scripts/method-table); may be NULL */
    bool squared_only;
    bool needs_convexity; /* refuses lambda = 0 */
    bool scaled;          /* moves the iterate through iterate.h alone, so it may be scaled */
    bool looks_back;      /* reads the iterate before the last step; with a free intercept only the dense one can */
    bool holds_epsilon;   /* spends what epsilon needs, and says of every stage what came of it */
    bool targetless;      /* but no target: where there is no bound either (an intercept), it promises nothing */
    size_t state_size;
    /* Registers vectors, reads options. The state is zeroed before. */
    keepfit_status (*create)(struct kf_task *task, void *state, keepfit_error *error);
    /* A point has come. NULL where there is settle(): these methods promise nothing, and nothing comes of a stage but x. */
    keepfit_status (*stage)(struct kf_task *task, void *state, keepfit_error *error);
    /* The functions f_j themselves have changed (a class was added, labels swapped): remembered gradients are void. NULL
     * where nothing is remembered from stage to stage. */
    void (*forget)(struct kf_task *task, void *state);
    /* Point j is about to leave: what is remembered of it goes, and those after it move up by one. NULL where nothing is
     * remembered by point. */
    void (*leave)(struct kf_task *task, void *state, size_t j);
    /* The newest point joins what is remembered; x stays. `loss` is what it costs at x, NaN: not known. NULL where nothing is remembered of
     * single points. */
    keepfit_status (*take)(struct kf_task *task, void *state, double loss, keepfit_error *error);
    /* All points have been taken; some may have left. NULL where stages keep no promise. */
    keepfit_status (*settle)(struct kf_task *task, void *state, struct kf_outcome *outcome, keepfit_error *error);
    /* Among how many of the oldest points the stage's first draw is, the newest of `count` having come; 0: there is none. NULL: never. */
    size_t (*draws_among)(size_t count);
    /* How many times more the gradient's norm alone would allow the gap at x to be than what the method goes by; NULL where that is the norm. */
    double (*advantage)(struct kf_task *task, void *state);
    /* The state, but for what create() makes of the options and vectors that do not outlive a stage; the problem and its points
     * come first. NULL where there is none. */
    void (*archive)(struct kf_task *task, void *state, struct kf_archive *archive);
    /* Frees what the state owns besides registered vectors; may be NULL. */
    void (*destroy)(void *state);
};

/* Method k; NULL past the last. */
const struct kf_method *kf_method_entry(size_t k);
const struct kf_method *kf_method_find(const char *name);

/* Another that would do as well as the one chosen, and may cost less; NULL where there is none. */
const struct kf_method *kf_method_rival(const struct kf_problem *problem, const struct kf_method *chosen);
/* The method that "auto" stands for in this problem, and why. */
const struct kf_method *kf_method_choose(const struct kf_problem *problem, const char **reason);

#endif
