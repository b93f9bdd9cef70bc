/* ridge.h - the ridge regressions of the paper's section 5: five data sets, nine contestants, ten seeds. */
#ifndef KEEPFIT_RIDGE_H
#define KEEPFIT_RIDGE_H

#include "experiment.h"

#define RIDGE_LAMBDA 1e-3
/* The paper's parameters. */
#define RIDGE_STEPS 100  /* T of csvrg; steps an epoch of svrg and katyusha */
#define RIDGE_EPOCHS 10  /* of svrg and katyusha */
#define RIDGE_RARE 0.002 /* alpha of sgd-sparse: from stage 1/alpha on it leaves stages out */
/* A method that diverges leaves a frame that ends before the last stage. */
#define RIDGE_COLUMNS "stage,fo,gap,gap_sum,gap_most"

enum ridge_column { RIDGE_STAGE, RIDGE_FO, RIDGE_GAP, RIDGE_SUM, RIDGE_MOST };

/* gap_most is the largest gap from this stage on: the first stages are a matter of the starting point alone. */
#define RIDGE_SETTLED 10

enum ridge_contestant {
    CSVRG,
    SGD,
    SGD_SPARSE,
    SVRG,
    KATYUSHA,
    AUTO,
    SGD_PRINTED,
    SGD_SPARSE_PRINTED,
    CSVRG_PRINTED,
    RIDGE_CONTESTANTS
};

struct ridge_set {
    const char *name;
    double smoothness;     /* L as the paper prints it */
    unsigned sparse_steps; /* sgd-sparse's T */
};

enum { RIDGE_SETS = 5 };

extern const struct ridge_set ridge_sets[RIDGE_SETS];
extern const char *const ridge_names[RIDGE_CONTESTANTS];

size_t ridge_seeds(const struct setting *setting);

int ridge_plan(struct plan *plan);
void ridge_report(const struct setting *setting, const struct unit *units, struct article *article);

#endif
