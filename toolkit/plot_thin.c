/* plot_thin.c - drops what would fall on the same pixels.
 *
 * The x axis is cut into bins. Of a line, each bin keeps its first, lowest, highest and last point: the drawn
 * stroke is the same to within a bin's width, and no peak is lost. Of a band each bin keeps the hull. A
 * series that is short enough has a bin for every point, which keeps everything. A break inside a bin is
 * drawn at its end.
 */
#include "toolkit/plot_thin.h"

#include <math.h>

enum {
    line_bins = PLOT_VERTEX_LIMIT / 4,
    band_bins = PLOT_VERTEX_LIMIT / 2, /* each can give two vertices */
};

struct bin {
    size_t number;
    bool used;
    size_t first_index, low_index, high_index, last_index;
    struct plot_vertex first, low, high, last;
};

/* The vertices written so far and the bin being filled. */
struct thinner {
    const struct plot_axis *x;
    size_t bins; /* 0: every point is its own bin */
    bool lifted; /* the pen is up: the next vertex starts a line */
    struct bin bin;
    size_t count;
    struct plot_vertex *vertices;
};

/* x ascends, so bins are met in order; max() keeps the number of vertices bounded even if it does not. */
static size_t bin_number(const struct thinner *thinner, size_t index, double x)
{
    if (thinner->bins == 0)
        return index;
    double width = thinner->x->to - thinner->x->from;
    double place = floor((x - thinner->x->from) / width * (double)thinner->bins);
    size_t number = (size_t)fmin(fmax(place, 0), (double)thinner->bins - 1);
    return thinner->bin.used && number < thinner->bin.number ? thinner->bin.number : number;
}

static void put(struct thinner *thinner, struct plot_vertex vertex)
{
    thinner->vertices[thinner->count++] = vertex;
}

static void start_bin(struct thinner *thinner, size_t number, size_t index, struct plot_vertex vertex)
{
    vertex.starts = thinner->lifted;
    thinner->lifted = false;
    thinner->bin = (struct bin){
        .number = number,
        .used = true,
        .first_index = index,
        .low_index = index,
        .high_index = index,
        .last_index = index,
        .first = vertex,
        .low = vertex,
        .high = vertex,
        .last = vertex,
    };
}

static void extend_bin(struct bin *bin, size_t index, struct plot_vertex vertex)
{
    if (vertex.low < bin->low.low) {
        bin->low = vertex;
        bin->low_index = index;
    }
    if (vertex.high > bin->high.high) {
        bin->high = vertex;
        bin->high_index = index;
    }
    bin->last = vertex;
    bin->last_index = index;
}

static void finish_line_bin(struct thinner *thinner)
{
    const struct bin *bin = &thinner->bin;
    if (!bin->used)
        return;
    bool low_first = bin->low_index < bin->high_index;
    size_t early = low_first ? bin->low_index : bin->high_index;
    size_t late = low_first ? bin->high_index : bin->low_index;
    put(thinner, bin->first);
    if (early > bin->first_index)
        put(thinner, low_first ? bin->low : bin->high);
    if (late > early)
        put(thinner, low_first ? bin->high : bin->low);
    if (bin->last_index > late)
        put(thinner, bin->last);
}

static void finish_band_bin(struct thinner *thinner)
{
    const struct bin *bin = &thinner->bin;
    if (!bin->used)
        return;
    struct plot_vertex hull = {
        .x = bin->first.x, .low = bin->low.low, .high = bin->high.high, .starts = bin->first.starts};
    put(thinner, hull);
    if (bin->last_index > bin->first_index) {
        hull.x = bin->last.x;
        hull.starts = false;
        put(thinner, hull);
    }
}

static size_t thin(const struct plot_series *series, const double *low, const double *high, size_t bins,
                   void (*finish)(struct thinner *), const struct plot_axis *x, const struct plot_axis *y,
                   struct plot_vertex *vertices)
{
    struct thinner thinner = {
        .x = x, .bins = series->count > PLOT_VERTEX_LIMIT ? bins : 0, .lifted = true, .vertices = vertices};
    for (size_t i = 0; i < series->count; i++) {
        double one = plot_axis_position(y, low[i]), other = plot_axis_position(y, high[i]);
        struct plot_vertex vertex = {
            .x = plot_axis_position(x, series->x[i]), .low = fmin(one, other), .high = fmax(one, other)};
        if (isnan(vertex.x) || isnan(one) || isnan(other)) {
            thinner.lifted = true;
            continue;
        }
        size_t number = bin_number(&thinner, i, vertex.x);
        if (thinner.bin.used && number == thinner.bin.number) {
            extend_bin(&thinner.bin, i, vertex);
            continue;
        }
        finish(&thinner);
        start_bin(&thinner, number, i, vertex);
    }
    finish(&thinner);
    return thinner.count;
}

size_t plot_thin_line(const struct plot_series *series, const struct plot_axis *x, const struct plot_axis *y,
                      struct plot_vertex *vertices)
{
    return thin(series, series->y, series->y, line_bins, finish_line_bin, x, y, vertices);
}

size_t plot_thin_band(const struct plot_series *series, const struct plot_axis *x, const struct plot_axis *y,
                      struct plot_vertex *vertices)
{
    if (series->low == NULL || series->high == NULL)
        return 0;
    return thin(series, series->low, series->high, band_bins, finish_band_bin, x, y, vertices);
}
