/* Streams: points from a file, either live, as the reader makes them, or kept, from memory (which shuffle and
 * the scaling of columns need, and read_all asks for).
 *
 * Once a stream has failed, it fails the same way again. */
#include "stream/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/sized.h"
#include "objective/loss.h"
#include "stream/ahead.h"
#include "stream/format.h"
#include "stream/prepare.h"

#define LONGEST_NAME 200 /* in messages, which must have room for what is wrong */

struct keepfit_stream {
    keepfit_options *options;
    char *path, *name;
    const struct kf_reader *reader;
    void *state; /* the reader's; NULL before it is opened */
    struct kf_source source;
    struct kf_input input;
    struct kf_classes classes;
    struct kf_recipe recipe; /* of a table with types */
    struct kf_schema
        schema; /* as the caller sees it: classes and features that he has had no point of yet are not in it */
    keepfit_error error;
    bool broken; /* the error is one that stays */
    bool ended;  /* the reader has no more */
    bool empty;  /* and had none */
    uint64_t given, skipped, line;
    const char *key; /* of the last point; NULL: none */
    double time;     /* NaN: not known */
    struct kf_cut cut;
    uint64_t unseen, collisions;
    uint64_t wide;  /* rows that were skipped since they have features that the model does not have */
    uint64_t early; /* bad rows from before the first good one, that have not been given out row by row yet */
    uint64_t bytes_read, bytes; /* once the source is closed, or for another order of the same points */

    struct kf_kept own;
    const struct kf_kept *kept; /* NULL: live. Otherwise own, or the original stream's */
    struct kf_plan plan;
    size_t position;  /* in the plan */
    uint64_t earlier; /* points given out live, before they were kept */

    struct kf_ahead *ahead; /* live: the thread that reads, once it has been started */
    bool alone;             /* no thread could be had */

    double *scaled; /* live: room for a scaled row */
    size_t scaled_capacity;

    char apart[64]; /* what follows is the thread's, and written at every row: not in a cache line that others read */
    struct kf_progress reading; /* where the reader stands */
    keepfit_error first_bad;    /* row that was skipped: why */
    uint64_t read;              /* points read so far */
};

static void close_reader(keepfit_stream *stream)
{
    atomic_store(&stream->source.closing, true);
    kf_ahead_stop(stream->ahead);
    stream->ahead = NULL;
    if (stream->state) {
        stream->reader->close(stream->state);
        free(stream->state);
        stream->state = NULL;
    }
    if (stream->source.stored) {
        stream->bytes_read = stream->source.bytes_read;
        stream->bytes = stream->source.bytes;
        kf_source_close(&stream->source);
    }
    kf_schema_free(&stream->input.columns);
}

void keepfit_stream_close(keepfit_stream *stream)
{
    if (!stream)
        return;
    close_reader(stream);
    kf_plan_free(&stream->plan);
    kf_kept_free(&stream->own);
    kf_classes_close(&stream->classes);
    kf_recipe_close(&stream->recipe);
    kf_schema_free(&stream->schema);
    free(stream->input.targets);
    keepfit_options_free(stream->options);
    free(stream->scaled);
    free(stream->path);
    free(stream->name);
    free(stream);
}

/* ---- reading live ---- */

static keepfit_status stay_broken(keepfit_stream *stream, keepfit_status status)
{
    stream->broken = true;
    return status;
}

static keepfit_status fail_empty(const keepfit_stream *stream, keepfit_error *error)
{
    char skipped[64 + sizeof(struct kf_marked)] = "";
    struct kf_marked why;
    bool known = stream->first_bad.status != KEEPFIT_OK;
    if (stream->reading.skipped)
        snprintf(skipped, sizeof skipped, ", only %llu bad rows that were skipped%s%s",
                 (unsigned long long)stream->reading.skipped, known ? "; the first: " : "",
                 known ? kf_error_marked(&stream->first_bad, &why) : "");
    bool left_out = stream->reading.cut.line && !stream->reading.cut.taken;
    return kf_fail_at(error, KEEPFIT_DATA, stream->name, 0, 0, "no points%s%s", skipped,
                      left_out ? ", and the last line, which has no newline and may have been cut, is left out of a "
                                 "pipe (" KF_OPTION("accept-cut") " takes it)"
                               : "");
}

