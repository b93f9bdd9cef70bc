#include "statistics.h"

#include <math.h>

double fitted_exponent(const double *x, const double *y, size_t count)
{
    double mean_x = 0, mean_y = 0, square = 0, product = 0;
    for (size_t k = 0; k < count; k++) {
        mean_x += log(x[k]) / (double)count;
        mean_y += log(y[k]) / (double)count;
    }
    for (size_t k = 0; k < count; k++) {
        double off = log(x[k]) - mean_x;
        square += off * off;
        product += off * (log(y[k]) - mean_y);
    }
    return count < 2 ? NAN : product / square;
}

struct range range_empty(void)
{
    return (struct range){INFINITY, -INFINITY};
}

void range_widen(struct range *range, double number)
{
    range->low = fmin(range->low, number);
    range->high = fmax(range->high, number);
}
