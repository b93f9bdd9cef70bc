#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "must.h"
#include "toolkit/output.h"
#include "toolkit/draw.h"

enum { digits = 10 };

static int open_images(const struct data_file *pixels, const struct data_file *labels, keepfit_stream **stream)
{
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_options *options = must_have(keepfit_options_create());
    keepfit_status status = keepfit_options_set(options, "format", "idx", &error);
    if (status == KEEPFIT_OK)
        status = keepfit_options_set(options, "targets", labels->path, &error);
    if (status == KEEPFIT_OK)
        status = keepfit_stream_open(pixels->path, options, stream, &error);
    keepfit_options_free(options);
    return status == KEEPFIT_OK ? EXIT_DONE : fail_status(status, message_of(&error).text);
}

/* The labels of the whole file, in its order. */
static int read_labels(const struct data_file *pixels, const struct data_file *labels, unsigned char **all,
                       size_t *count)
{
    keepfit_stream *stream = NULL;
    keepfit_point point;
    keepfit_status status = KEEPFIT_OK;
    size_t room = 0;
    int code = open_images(pixels, labels, &stream);
    *all = NULL;
    *count = 0;
    while (code == EXIT_DONE && (status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK) {
        if (*count == room) {
            room = room ? 2 * room : 4096;
            *all = must_resize(*all, room);
        }
        if (point.target < 0 || point.target >= digits)
            code = fail(EXIT_DATA, "%s: label %g is no digit", labels->path, point.target);
        (*all)[(*count)++] = (unsigned char)point.target;
    }
    if (code == EXIT_DONE && status != KEEPFIT_END)
        code = fail_status(status, message_of(keepfit_stream_error(stream)).text);
    keepfit_stream_close(stream);
    return code;
}

static void shuffle(size_t *list, size_t count, struct source *source)
{
    for (size_t k = count; k > 1; k--) {
        size_t other = (size_t)(draw(source) % k), kept = list[k - 1];
        list[k - 1] = list[other];
        list[other] = kept;
    }
}

/* Which images, in the order in which they come: chosen[0 .. count-1]. Returns an exit code. */
static int choose(const unsigned char *labels, size_t total, enum image_order order, size_t count, uint64_t seed,
                  const char *path, size_t *chosen)
{
    struct source source = {seed};
    size_t *all = must_allocate(total * sizeof *all), used = 0;
    for (size_t k = 0; k < total; k++)
        all[k] = k;
    shuffle(all, total, &source);
    if (order == IMAGES_MIXED)
        for (; used < count && used < total; used++)
            chosen[used] = all[used];
    for (unsigned digit = 0; digit < digits && order == IMAGES_ASCENDING; digit++)
        for (size_t k = 0, taken = 0; k < total && taken < count / digits; k++)
            if (labels[all[k]] == digit) {
                chosen[used++] = all[k];
                taken++;
            }
    if (order == IMAGES_ASCENDING)
        shuffle(chosen, count / digits * 2, &source); /* the digits 0 and 1 */
    free(all);
    return used == count ? EXIT_DONE : fail(EXIT_DATA, "%s: too few images", path);
}

/* Where the rows are copied to, one behind the other. */
struct copies {
    struct images *images;
    size_t used, room;
    size_t *begins; /* of each image: the block may still move, so no pointers yet */
};

static void keep(struct copies *copies, size_t at, const keepfit_point *point)
{
    struct images *images = copies->images;
    const keepfit_row *row = &point->row;
    if (copies->used + row->count > copies->room) {
        copies->room = 2 * copies->room + row->count;
        images->values = must_resize(images->values, copies->room * sizeof *images->values);
        images->indices = must_resize(images->indices, copies->room * sizeof *images->indices);
    }
    copies->begins[at] = copies->used;
    for (size_t k = 0; k < row->count; k++)
        if (row->value[k] != 0) {
            images->values[copies->used] = row->value[k] / 255;
            images->indices[copies->used++] = row->index ? row->index[k] : (uint32_t)k;
        }
    images->points[at] =
        (keepfit_point){.row = {.count = copies->used - copies->begins[at]}, .target = point->target, .weight = 1};
}

static int copy_chosen(const struct data_file *pixels, const struct data_file *labels, const size_t *chosen,
                       size_t total, struct images *images)
{
    keepfit_stream *stream = NULL;
    keepfit_point point;
    struct copies copies = {.images = images, .begins = must_allocate(images->count * sizeof(size_t))};
    size_t *place = must_allocate(total * sizeof *place); /* of each image in the file, from 1; 0: not chosen */
    int code = open_images(pixels, labels, &stream);
    for (size_t k = 0; k < images->count; k++)
        place[chosen[k]] = k + 1;
    for (size_t k = 0; k < total && code == EXIT_DONE && keepfit_stream_next(stream, &point) == KEEPFIT_OK; k++)
        if (place[k])
            keep(&copies, place[k] - 1, &point);
    for (size_t k = 0; k < images->count; k++) {
        images->points[k].row.index = images->indices + copies.begins[k];
        images->points[k].row.value = images->values + copies.begins[k];
    }
    keepfit_stream_close(stream);
    free(copies.begins);
    free(place);
    return code;
}

int images_read(const struct data_file *pixels, const struct data_file *labels, enum image_order order, size_t count,
                uint64_t seed, struct images *images)
{
    unsigned char *all = NULL;
    size_t total, *chosen = must_allocate(count * sizeof *chosen);
    *images = (struct images){.points = must_allocate(count * sizeof *images->points), .count = count};
    int code = read_labels(pixels, labels, &all, &total);
    if (code == EXIT_DONE)
        code = choose(all, total, order, count, seed, pixels->path, chosen);
    if (code == EXIT_DONE)
        code = copy_chosen(pixels, labels, chosen, total, images);
    free(all);
    free(chosen);
    return code;
}