/* The reader's next row. Runs on the reading thread where there is one, and touches nothing but the reader's part. */
static keepfit_status pull(void *context, keepfit_point *point, struct kf_progress *progress, keepfit_error *error)
{
    keepfit_stream *stream = context;
    stream->input.bad_row = stream->input.passed = false;
    keepfit_status status = stream->reader->next(stream->state, point, error);
    bool failed = status != KEEPFIT_OK && status != KEEPFIT_END;
    bool bad =
        failed && stream->input.bad_row && (stream->options->on_error == KF_ON_ERROR_SKIP || stream->input.passed);
    if (bad && stream->reading.skipped == 0)
        stream->first_bad = *error;
    if (bad) {
        *point = (keepfit_point){.weight = 1};
        status = KEEPFIT_OK;
    }
    stream->reading.skipped += bad;
    stream->read += status == KEEPFIT_OK && !bad;
    stream->reading.bad = bad;
    stream->reading.cut = stream->input.cut;
    if (status == KEEPFIT_END && stream->read == 0) {
        stream->reading.empty = true;
        status = fail_empty(stream, error);
    }
    stream->reading.line = stream->input.line;
    stream->reading.marked = stream->input.marked;
    stream->reading.key = bad || !stream->input.marked ? NULL : stream->input.key;
    stream->reading.time = bad || !stream->input.marked ? NAN : stream->input.time;
    stream->reading.bytes_read = stream->source.bytes_read;
    if (stream->input.wanted.texts != KF_TEXTS_NEVER)
        stream->reading.classes = kf_classes_count(&stream->classes);
    if (stream->recipe.columns) {
        stream->reading.features = stream->recipe.dictionary.count;
        stream->reading.unseen = stream->recipe.unseen;
        stream->reading.collisions = stream->recipe.collisions;
    }
    *progress = stream->reading;
    return status;
}

/* Files only: from a pipe every line counts as soon as it is there. */
static bool wants_thread(const keepfit_stream *stream)
{
    return !stream->ahead && !stream->alone && stream->source.regular && kf_threads(stream->options) > 1;
}

/* Features that the model does not have are left out, if that was asked for, or make the row a bad one. */
static keepfit_status fit_width(keepfit_stream *stream, keepfit_point *point, bool *bad)
{
    const struct kf_wanted *wanted = &stream->input.wanted;
    keepfit_row *row = &point->row;
    size_t width = kf_row_width(row);
    if (!wanted->fixed || width <= wanted->features)
        return KEEPFIT_OK;
    if (wanted->spare) {
        row->count = row->index ? row->count : (size_t)wanted->features;
        while (row->index && kf_row_width(row) > wanted->features)
            row->count--;
        return KEEPFIT_OK;
    }
    *bad = stream->options->on_error == KF_ON_ERROR_SKIP;
    stream->wide += *bad;
    if (*bad)
        return KEEPFIT_OK;
    return stay_broken(
        stream, kf_fail_at(&stream->error, KEEPFIT_DATA, stream->name, stream->line, 0,
                           "feature %zu, but the model has %llu ({extra-features=ignore} leaves such features out)",
                           width, (unsigned long long)wanted->features));
}

/* The next row, read here or by the thread. */
static keepfit_status read_point(keepfit_stream *stream, keepfit_point *point, bool *bad)
{
    struct kf_progress progress;
    *bad = false;
    if (stream->broken)
        return stream->error.status;
    if (stream->ended)
        return KEEPFIT_END;
    if (wants_thread(stream)) {
        stream->ahead = kf_ahead_start(pull, stream);
        stream->alone = !stream->ahead;
    }
    keepfit_status status = stream->ahead ? kf_ahead_next(stream->ahead, point, &progress, &stream->error)
                                          : pull(stream, point, &progress, &stream->error);
    stream->skipped = progress.skipped;
    stream->bytes_read = progress.bytes_read;
    stream->line = progress.line;
    stream->key = progress.key;
    stream->time = progress.time;
    stream->cut = progress.cut;
    stream->empty = progress.empty;
    stream->ended = status == KEEPFIT_END;
    if (status != KEEPFIT_OK)
        return stream->ended ? status : stay_broken(stream, status);
    if (progress.classes > stream->schema.classes && !kf_classes_copy(&stream->classes, &stream->schema))
        return stay_broken(stream, kf_fail_memory(&stream->error));
    if (stream->schema.columns && progress.features > stream->schema.features &&
        !kf_recipe_copy(&stream->recipe, &stream->schema, progress.features))
        return stay_broken(stream, kf_fail_memory(&stream->error));
    stream->unseen = progress.unseen;
    stream->collisions = progress.collisions;
    *bad = progress.bad;
    return *bad ? status : fit_width(stream, point, bad);
}

