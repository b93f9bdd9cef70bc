#define _POSIX_C_SOURCE 200809L
#include "base/options.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/option_text.h"
#include "base/sized.h"
#include "base/span.h"
#include "base/stopping.h"

#define AT(field) offsetof(struct keepfit_options, field)
#define REAL(key, value, initial, group, field, least, most, above, help)                                              \
    {                                                                                                                  \
        {0, key, value, initial, group, help, NULL, KEEPFIT_REAL, above, least, most}, AT(field), 0                    \
    }
#define COUNT(key, value, initial, group, field, least, most, help)                                                    \
    {                                                                                                                  \
        {0, key, value, initial, group, help, NULL, KEEPFIT_COUNT, false, least, most}, AT(field), 0                   \
    }
#define COUNT_OR_SPAN(key, value, initial, group, field, seconds, least, most, help)                                   \
    {                                                                                                                  \
        {0, key, value, initial, group, help, NULL, KEEPFIT_COUNT, false, least, most}, AT(field), AT(seconds)         \
    }
#define CHOICE(key, choices, initial, group, field, help)                                                              \
    {                                                                                                                  \
        {0, key, choices, initial, group, help, choices, KEEPFIT_CHOICE, false, 0, 0}, AT(field), 0                    \
    }
#define CHOICE_WITH_NUMBER(key, choices, initial, group, field, number, least, most, help)                             \
    {                                                                                                                  \
        {0, key, choices, initial, group, help, choices, KEEPFIT_CHOICE, false, least, most}, AT(field), AT(number)    \
    }
#define TEXT(key, value, initial, group, field, help)                                                                  \
    {                                                                                                                  \
        {0, key, value, initial, group, help, NULL, KEEPFIT_TEXT, false, 0, 0}, AT(field), 0                           \
    }
#define FLAG(key, group, field, help)                                                                                  \
    {                                                                                                                  \
        {0, key, "", "false", group, help, NULL, KEEPFIT_FLAG, false, 0, 0}, AT(field), 0                              \
    }

