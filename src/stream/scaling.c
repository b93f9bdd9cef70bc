#include "stream/scaling.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

void kf_scaling_free(struct kf_scaling *scaling)
{
    free(scaling->factor);
    free(scaling->shift);
    *scaling = (struct kf_scaling){.kind = KF_SCALE_NONE};
}

/* The rows a scaling is made from. */
struct rows {
    const struct kf_points *points;
    const size_t *order;
    size_t used;
};

static keepfit_row row_at(const struct rows *rows, size_t j)
{
    return kf_points_row(rows->points, rows->order ? rows->order[j] : j);
}

static size_t feature_at(const keepfit_row *row, size_t k)
{
    return row->index ? row->index[k] : k;
}

static size_t count_features(const struct rows *rows)
{
    size_t features = 0;
    for (size_t j = 0; j < rows->used; j++) {
        keepfit_row row = row_at(rows, j);
        size_t width = kf_row_width(&row);
        features = width > features ? width : features;
    }
    return features;
}

/* 1 / (largest * sqrt(sum)), where sum adds up the squares of value / largest, at least 1. The norm itself
 * may be beyond the largest double, and its inverse too; then the factor is as large as it can be. */
static double inverse_norm(double largest, double sum)
{
    double norm = largest * sqrt(sum);
    double inverse = isfinite(norm) ? 1 / norm : 1 / largest / sqrt(sum);
    return inverse < DBL_MAX ? inverse : DBL_MAX;
}

/* factor holds first the column's largest size, then the factor; shift the sum of squares, then zero. */
static void make_columns(struct kf_scaling *scaling, const struct rows *rows)
{
    double *largest = scaling->factor, *sum = scaling->shift;
    for (size_t j = 0; j < rows->used; j++) {
        keepfit_row row = row_at(rows, j);
        for (size_t k = 0; k < row.count; k++) {
            size_t feature = feature_at(&row, k);
            largest[feature] = larger(largest[feature], fabs(row.value[k]));
        }
    }
    for (size_t j = 0; j < rows->used; j++) {
        keepfit_row row = row_at(rows, j);
        for (size_t k = 0; k < row.count; k++) {
            size_t feature = feature_at(&row, k);
            double part = largest[feature] > 0 ? row.value[k] / largest[feature] : 0;
            sum[feature] += part * part;
        }
    }
    for (size_t k = 0; k < scaling->features; k++) {
        scaling->factor[k] = largest[k] > 0 ? inverse_norm(largest[k], sum[k]) : 1;
        scaling->shift[k] = 0;
    }
}

/* least -> -1, most -> 1. A range too narrow for its inverse counts as constant. */
static void set_range(double least, double most, double *factor, double *shift)
{
    double range = most - least;
    *factor = isfinite(range) ? 2 / range : 1 / (most / 2 - least / 2);
    *shift = -1 - *factor * least;
    if (!(range > 0) || !isfinite(*factor) || !isfinite(*shift))
        *factor = *shift = 0;
}

/* factor holds first the least, shift the largest of a column; seen counts its entries. */
static void make_minmax(struct kf_scaling *scaling, const struct rows *rows, size_t *seen)
{
    double *least = scaling->factor, *most = scaling->shift;
    for (size_t j = 0; j < rows->used; j++) {
        keepfit_row row = row_at(rows, j);
        for (size_t k = 0; k < row.count; k++) {
            size_t feature = feature_at(&row, k);
            double value = row.value[k];
            least[feature] = seen[feature] ? smaller(least[feature], value) : value;
            most[feature] = seen[feature] ? larger(most[feature], value) : value;
            seen[feature]++;
        }
    }
    for (size_t k = 0; k < scaling->features; k++) {
        bool zeros = seen[k] < rows->used;
        set_range(zeros ? smaller(least[k], 0) : least[k], zeros ? larger(most[k], 0) : most[k], &scaling->factor[k],
                  &scaling->shift[k]);
    }
}

keepfit_status kf_scaling_make(struct kf_scaling *scaling, enum kf_scale kind, const struct kf_points *points,
                               const size_t *order, size_t used, keepfit_error *error)
{
    *scaling = (struct kf_scaling){.kind = kind};
    if (kind == KF_SCALE_NONE || kind == KF_SCALE_ROWS)
        return KEEPFIT_OK;
    struct rows rows = {.points = points, .order = order, .used = used};
    size_t features = count_features(&rows);
    size_t *seen = kind == KF_SCALE_MINMAX ? kf_allocate(features, sizeof *seen) : NULL;
    scaling->factor = kf_allocate(features, sizeof *scaling->factor);
    scaling->shift = kf_allocate(features, sizeof *scaling->shift);
    scaling->features = features;
    if (!scaling->factor || !scaling->shift || (kind == KF_SCALE_MINMAX && !seen)) {
        free(seen);
        kf_scaling_free(scaling);
        return kf_fail_memory(error);
    }
    if (kind == KF_SCALE_COLUMNS)
        make_columns(scaling, &rows);
    else
        make_minmax(scaling, &rows, seen);
    free(seen);
    return KEEPFIT_OK;
}

size_t kf_scaling_room(const struct kf_scaling *scaling, const keepfit_row *row)
{
    return scaling->kind == KF_SCALE_MINMAX && scaling->features > row->count ? scaling->features : row->count;
}

/* Dividing by the largest first keeps the norm between 1 and the square root of count. */
static void divide_by_norm(const keepfit_row *row, double *value)
{
    double largest = 0, sum = 0;
    for (size_t k = 0; k < row->count; k++)
        largest = larger(largest, fabs(row->value[k]));
    for (size_t k = 0; k < row->count; k++) {
        value[k] = largest > 0 ? row->value[k] / largest : 0;
        sum += value[k] * value[k];
    }
    double norm = sqrt(sum);
    for (size_t k = 0; largest > 0 && k < row->count; k++)
        value[k] /= norm;
}

static void scale_columns(const struct kf_scaling *scaling, const keepfit_row *row, double *value)
{
    for (size_t k = 0; k < row->count; k++) {
        size_t feature = feature_at(row, k);
        value[k] = row->value[k] * (feature < scaling->features ? scaling->factor[feature] : 1);
    }
}

/* A zero that is left out becomes its shift. Rounding must not lead beyond -1 and 1. */
static void scale_minmax(const struct kf_scaling *scaling, const keepfit_row *row, double *value)
{
    memcpy(value, scaling->shift, scaling->features * sizeof *value);
    for (size_t k = 0; k < row->count; k++) {
        size_t feature = feature_at(row, k);
        double scaled = scaling->factor[feature] * row->value[k] + scaling->shift[feature];
        value[feature] = smaller(larger(scaled, -1), 1);
    }
}

keepfit_row kf_scaling_apply(const struct kf_scaling *scaling, const keepfit_row *row, double *value)
{
    keepfit_row scaled = {.count = row->count, .index = row->index, .value = value};
    switch (scaling->kind) {
    case KF_SCALE_ROWS:
        divide_by_norm(row, value);
        break;
    case KF_SCALE_COLUMNS:
        scale_columns(scaling, row, value);
        break;
    case KF_SCALE_MINMAX:
        scale_minmax(scaling, row, value);
        scaled.count = scaling->features;
        scaled.index = NULL;
        break;
    default:
        scaled.value = row->value;
    }
    return scaled;
}
