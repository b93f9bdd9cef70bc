/* statistics.h - from many numbers to the few that a reader wants. */
#ifndef KEEPFIT_STATISTICS_H
#define KEEPFIT_STATISTICS_H

#include <stddef.h>

/* The slope of the straight line that fits log y against log x best (least squares): the exponent p of y = c x^p. NaN when
 * fewer than two points, or a number that has no logarithm. */
double fitted_exponent(const double *x, const double *y, size_t count);

/* The smallest and largest of the numbers. */
struct range {
    double low, high;
};

struct range range_empty(void);
void range_widen(struct range *range, double number);

#endif