static const struct kf_option_row table[] = {
    CHOICE_WITH_NUMBER(
        "loss", "squared|logistic|huber|logcosh|hinge|squared-hinge|softmax|network:H", "squared", "problem", loss,
        hidden, 1, 100000,
        "The loss of one point. squared, huber and logcosh predict numbers; logistic, hinge and squared-hinge two "
        "classes; softmax any number of classes, which may appear as the stream runs; network:H the same with a layer "
        "of H hidden units (ReLU) before it, where nothing can be proved."),
    REAL("delta", "D", "1", "problem", delta, 0, 1e300, true,
         "Where huber turns from quadratic to linear, or the width of hinge's rounded corner."),
    REAL("lambda", "L", "0.001", "problem", lambda, 0, 1e300, false,
         "The objective is the mean loss + L*|x|^2, so its strong convexity is 2L."),
    REAL("lambda-total", "L", "", "problem", lambda_total, 0, 1e300, false,
         "Instead of lambda: sum of losses + L*|x|^2, a regulariser that does not grow with the number of points."),
    REAL("bias", "B", "", "problem", bias, -1e150, 1e150, false, /* its square is finite */
         "Append a constant feature of value B, regularised like the others."),
    FLAG("intercept", "problem", intercept, "Add an intercept that is neither regularised nor held by the domain."),
    FLAG("standardise", "problem", standardise,
         "The regulariser is L*sum of (s*x)^2, s the spread of each column, read again whenever the number of points "
         "has "
         "doubled; rows are left as they are. It wants an intercept."),
    TEXT("domain", "none|ball:R|box:LO:HI|simplex", "none", "problem", domain,
         "The convex set that the model stays in."),

    TEXT("method", "NAME", "auto", "method", method, "How the model is kept; see the list of methods."),
    REAL("epsilon", "E", "0.001", "method", epsilon, 0, 1e300, true,
         "How far above the best possible objective the model may be, at every stage."),
    CHOICE("epsilon-kind", "absolute|relative|stat", "absolute", "method", epsilon_kind,
           "What epsilon is: absolute, a gap; relative, a share of the best possible objective; stat, a gap once "
           "divided by "
           "the number of points, which is the statistical accuracy of the data."),
    CHOICE(
        "guarantee", "proved|estimate", "proved", "method", guarantee,
        "Whether every stage is proved to meet epsilon, or stages may rely on an estimate from remembered gradients, "
        "which is cheaper (methods table and quadratic)."),
    COUNT("stage-budget", "N", "", "method", stage_budget, 1, 1e15,
          "At most N gradients a stage, for methods that hold epsilon. What needs more is spread over stages; where a "
          "stage misses epsilon for it the bound says so, and the exit code is 5."),
    REAL("max-stage-work", "K", "", "method", max_stage_work, 3, 1e15, false,
         "Flat latency: no stage computes more gradients than K times their mean a stage so far (at least K), as with "
         "stage-budget."),
    COUNT_OR_SPAN(
        "window", "N|SPAN", "", "method", window, window_seconds, 1, 1e15,
        "Fit the newest N points only: when one more comes, the oldest leaves, and the promise holds for those "
        "that remain. Or those of a span of time, as 30d, 12h, 90m or 45s."),
    COUNT_OR_SPAN(
        "half-life", "N|SPAN", "", "method", half_life, half_life_seconds, 1, 1e9,
        "The weight of a point halves every N arrivals, or in every span of time (7d), and after 12 to 16 of them it "
        "leaves; the promise holds for the weighted mean."),
    CHOICE("setting", "theory|paper|tuned", "tuned", "method", setting,
           "csvrg's parameters: the theorem's constants, those of the paper's experiments, or our own. theory also "
           "sets those "
           "of sgd and sgd-sparse, and katyusha's epochs of 2i steps and its output. The next options override single "
           "ones."),
    REAL("alpha", "A", "", "method", alpha, 0, 1e300, false,
         "csvrg: recompute the full gradient when the share A of the points is new (0.3). sgd-sparse: repeat the last "
         "output until the stream has grown by the share A (0.002)."),
    CHOICE("stage-output", "auto|mean|last", "auto", "method", stage_output,
           "What a stage of sgd, sgd-sparse or csvrg gives: the mean of its iterates, or the last one. auto: the mean, "
           "but for csvrg's setting tuned."),
    COUNT("inner", "T", "", "method", inner, 1, 1e15,
          "Inner steps a stage (an epoch for svrg, sarah and katyusha; for ssvrg, the most that a round may take)."),
    COUNT("outer", "S", "", "method", outer, 1, 1e15, "Epochs a stage, for svrg, sarah and katyusha."),
    TEXT("step", "S|RULE", "", "method", step,
         "Step size: a number; K/L, a multiple of 1/smoothness (1/L, 0.3/L); for sgd and csvrg also C/t, shorter at "
         "each step t of a stage (0.1/t); paper, as printed there (1/(lambda*t), for csvrg 1/(lambda*i*t)); capped, "
         "the same but at most 1/L; theory, csvrg's 4/(mu*(t+beta))."),
    REAL("smoothness", "L", "", "method", smoothness, 0, 1e300, true,
         "Largest curvature of one point's function, instead of the one seen in the data."),
    REAL("lipschitz", "G", "", "method", lipschitz, 0, 1e300, true,
         "Largest gradient of one point's function in the domain, instead of the one derived from data and domain."),
    REAL("convexity", "MU", "", "method", convexity, 0, 1e300, true,
         "Strong convexity that methods assume, instead of 2*lambda."),
    CHOICE(
        "iterate", "auto|dense|scaled", "auto", "method", iterate,
        "How the iterate is stored. scaled: a step costs the non-zeros of its rows; dense: the reference, and the only "
        "one for a box, the simplex, katyusha and methods that use full gradients. auto: scaled where possible, unless "
        "rows "
        "are mostly full."),
    CHOICE("count", "auto|actual|paper", "auto", "method", count,
           "What counts as a gradient. actual: one that is computed; paper: csvrg's nominal three a step, though one "
           "of them "
           "is remembered. auto: paper for setting paper, otherwise actual."),
    COUNT("seed", "N", "1", "method", seed, 0, 1.8e19, "Seed of all random choices: same seed, same bits."),
    COUNT("threads", "N", "", "method", threads, 1, 1024,
          "Threads (default: as many as there are processors); the result is the same for any number."),

    TEXT("format", "auto|NAME", "auto", "data", format, "Format of the data; see the list of formats."),
    FLAG("shuffle", "data", shuffle, "Visit the rows in an order drawn from the seed (reads all first)."),
    COUNT("limit", "N", "", "data", limit, 1, 1e18, "Use at most N points, counted after the shuffle."),
    CHOICE("scale", "none|columns|rows|minmax", "none", "data", scale,
           "columns: each to unit Euclidean norm over the rows used; minmax: each to [-1, 1] (both read all first); "
           "rows: each "
           "to unit norm. The saved model predicts unscaled rows."),
    CHOICE("on-error", "stop|skip", "stop", "data", on_error, "What a bad row does: stop, or be skipped and counted."),
    FLAG("zero-based", "data", zero_based, "LIBSVM indices begin at 0 instead of 1."),
    COUNT("max-features", "N", "16777216", "data", max_features, 1, 4294967294,
          "Refuse feature indices above N, so that one wild index cannot exhaust the memory."),
    CHOICE("header", "auto|yes|no", "auto", "data", header, "Whether the first line of a CSV file names the columns."),
    TEXT("target", "COLUMN", "", "data", target,
         "Column of the target, by name or number from 1 (CSV, npy); default: one named target, label, class or y, "
         "otherwise the last. 'none': there is no target."),
    TEXT("targets", "FILE", "", "data", targets, "Targets in a file of their own (npy and idx)."),
    TEXT("weight-column", "COLUMN", "", "data", weights,
         "CSV column that holds the points' weights, by name or number from 1."),
    TEXT("key", "COLUMN", "", "data", key,
         "Column of a table (CSV, JSON lines) that rows are known by: a row takes the place of the one that came with "
         "the same key, and the column is no feature."),
    TEXT("time", "COLUMN", "", "data", time,
         "Column of a table that says when rows came (ISO 8601 or Unix seconds), by which a half-life or a window that "
         "is a span of time goes."),
    TEXT("delimiter", "C", "", "data", delimiter, "CSV delimiter: one character, or 'tab'; default: recognised."),
    TEXT("ignore", "A,B", "", "data", ignore, "Columns to leave out of a table with names, separated by commas."),
    TEXT("columns", "A,B", "", "data", columns, "Columns to take, and no others but target and weight."),
    TEXT("type", "A=TYPE,...", "", "data", type,
         "What columns of a table hold: number, boolean, category, time, text (text:2 takes pairs of words, too) or "
         "ignore; what is not said is guessed from the first rows, and the model keeps it."),
    CHOICE("missing", "indicator|zero|skip", "indicator", "data", missing,
           "What a missing value in a table with types (blank, NA, null, ...) does: 0 and a feature of its own that "
           "is 1; 0 alone; or the row is passed over."),
    COUNT("hash", "BITS", "", "data", hash, 1, 30,
          "Categories, words and crosses of each column are hashed to 2^BITS features, which bounds the memory."),
    TEXT("cross", "A*B,...", "", "data", cross, "Products of the features of columns, as features besides."),
    FLAG("strict-end", "data", strict_end,
         "Refuse a last line without a newline, which may have been cut. By default it is taken from a regular file, "
         "and "
         "left out of a pipe, with a warning."),
    FLAG("accept-cut", "data", accept_cut,
         "Take a last line without a newline as it is, from a pipe too, and without a warning."),

    CHOICE(
        "extra-features", "error|ignore", "error", "predict", extra_features,
        "What to do with features that the model does not have, in sparse rows or named columns: refuse the row or the "
        "file, or ignore them."),

    TEXT("journal", "DIR", "", "journal", journal,
         "Keep all points in this folder, durably, and go on from there when it already holds some. The journal "
         "remembers "
         "the problem and the method; what is not given again is taken from it."),
    TEXT("sync", "always|batch:N|interval:MS|none", "always", "journal", sync,
         "When a point is safe from a power cut: before the push returns; N points at a time, one such batch while the "
         "next is gathered; when a point comes and MS milliseconds have passed; or whenever the operating system "
         "writes."),
    COUNT("segment-bytes", "N", "67108864", "journal", segment_bytes, 4096, 1e15,
          "Begin a new file of the journal after so many bytes."),
    REAL("checkpoint-seconds", "S", "60", "journal", checkpoint_seconds, 0, 1e9, false,
         "Write a checkpoint after so many seconds of work, so that not more than that has to be done again."),
    COUNT("checkpoint-gradients", "N", "", "journal", checkpoint_gradients, 1, 1e18,
          "Also write one after so many gradients."),
};

