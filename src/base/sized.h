/* Structs that callers allocate begin with struct_size, so that a caller and a library of different versions understand each
 * other: what one of them does not have is neither read nor written. Fields are added at the end, never taken away. */
#ifndef KF_SIZED_H
#define KF_SIZED_H

#include "keepfit.h"

/* The size that a struct had in 1.0, which is what a struct_size of 0 stands for. When one has grown, it gets a line here:
 * _Generic((object), keepfit_report: offsetof(keepfit_report, the first new field), default: sizeof(object)). */
#define KF_FIRST_SIZE(object) sizeof(object)

/* *made into the caller's *to, as far as that goes; its struct_size stays. */
#define KF_GIVE(to, made) kf_give(to, made, sizeof *(made), KF_FIRST_SIZE(*(made)))
/* The caller's *from into *own; what it does not have is 0. */
#define KF_TAKE(own, from) kf_take(own, from, sizeof *(own), KF_FIRST_SIZE(*(own)))

void kf_give(void *to, const void *made, size_t size, size_t first);
void kf_take(void *own, const void *from, size_t size, size_t first);

#endif
