/* The implementations of the kernels; see kernels.h. */
#ifndef KF_IMPLEMENTATIONS_H
#define KF_IMPLEMENTATIONS_H

#include "kernels/kernels.h"

extern const struct kf_kernels kf_kernels_plain;
#if defined(__x86_64__)
extern const struct kf_kernels kf_kernels_avx2, kf_kernels_avx512;
#endif

#endif