#define ROWS (sizeof table / sizeof table[0])
_Static_assert(ROWS <= KF_OPTION_COUNT_MAX, "the given flags must cover the table");

bool keepfit_option_entry(size_t k, keepfit_option *option)
{
    if (k >= ROWS)
        return false;
    KF_GIVE(option, &table[k].shown);
    return true;
}

static const struct kf_option_row *find(const char *key)
{
    for (size_t k = 0; k < ROWS; k++)
        if (strcmp(table[k].shown.key, key) == 0)
            return &table[k];
    return NULL;
}

bool keepfit_option_find(const char *key, keepfit_option *option)
{
    const struct kf_option_row *row = find(key);
    if (row)
        KF_GIVE(option, &row->shown);
    return row;
}

static const void *value_of(const keepfit_options *options, const struct kf_option_row *row)
{
    return (const char *)options + row->offset;
}

/* What keepfit_options_get will hand out; a TEXT is handed out itself. */
static void write_text(keepfit_options *options, const struct kf_option_row *row)
{
    const void *field = value_of(options, row);
    char *text = options->text[row - table];
    *text = '\0';
    switch (row->shown.type) {
    case KEEPFIT_REAL:
        if (!isnan(*(const double *)field))
            kf_write_real(text, *(const double *)field);
        break;
    case KEEPFIT_COUNT:
        if (kf_option_span(options, row) && *kf_option_span(options, row) > 0)
            kf_span_write(text, *kf_option_span(options, row));
        else if (*(const uint64_t *)field != 0 || *row->shown.initial)
            snprintf(text, KF_OPTION_TEXT, "%llu", (unsigned long long)*(const uint64_t *)field);
        break;
    case KEEPFIT_CHOICE:
        kf_option_write_choice(text, row, *(const int *)field,
                               row->number ? *(const uint64_t *)((const char *)options + row->number) : 0);
        break;
    case KEEPFIT_FLAG:
        snprintf(text, KF_OPTION_TEXT, "%s", *(const bool *)field ? "true" : "false");
        break;
    case KEEPFIT_TEXT:
        break;
    }
}

