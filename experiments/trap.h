/* trap.h - the instance with which the paper proves its lower bounds, and one run of a method on it.
 *
 * In [-1,1]^2 every f_j is x1^2 + x2^2, except f_k, k < n drawn at random, which adds (x1-x2)^2, and f_n, which adds (x1-1)^2. With
 * lambda = 1 these are squared losses with the rows (0,0), (1,-1), (1,0) and targets 0, 0, 1. Until stage n everything is 0. In
 * stage n a method that goes where gradients point, and does not ask f_k away from 0, keeps x2 = 0, and then its gap is at least
 * the formula. */
#ifndef KEEPFIT_EXPERIMENTS_TRAP_H
#define KEEPFIT_EXPERIMENTS_TRAP_H

#include "experiment.h"
#include "keepfit.h"

#define TRAP_PROBLEM "loss=squared lambda=1 domain=box:-1:1"

/* 1/(n^4 + 5 n^3 + 7 n^2 + 2 n) */
double trap_formula(double n);

keepfit_point trap_point(uint64_t j, uint64_t k, uint64_t n);

struct trap_draw {
    double stage_fo, total_fo;
    double before; /* the largest coordinate of any output before stage n */
    double second; /* x2 of stage n's output */
    double gap;    /* there */
};

/* The unit's method, with all its options, on n points of which the k-th is hidden. Returns an exit code. */
int trap_run(const struct unit *unit, uint64_t n, uint64_t k, uint64_t seed, const char *options,
             struct trap_draw *draw);

/* trap_budget.c: the least number of FOs that meets epsilon = formula/8; natural.c: which methods are natural. Units are added
 * and reported in this order; what a report returns is how many were its own. */
void trap_budget_plan(struct plan *plan);
size_t trap_budget_report(const struct unit *units, struct article *article);
void natural_plan(struct plan *plan);
void natural_report(const struct unit *units, struct article *article);

#endif
