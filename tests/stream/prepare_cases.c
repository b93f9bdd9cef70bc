/* shuffle, limit, scale, read_all, rewind and reorder, by their laws. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "helpers.h"
#include "history/points.h"
#include "stream/scaling.h"

#define ROWS 50
#define COLUMNS 6

/* Random sparse rows; column 5 has no entry, column 6 is constant; the target is the row's number. */
static const char *write_rows(const char *file)
{
    struct kf_random random;
    kf_random_seed(&random, 3);
    char text[16384];
    size_t length = 0;
    for (int j = 0; j < ROWS; j++) {
        length += (size_t)sprintf(text + length, "%d", j);
        for (int k = 1; k <= 4; k++)
            if (kf_random_below(&random, 3) > 0)
                length += (size_t)sprintf(text + length, " %d:%.17g", k, kf_random_normal(&random) * pow(10, k));
        length += (size_t)sprintf(text + length, " 6:5\n");
    }
    return put(file, text, length);
}

static keepfit_stream *open_stream(const char *path, const char *settings)
{
    keepfit_stream *stream = NULL;
    keepfit_error error = {0};
    keepfit_options *options = make_options(settings);
    if (keepfit_stream_open(path, options, &stream, &error) != KEEPFIT_OK)
        printf("# %s\n", error.message);
    keepfit_options_free(options);
    return stream;
}

/* The stream as a dense table; returns the number of rows. */
static size_t table_of(keepfit_stream *stream, double table[ROWS][COLUMNS + 1])
{
    keepfit_point point;
    size_t rows = 0;
    memset(table, 0, ROWS * sizeof *table);
    while (stream && rows < ROWS && keepfit_stream_next(stream, &point) == KEEPFIT_OK) {
        for (size_t k = 0; k < point.row.count; k++)
            table[rows][point.row.index ? point.row.index[k] : k] = point.row.value[k];
        table[rows++][COLUMNS] = point.target;
    }
    return rows;
}

static size_t load(const char *path, const char *settings, double table[ROWS][COLUMNS + 1])
{
    keepfit_stream *stream = open_stream(path, settings);
    size_t rows = table_of(stream, table);
    keepfit_stream_close(stream);
    return rows;
}

static double table[ROWS][COLUMNS + 1], other[ROWS][COLUMNS + 1], scaled[ROWS][COLUMNS + 1];

static void test_shuffle(const char *path)
{
    size_t rows = load(path, "", table), shuffled = load(path, "shuffle=true seed=7", other);
    bool seen[ROWS] = {false}, same_rows = rows == ROWS && shuffled == ROWS;
    unsigned moved = 0;
    for (size_t j = 0; j < shuffled; j++) {
        size_t from = (size_t)other[j][COLUMNS];
        same_rows = same_rows && !seen[from] && memcmp(table[from], other[j], sizeof table[0]) == 0;
        seen[from] = true;
        moved += from != j;
    }
    CHECK(same_rows, "shuffle gives the same rows");
    CHECK(moved > ROWS / 2, "shuffle moves them");
    load(path, "shuffle=true seed=7", scaled);
    CHECK(memcmp(other, scaled, sizeof other) == 0, "the same seed, the same order");
    load(path, "shuffle=true seed=8", scaled);
    CHECK(memcmp(other, scaled, sizeof other) != 0, "another seed, another order");
    rows = load(path, "shuffle=true seed=7 limit=9", scaled);
    CHECK(rows == 9 && memcmp(other, scaled, 9 * sizeof other[0]) == 0, "limit takes the first of the shuffle");
    rows = load(path, "limit=9", scaled);
    CHECK(rows == 9 && memcmp(table, scaled, 9 * sizeof table[0]) == 0, "limit takes the first");
    CHECK(load(path, "limit=1000", scaled) == ROWS, "a limit above the number of rows");
    expect("limit does not look behind itself", put_text("l.svm", "1 1:1\nrubbish\n"), "limit=1", "1 0:1\nEND 0\n");
    expect("limit with a scale does not either", path_of("l.svm"), "limit=1 scale=columns", "1 [1]\nEND 0\n");
}

