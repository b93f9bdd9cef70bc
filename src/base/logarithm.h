/* log and log1p, the same bits on every machine: those of the C library differ between processors with and without fused multiplication.
 * Within one unit in the last place. */
#ifndef KF_LOGARITHM_H
#define KF_LOGARITHM_H

/* ln x: minus infinity at 0, not a number below. */
double kf_log(double x);
/* ln(1 + x), also where 1 + x would lose what x has. */
double kf_log1p(double x);

#endif