/* An empty value stands for "absent" where that is the default. */
static keepfit_status assign(keepfit_options *options, const struct kf_option_row *row, const char *value,
                             keepfit_error *error)
{
    void *field = kf_option_field(options, row);
    bool absent = !*value && !*row->shown.initial;
    bool good = true;
    switch (row->shown.type) {
    case KEEPFIT_REAL:
        if (absent)
            *(double *)field = NAN;
        else
            good = kf_option_read_real(row, value, field);
        break;
    case KEEPFIT_COUNT:
        if (absent && kf_option_span(options, row))
            *kf_option_span(options, row) = 0;
        if (absent)
            *(uint64_t *)field = 0;
        else
            good = kf_option_read_count(options, row, value);
        break;
    case KEEPFIT_CHOICE:
        good = kf_option_read_choice(options, row, value);
        break;
    case KEEPFIT_FLAG:
        good = kf_option_read_flag(value, field);
        break;
    case KEEPFIT_TEXT: {
        char *copy = absent ? NULL : kf_copy_text(value);
        if (!absent && !copy)
            return kf_fail_memory(error);
        free(*(char **)field);
        *(char **)field = copy;
        break;
    }
    }
    if (!good)
        return kf_option_refuse(row, value, error);
    write_text(options, row);
    return KEEPFIT_OK;
}