static void test_columns(const char *path)
{
    size_t rows = load(path, "scale=columns limit=30", scaled);
    load(path, "limit=30", table);
    double worst = 0, skew = 0;
    for (size_t k = 0; k < COLUMNS; k++) {
        double norm = 0, raw = 0;
        for (size_t j = 0; j < rows; j++) {
            norm += scaled[j][k] * scaled[j][k];
            raw += table[j][k] * table[j][k];
        }
        worst = fmax(worst, fabs(norm - (raw > 0)));
        for (size_t j = 0; j < rows; j++)
            skew = fmax(skew, fabs(scaled[j][k] * sqrt(raw) - table[j][k]) / (1 + sqrt(raw)));
    }
    CHECK(rows == 30 && worst < 1e-12, "columns have unit norm over the rows used (off by %.1e)", worst);
    CHECK(skew < 1e-12, "columns keep their direction");
}

static void test_minmax(const char *path)
{
    size_t rows = load(path, "scale=minmax limit=30", scaled);
    bool good = rows == 30;
    for (size_t k = 0; k < COLUMNS; k++) {
        double least = 2, most = -2;
        for (size_t j = 0; j < rows; j++) {
            least = fmin(least, scaled[j][k]);
            most = fmax(most, scaled[j][k]);
        }
        good = good && (k < 4 ? least == -1 && fabs(most - 1) < 1e-12 && most <= 1 : least == 0 && most == 0);
    }
    CHECK(good, "minmax spans [-1, 1], constant columns are 0");
    expect("minmax: zeros left out count", put_text("m.svm", "1 1:3\n2 2:-4\n3\n"), "scale=minmax",
           "1 [1 1]\n2 [-1 -1]\n3 [-1 1]\nEND 0\n");
}

static void test_rows(const char *path)
{
    size_t rows = load(path, "scale=rows", scaled);
    double worst = 0;
    for (size_t j = 0; j < rows; j++) {
        double norm = 0;
        for (size_t k = 0; k < COLUMNS; k++)
            norm += scaled[j][k] * scaled[j][k];
        worst = fmax(worst, fabs(norm - 1));
    }
    CHECK(rows == ROWS && worst < 1e-12, "rows have unit norm");
    expect("rows: empty and zero rows stay", put_text("r.svm", "1\n2 1:0\n3 1:-3 2:4\n"), "scale=rows",
           "1\n2 0:0\n3 0:-0.59999999999999998 1:0.80000000000000004\nEND 0\n");
}

/* The scaling handed to the model says what was done to the rows. */
static void test_scaling(const char *path, const char *settings)
{
    size_t rows = load(path, "", table);
    keepfit_stream *stream = open_stream(path, settings);
    const struct kf_scaling *scaling = kf_stream_scaling(stream);
    table_of(stream, scaled);
    double worst = 0;
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < scaling->features; k++)
            worst = fmax(worst, fabs(scaling->factor[k] * table[j][k] + scaling->shift[k] - scaled[j][k]));
    CHECK(scaling->features == COLUMNS && worst < 1e-12, "the scaling tells what %s did", settings);
    keepfit_stream_close(stream);
}

static void test_extremes(void)
{
    const char *text = "1 1:1e308 2:1e-320 3:-1.7e308 4:4e-324\n2 1:-1.7e308 2:-1e-320 3:1.7e308 4:1e308\n3 "
                       "1:1e308 4:-1e308\n";
    static const char *const scales[] = {"scale=rows", "scale=columns", "scale=minmax"};
    for (int s = 0; s < 3; s++) {
        size_t rows = load(put_text("huge.svm", text), scales[s], scaled);
        double largest = 0;
        bool finite = rows == 3;
        for (size_t j = 0; j < rows; j++)
            for (size_t k = 0; k < COLUMNS; k++) {
                finite = finite && isfinite(scaled[j][k]);
                largest = fmax(largest, fabs(scaled[j][k]));
            }
        CHECK(finite && largest <= 1 + 1e-12 && largest > 0.5, "extremes stay finite with %s", scales[s]);
    }
}

static void test_reorder(const char *path, const char *settings)
{
    char seeded[128];
    snprintf(seeded, sizeof seeded, "%s seed=41", settings);
    keepfit_stream *stream = open_stream(path, settings), *again = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    bool good = keepfit_stream_read_all(stream) == KEEPFIT_OK &&
                keepfit_stream_reorder(stream, 41, &again, &error) == KEEPFIT_OK;
    char *got = good ? dump_rest(again) : strdup(""), *fresh = dump(path, seeded);
    CHECK(good && strcmp(got, fresh) == 0, "reorder equals a fresh stream with that seed (%s)", settings);
    free(got);
    free(fresh);
    char *first = dump_rest(stream), *whole = dump(path, settings);
    keepfit_stream_rewind(stream);
    char *second = dump_rest(stream);
    CHECK(strcmp(first, whole) == 0 && strcmp(first, second) == 0, "read_all and rewind change nothing (%s)", settings);
    free(first);
    free(second);
    free(whole);
    keepfit_stream_close(again);
    keepfit_stream_close(stream);
}

