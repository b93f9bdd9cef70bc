/* The routines of kernels/dense.h by the names and arguments of LAPACK and BLAS. Matrices are stored by columns; only the lower triangle
 * counts, but for dsymm_, which reads both. */
#ifndef KF_LAPACK_H
#define KF_LAPACK_H

#include <string.h>

#include "kernels/dense.h"

static inline void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info)
{
    (void)uplo;
    *info = kf_cholesky((size_t)*n, a, (size_t)*lda) ? 0 : 1;
}

static inline void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
                           const int *ldb, int *info)
{
    (void)uplo;
    for (int k = 0; k < *nrhs; k++)
        kf_cholesky_solve((size_t)*n, a, (size_t)*lda, b + (size_t)k * (size_t)*ldb);
    *info = 0;
}

static inline void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info)
{
    (void)uplo;
    kf_cholesky_invert((size_t)*n, a, (size_t)*lda);
    *info = 0;
}

static inline void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
                          const double *a, const int *lda, const double *beta, double *c, const int *ldc)
{
    (void)uplo, (void)trans, (void)alpha;
    for (size_t column = 0; *beta == 0 && column < (size_t)*n; column++)
        memset(c + column * (size_t)*ldc, 0, (size_t)*n * sizeof *c);
    kf_add_squares((size_t)*n, (size_t)*k, a, (size_t)*lda, c, (size_t)*ldc);
}

static inline void dsymm_(const char *side, const char *uplo, const int *m, const int *n, const double *alpha,
                          const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
                          double *c, const int *ldc)
{
    (void)side, (void)uplo, (void)alpha, (void)beta, (void)ldb, (void)m, (void)ldc, (void)m;
    kf_matrix_times_columns((size_t)*m, a, (size_t)*lda, (size_t)*n, b, c);
}

static inline void dtrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a,
                          const int *lda, double *x, const int *incx)
{
    (void)uplo, (void)diag, (void)incx;
    if (*trans == 'N') /* both at once */
        kf_cholesky_solve((size_t)*n, a, (size_t)*lda, x);
}

static inline void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda,
                          const double *x, const int *incx, const double *beta, double *y, const int *incy)
{
    (void)uplo, (void)alpha, (void)beta, (void)incx, (void)incy;
    kf_symmetric_times((size_t)*n, a, (size_t)*lda, x, y);
}

#endif
