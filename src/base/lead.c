#include "base/lead.h"

#include <math.h>
#include <string.h>

struct kf_lead kf_lead_of(const keepfit_options *options, bool user_written)
{
    bool unit = options->intercept || (options->hidden && isnan(options->bias));
    if (user_written || (!unit && isnan(options->bias)))
        return (struct kf_lead){false, 0};
    return (struct kf_lead){true, unit ? 1 : options->bias};
}

keepfit_row kf_lead_strip(const struct kf_lead *lead, const keepfit_row *kept, uint32_t *index)
{
    uint32_t skip = kept->count > 0 ? kf_lead_width(lead) : 0;
    for (size_t k = skip; skip && kept->index && k < kept->count; k++)
        index[k - skip] = kept->index[k] - skip;
    return (keepfit_row){
        .count = kept->count - skip, .index = skip && kept->index ? index : kept->index, .value = kept->value + skip};
}

/* Indices that ascend strictly and end at count-1 are 0 .. count-1. */
static bool is_dense(const keepfit_row *row)
{
    return !row->index || row->count == 0 || row->index[row->count - 1] == row->count - 1;
}

struct kf_shape kf_row_shape(const keepfit_row *row, const struct kf_lead *lead)
{
    bool dense = is_dense(row);
    size_t count = row->count + kf_lead_width(lead);
    return (struct kf_shape){count, dense ? count : count + (count + 1) / 2, dense};
}

void kf_row_lay(const keepfit_row *row, const struct kf_lead *lead, const struct kf_shape *shape, double *to)
{
    uint32_t extra = kf_lead_width(lead);
    if (extra)
        to[0] = lead->constant;
    if (row->count)
        memcpy(to + extra, row->value, row->count * sizeof *to);
    if (shape->dense)
        return;
    uint32_t *index = (uint32_t *)(to + shape->count);
    index[2 * (shape->room - shape->count) - 1] = 0; /* may stay unused */
    index[0] = 0;
    for (size_t k = 0; k < row->count; k++)
        index[k + extra] = row->index[k] + extra;
}