keepfit_options *keepfit_options_create(void)
{
    keepfit_options *options = kf_allocate(1, sizeof *options);
    for (size_t k = 0; options && k < ROWS; k++) {
        keepfit_status status = assign(options, &table[k], table[k].shown.initial, NULL);
        assert(status == KEEPFIT_OK || status == KEEPFIT_NO_MEMORY);
        if (status != KEEPFIT_OK) {
            keepfit_options_free(options);
            return NULL;
        }
    }
    return options;
}

void keepfit_options_free(keepfit_options *options)
{
    for (size_t k = 0; options && k < ROWS; k++)
        if (table[k].shown.type == KEEPFIT_TEXT)
            free(*(char **)kf_option_field(options, &table[k]));
    if (options)
        keepfit_stop_free(options->stop);
    free(options);
}

keepfit_options *keepfit_options_copy(const keepfit_options *options)
{
    keepfit_options *copy = kf_allocate(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *options;
    kf_stop_keep(copy->stop);
    bool whole = true;
    for (size_t k = 0; k < ROWS; k++)
        if (table[k].shown.type == KEEPFIT_TEXT) {
            char **text = kf_option_field(copy, &table[k]);
            if (*text)
                whole = (*text = kf_copy_text(*text)) && whole;
        }
    if (whole)
        return copy;
    keepfit_options_free(copy);
    return NULL;
}

static keepfit_status refuse_key(const char *key, keepfit_error *error)
{
    keepfit_guess guess = {.word = key};
    for (size_t k = 0; k < ROWS; k++)
        keepfit_guess_offer(&guess, table[k].shown.key);
    if (*keepfit_guess_hint(&guess, ""))
        return kf_fail(error, KEEPFIT_USAGE, "there is no option '%s'; did you mean {%s}?", key, guess.nearest);
    return kf_fail(error, KEEPFIT_USAGE, "there is no option '%s'", key);
}

keepfit_status kf_options_put(keepfit_options *options, const char *key, const char *value, bool given,
                              keepfit_error *error)
{
    const struct kf_option_row *row = find(key);
    if (!row)
        return refuse_key(key, error);
    keepfit_status status = assign(options, row, value, error);
    if (status == KEEPFIT_OK)
        options->given[row - table] = given;
    return status;
}

keepfit_status keepfit_options_set(keepfit_options *options, const char *key, const char *value, keepfit_error *error)
{
    return kf_options_put(options, key, value, true, error);
}

static const char *kind_of(keepfit_option_type type)
{
    static const char *const kinds[] = {[KEEPFIT_REAL] = "a number",
                                        [KEEPFIT_COUNT] = "a whole number",
                                        [KEEPFIT_CHOICE] = "one of several words",
                                        [KEEPFIT_TEXT] = "a text",
                                        [KEEPFIT_FLAG] = "a flag"};
    return kinds[type];
}

/* The option of a key, for a value of that type. */
static keepfit_status find_typed(const char *key, keepfit_option_type type, const struct kf_option_row **row,
                                 keepfit_error *error)
{
    *row = find(key);
    if (!*row)
        return refuse_key(key, error);
    keepfit_option_type wanted = (*row)->shown.type;
    if (wanted != type)
        return kf_fail(error, KEEPFIT_USAGE, "{%s}: is %s, and was given %s", key, kind_of(wanted), kind_of(type));
    return KEEPFIT_OK;
}

/* The field has its new value. */
static void set(keepfit_options *options, const struct kf_option_row *row)
{
    write_text(options, row);
    options->given[row - table] = true;
}

keepfit_status keepfit_options_set_number(keepfit_options *options, const char *key, double value, keepfit_error *error)
{
    const struct kf_option_row *row;
    char text[32];
    keepfit_status status = find_typed(key, KEEPFIT_REAL, &row, error);
    if (status != KEEPFIT_OK)
        return status;
    if (!kf_option_holds(row, value))
        return kf_option_refuse(row, kf_write_real(text, value), error);
    *(double *)kf_option_field(options, row) = value;
    set(options, row);
    return KEEPFIT_OK;
}

keepfit_status keepfit_options_set_integer(keepfit_options *options, const char *key, uint64_t value,
                                           keepfit_error *error)
{
    const struct kf_option_row *row;
    char text[32];
    keepfit_status status = find_typed(key, KEEPFIT_COUNT, &row, error);
    if (status != KEEPFIT_OK)
        return status;
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (!kf_option_holds(row, (double)value))
        return kf_option_refuse(row, text, error);
    *(uint64_t *)kf_option_field(options, row) = value;
    if (kf_option_span(options, row))
        *kf_option_span(options, row) = 0;
    set(options, row);
    return KEEPFIT_OK;
}

keepfit_status keepfit_options_set_flag(keepfit_options *options, const char *key, bool value, keepfit_error *error)
{
    const struct kf_option_row *row;
    keepfit_status status = find_typed(key, KEEPFIT_FLAG, &row, error);
    if (status != KEEPFIT_OK)
        return status;
    *(bool *)kf_option_field(options, row) = value;
    set(options, row);
    return KEEPFIT_OK;
}

const char *keepfit_options_get(const keepfit_options *options, const char *key)
{
    const struct kf_option_row *row = find(key);
    if (!row)
        return NULL;
    if (row->shown.type != KEEPFIT_TEXT)
        return options->text[row - table];
    const char *text = *(char *const *)value_of(options, row);
    return text ? text : "";
}

double keepfit_options_get_number(const keepfit_options *options, const char *key)
{
    const struct kf_option_row *row = find(key);
    return row && row->shown.type == KEEPFIT_REAL ? *(const double *)value_of(options, row) : NAN;
}

uint64_t keepfit_options_get_integer(const keepfit_options *options, const char *key)
{
    const struct kf_option_row *row = find(key);
    return row && row->shown.type == KEEPFIT_COUNT ? *(const uint64_t *)value_of(options, row) : 0;
}

bool keepfit_options_get_flag(const keepfit_options *options, const char *key)
{
    const struct kf_option_row *row = find(key);
    return row && row->shown.type == KEEPFIT_FLAG && *(const bool *)value_of(options, row);
}

size_t kf_threads(const keepfit_options *options)
{
    if (options->threads)
        return (size_t)options->threads;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 1 ? (size_t)processors : 1;
}

void keepfit_options_stop(keepfit_options *options, keepfit_stop *stop)
{
    keepfit_stop *before = options->stop;
    options->stop = kf_stop_keep(stop);
    keepfit_stop_free(before);
}

void keepfit_options_disk(keepfit_options *options, const keepfit_disk *disk)
{
    options->disk = disk;
}

bool keepfit_options_given(const keepfit_options *options, const char *key)
{
    const struct kf_option_row *row = find(key);
    return row && options->given[row - table];
}
