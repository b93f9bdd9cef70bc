#if defined(__x86_64__)
#define KF_TARGET __attribute__((target("avx2")))
#define KF_WIDTH 4
#define KF_NAME "avx2"
#define KF_TABLE kf_kernels_avx2
#include "kernels/implementations.h"

#include "kernels/elements.inc"
#include "kernels/loops.inc"
#include "kernels/rounding.inc"

#include "kernels/dense_strips.inc"

#include "kernels/dense_vectors.inc"

#include "kernels/table.inc"
#else
typedef int kf_not_for_this_processor;
#endif
