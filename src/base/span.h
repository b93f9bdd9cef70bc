/* Spans of time as people write them: 30d, 12h, 90m, 45s, 2w. */
#ifndef KF_SPAN_H
#define KF_SPAN_H

#include <stdbool.h>

#define KF_SPAN_ROOM 32

/* False: it is none, or not within a thousandth of a second and 3000 years. */
bool kf_span_read(const char *value, double *seconds);
/* In the largest unit of which it is a whole number. */
void kf_span_write(char text[KF_SPAN_ROOM], double seconds);

#endif
