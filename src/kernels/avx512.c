#if defined(__x86_64__)
#define KF_TARGET __attribute__((target("avx512f")))
#define KF_WIDTH 8
#define KF_NAME "avx512"
#define KF_TABLE kf_kernels_avx512
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
