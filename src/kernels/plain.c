#define KF_TARGET
#define KF_WIDTH 2
#define KF_NAME "plain"
#define KF_TABLE kf_kernels_plain
#include "kernels/implementations.h"

#include "kernels/elements.inc"
#include "kernels/loops.inc"
#include "kernels/rounding.inc"

#include "kernels/dense_strips.inc"

#include "kernels/dense_vectors.inc"

#include "kernels/table.inc"