/* Only rows can be scaled one by one. */
static keepfit_status scale_live(keepfit_stream *stream, keepfit_row *row)
{
    if (stream->options->scale == KF_SCALE_NONE)
        return KEEPFIT_OK;
    if (!KF_RESERVE(stream->scaled, stream->scaled_capacity, row->count))
        return stay_broken(stream, kf_fail_memory(&stream->error));
    *row = kf_scaling_apply(&stream->plan.scaling, row, stream->scaled);
    return KEEPFIT_OK;
}

/* skipped == NULL: bad rows are passed over. */
static keepfit_status next_live(keepfit_stream *stream, keepfit_point *point, bool *skipped)
{
    uint64_t limit = stream->options->limit;
    if (limit && stream->given >= limit)
        return KEEPFIT_END;
    keepfit_point raw;
    keepfit_status status;
    bool bad;
    do
        status = read_point(stream, &raw, &bad);
    while (status == KEEPFIT_OK && bad && !skipped);
    if (status == KEEPFIT_OK && !bad)
        status = scale_live(stream, &raw.row);
    if (skipped)
        *skipped = status == KEEPFIT_OK && bad;
    if (status != KEEPFIT_OK || bad)
        return status;
    *point = raw;
    stream->given++;
    return KEEPFIT_OK;
}

static void next_kept(keepfit_stream *stream, keepfit_point *point)
{
    size_t row = kf_plan_row(&stream->plan, stream->position);
    kf_marks_show(&stream->kept->marks, row, &stream->key, &stream->time);
    kf_plan_point(&stream->plan, stream->kept, stream->position++, point, &stream->line);
    stream->given++;
}

keepfit_status keepfit_stream_next(keepfit_stream *stream, keepfit_point *point)
{
    if (!stream->kept)
        return next_live(stream, point, NULL);
    if (stream->position == stream->plan.used)
        return KEEPFIT_END;
    next_kept(stream, point);
    return KEEPFIT_OK;
}

keepfit_status keepfit_stream_next_row(keepfit_stream *stream, keepfit_point *point, bool *skipped)
{
    *skipped = stream->early > 0 && !stream->kept;
    stream->early -= *skipped;
    if (*skipped)
        return KEEPFIT_OK;
    return stream->kept ? keepfit_stream_next(stream, point) : next_live(stream, point, skipped);
}

void keepfit_stream_mark(const keepfit_stream *stream, keepfit_mark *mark)
{
    const keepfit_mark made = {.key = stream->key, .time = stream->time};
    KF_GIVE(mark, &made);
}

void keepfit_stream_before_waiting(keepfit_stream *stream, void (*call)(void *context), void *context)
{
    stream->source.waiting = call;
    stream->source.waiting_context = context;
}

const keepfit_error *keepfit_stream_error(const keepfit_stream *stream)
{
    return &stream->error;
}

/* ---- keeping ---- */

keepfit_status keepfit_stream_read_all(keepfit_stream *stream)
{
    if (stream->kept)
        return KEEPFIT_OK;
    const keepfit_options *options = stream->options;
    /* without a shuffle, what lies behind the limit is never asked for */
    uint64_t most = options->limit && !options->shuffle ? options->limit - stream->given : UINT64_MAX;
    struct kf_kept *own = &stream->own;
    keepfit_status status = KEEPFIT_OK;
    while (own->points.count < most) {
        keepfit_point point;
        bool bad;
        status = read_point(stream, &point, &bad);
        if (status != KEEPFIT_OK)
            break;
        bool marked = !bad && stream->input.marked;
        if ((marked && !kf_marks_append(&own->marks, stream->key, stream->time)) ||
            (!bad && !kf_kept_append(own, &point, stream->line)))
            return stay_broken(stream, kf_fail_memory(&stream->error));
    }
    if (status != KEEPFIT_OK && status != KEEPFIT_END)
        return status;
    status = kf_plan_make(&stream->plan, own, options, options->seed, &stream->error);
    if (status != KEEPFIT_OK)
        return stay_broken(stream, status);
    stream->kept = own;
    stream->earlier = stream->given;
    close_reader(stream);
    return KEEPFIT_OK;
}

keepfit_status keepfit_stream_rewind(keepfit_stream *stream)
{
    if (!stream->kept)
        return kf_fail(&stream->error, KEEPFIT_USAGE, "a stream can only be rewound after keepfit_stream_read_all");
    stream->position = 0;
    stream->given = 0;
    stream->earlier = 0;
    return KEEPFIT_OK;
}

/* ---- opening ---- */