/* Another order has the same names. */
static void test_reordered_names(const char *path)
{
    keepfit_stream *stream = open_stream(path, "loss=logistic"), *again = NULL;
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_error error = {.struct_size = sizeof error};
    bool good = keepfit_stream_read_all(stream) == KEEPFIT_OK &&
                keepfit_stream_reorder(stream, 41, &again, &error) == KEEPFIT_OK;
    if (good) {
        keepfit_stream_schema(again, &schema);
        keepfit_stream_describe(again, &info);
    }
    CHECK(good && schema.features == 2 && strcmp(schema.feature[1], "b") == 0 && strcmp(schema.target, "class") == 0,
          "a reordered stream names its columns");
    CHECK(good && schema.classes == 2 && strcmp(keepfit_schema_class(&schema, 1), "no") == 0,
          "a reordered stream names its classes");
    CHECK(good && info.target_column == 3 && info.labelled && !info.targets,
          "a reordered stream has its target's column");
    keepfit_stream_close(again);
    keepfit_stream_close(stream);
}

static void test_information(const char *path)
{
    keepfit_stream *stream = open_stream(path, "");
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_point point;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_stream *none = NULL;
    CHECK(keepfit_stream_rewind(stream) == KEEPFIT_USAGE &&
              keepfit_stream_reorder(stream, 1, &none, &error) == KEEPFIT_USAGE,
          "rewind and reorder ask for read_all");
    keepfit_stream_next(stream, &point);
    keepfit_stream_next(stream, &point);
    keepfit_stream_describe(stream, &info);
    CHECK(strcmp(info.name, path) == 0 && strcmp(info.format, "libsvm") == 0 && info.points == 2 && info.total == 0 &&
              info.line == 2 && info.bytes > 0 && info.bytes_read == info.bytes,
          "what a stream tells of itself");
    keepfit_stream_read_all(stream);
    keepfit_stream_describe(stream, &info);
    CHECK(info.points == 2 && info.total == ROWS && info.bytes_read == info.bytes, "read_all tells the total");
    CHECK(keepfit_stream_next(stream, &point) == KEEPFIT_OK && point.target == 2, "read_all reads what is left");
    keepfit_stream_rewind(stream);
    keepfit_stream_describe(stream, &info);
    CHECK(info.points == 0 && info.total == ROWS - 2, "rewind goes back to what was kept");
    keepfit_stream_close(stream);
    stream = open_stream(path, "shuffle=true limit=5");
    keepfit_stream_next(stream, &point);
    keepfit_stream_describe(stream, &info);
    CHECK(info.total == 5 && info.points == 1 && info.line == (uint64_t)point.target + 1,
          "a shuffled point knows its line");
    keepfit_stream_close(stream);
}

void test_prepare(void)
{
    const char *path = write_rows("rows.svm");
    static const char *const settings[] = {"",
                                           "limit=20",
                                           "shuffle=true",
                                           "shuffle=true limit=20",
                                           "shuffle=true limit=20 scale=columns",
                                           "shuffle=true limit=20 scale=minmax",
                                           "shuffle=true scale=rows",
                                           "scale=minmax"};
    test_shuffle(path);
    path = path_of("rows.svm");
    test_columns(path);
    test_minmax(path);
    path = path_of("rows.svm");
    test_rows(path);
    path = path_of("rows.svm");
    test_scaling(path, "scale=columns");
    test_scaling(path, "scale=minmax");
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++)
        test_reorder(path, settings[k]);
    test_information(path);
    test_reordered_names(put_text("named.csv", "a,b,class\n1,2,yes\n3,4,no\n"));
    test_extremes();
    expect_failure("an error while shuffling is told when opening", put_text("bad.svm", "1 1:1\n1 1:x\n"),
                   "shuffle=true", KEEPFIT_DATA, 2, 5, "value 'x'");
    expect_failure("nothing to shuffle", put_text("bad.svm", "\n"), "shuffle=true", KEEPFIT_DATA, 0, 0, "no points");
}