/* Long paths lose their beginning in messages. */
static char *name_for(const char *path)
{
    if (strcmp(path, "-") == 0)
        return kf_copy_text("<stdin>");
    size_t length = strlen(path);
    if (length <= LONGEST_NAME)
        return kf_copy_text(path);
    char *name = kf_copy_text(path + length - LONGEST_NAME);
    if (name)
        memcpy(name, "...", 3);
    return name;
}

static keepfit_stream *allocate(const char *path, const keepfit_options *options, const keepfit_schema *schema)
{
    keepfit_stream *stream = kf_allocate(1, sizeof *stream);
    if (!stream)
        return NULL;
    bool named = kf_classes_open(&stream->classes, schema) && kf_classes_copy(&stream->classes, &stream->schema);
    stream->error.struct_size = sizeof stream->error;
    stream->time = NAN;
    stream->options = options ? keepfit_options_copy(options) : keepfit_options_create();
    kf_recipe_open(&stream->recipe, stream->options ? stream->options->max_features : 0);
    stream->path = kf_copy_text(path);
    stream->name = name_for(path);
    if (named && stream->options && stream->path && stream->name)
        return stream;
    keepfit_stream_close(stream);
    return NULL;
}

static keepfit_status open_reader(keepfit_stream *stream, const struct kf_memory *memory,
                                  const struct kf_wanted *wanted, keepfit_error *error)
{
    keepfit_status status = memory ? kf_source_open_memory(&stream->source, memory, stream->name, error)
                                   : kf_source_open(&stream->source, stream->path, stream->name, error);
    stream->source.stop = stream->options->stop;
    if (status == KEEPFIT_OK)
        status = kf_format_find(stream->options->format, stream->path, &stream->source, &stream->reader, error);
    if (status != KEEPFIT_OK)
        return status;
    stream->state = kf_allocate(1, stream->reader->state_size);
    if (!stream->state)
        return kf_fail_memory(error);
    stream->input = (struct kf_input){
        .path = stream->path,
        .name = stream->name,
        .options = stream->options,
        .source = &stream->source,
        .wanted = *wanted,
        .classes = &stream->classes,
        .recipe = &stream->recipe,
        .labelled = true,
    };
    status = stream->reader->open(stream->state, &stream->input, error);
    stream->skipped = stream->reading.skipped = stream->early = stream->input.skipped;
    stream->input.wanted.schema = NULL;
    keepfit_schema columns = kf_schema_show(&stream->input.columns);
    if (status == KEEPFIT_OK && !kf_schema_set_columns(&stream->schema, &columns))
        status = kf_fail_memory(error);
    return status;
}

static keepfit_status check_options(const keepfit_options *options, keepfit_error *error)
{
    if (options->strict_end && options->accept_cut)
        return kf_fail(error, KEEPFIT_USAGE, "{strict-end} and {accept-cut} exclude each other");
    return KEEPFIT_OK;
}

static bool needs_all(const keepfit_options *options)
{
    return options->shuffle || options->scale == KF_SCALE_COLUMNS || options->scale == KF_SCALE_MINMAX;
}

static keepfit_status open_stream(const char *path, const struct kf_memory *memory, const keepfit_options *options,
                                  const struct kf_wanted *wanted, keepfit_stream **stream, keepfit_error *error)
{
    keepfit_stream *opened = allocate(path, options, wanted->schema);
    if (!opened)
        return kf_fail_memory(error);
    keepfit_status status = check_options(opened->options, error);
    if (status == KEEPFIT_OK)
        status = open_reader(opened, memory, wanted, error);
    opened->plan.scaling.kind = (enum kf_scale)opened->options->scale;
    if (status == KEEPFIT_OK && needs_all(opened->options)) {
        status = keepfit_stream_read_all(opened);
        if (status != KEEPFIT_OK && error)
            kf_error_give(error, &opened->error);
    }
    if (status != KEEPFIT_OK) {
        keepfit_stream_close(opened);
        return status;
    }
    *stream = opened;
    return KEEPFIT_OK;
}

enum kf_texts kf_texts_for(const keepfit_options *options)
{
    bool classes = options && kf_loss_entry((size_t)options->loss)->targets != KF_NUMBERS;
    return classes ? KF_TEXTS_EITHER : KF_TEXTS_NEVER;
}

keepfit_status kf_stream_open_wanted(const char *path, const struct kf_memory *memory, const keepfit_options *options,
                                     const struct kf_wanted *wanted, keepfit_stream **stream, keepfit_error *error)
{
    return open_stream(path, memory, options, wanted, stream, error);
}

keepfit_status keepfit_stream_open(const char *path, const keepfit_options *options, keepfit_stream **stream,
                                   keepfit_error *error)
{
    const struct kf_wanted wanted = {.targets = true, .texts = kf_texts_for(options)};
    return open_stream(path, NULL, options, &wanted, stream, error);
}

keepfit_status kf_stream_open_memory(const struct kf_memory *memory, const char *name, const keepfit_options *options,
                                     keepfit_stream **stream, keepfit_error *error)
{
    const struct kf_wanted wanted = {.targets = true, .texts = kf_texts_for(options)};
    return open_stream(name, memory, options, &wanted, stream, error);
}

/* Without names on one side the number decides, as when a stream is opened. */
static bool same_features(const struct kf_schema *one, const keepfit_schema *other)
{
    if (!one->feature || !other->feature)
        return true;
    for (size_t f = 0; f < one->features && f < other->features; f++)
        if (strcmp(one->feature[f], other->feature[f]) != 0)
            return false;
    return true;
}

keepfit_status kf_stream_suit(keepfit_stream *stream, const struct kf_wanted *wanted, keepfit_error *error)
{
    struct kf_wanted *before = &stream->input.wanted;
    bool columns = stream->schema.features > 0;
    if (columns && (wanted->features != before->features || !same_features(&stream->schema, wanted->schema)))
        return kf_fail(error, KEEPFIT_DATA, "its features are not those of the model before");
    before->features = wanted->features;
    return KEEPFIT_OK;
}

keepfit_status keepfit_stream_reorder(const keepfit_stream *stream, uint64_t seed, keepfit_stream **other,
                                      keepfit_error *error)
{
    if (!stream->kept)
        return kf_fail(error, KEEPFIT_USAGE, "a stream can only be reordered after keepfit_stream_read_all");
    const keepfit_schema schema = kf_schema_show(&stream->schema);
    const char *targets = stream->input.targets;
    keepfit_stream *made = allocate(stream->path, stream->options, &schema);
    if (!made || !kf_schema_set_columns(&made->schema, &schema) ||
        (targets && !(made->input.targets = kf_copy_text(targets)))) {
        keepfit_stream_close(made);
        return kf_fail_memory(error);
    }
    keepfit_status status = kf_plan_make(&made->plan, stream->kept, stream->options, seed, error);
    if (status != KEEPFIT_OK) {
        keepfit_stream_close(made);
        return status;
    }
    made->options->seed = seed;
    made->kept = stream->kept;
    made->reader = stream->reader;
    made->skipped = stream->skipped;
    made->cut = stream->cut;
    made->input.target_column = stream->input.target_column;
    made->input.labelled = stream->input.labelled;
    made->bytes_read = stream->bytes_read;
    made->bytes = stream->bytes;
    *other = made;
    return KEEPFIT_OK;
}

/* ---- describing ---- */

static uint64_t total_points(const keepfit_stream *stream)
{
    if (stream->kept)
        return stream->earlier + stream->plan.used;
    /* a format may have the number of rows, but which of them are bad is not known yet */
    uint64_t rows = stream->options->on_error == KF_ON_ERROR_SKIP ? 0 : stream->input.total;
    uint64_t limit = stream->options->limit;
    return limit && limit < rows ? limit : rows;
}

void keepfit_stream_describe(const keepfit_stream *stream, keepfit_stream_info *info)
{
    bool open = stream->source.stored != NULL;
    const keepfit_stream_info made = {
        .name = stream->name,
        .format = stream->reader->name,
        .targets = stream->input.targets,
        .target_column = stream->input.target_column,
        .points = stream->given,
        .skipped = stream->skipped + stream->wide,
        .total = total_points(stream),
        .bytes_read = stream->bytes_read,
        .bytes = open ? stream->source.bytes : stream->bytes,
        .line = stream->line,
        .cut = stream->cut.line,
        .cut_taken = stream->cut.taken,
        .empty = stream->empty,
        .labelled = stream->input.labelled,
        .unseen = stream->unseen,
        .unseen_column = stream->unseen ? stream->recipe.column[stream->recipe.unseen_column].name : NULL,
        .unseen_text = stream->unseen ? stream->recipe.unseen_text : NULL,
        .collisions = stream->collisions,
    };
    KF_GIVE(info, &made);
}

void keepfit_stream_schema(const keepfit_stream *stream, keepfit_schema *schema)
{
    const keepfit_schema shown = kf_schema_show(&stream->schema);
    KF_GIVE(schema, &shown);
}

const struct kf_scaling *kf_stream_scaling(const keepfit_stream *stream)
{
    return &stream->plan.scaling;
}
