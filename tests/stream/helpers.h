/* Checks in TAP, files in a directory of their own, and streams as text that can be compared. */
#ifndef KF_TEST_STREAM_HELPERS_H
#define KF_TEST_STREAM_HELPERS_H

#include "keepfit.h"

void check_named(bool good, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));
#define CHECK(condition, ...) check_named((condition), __FILE__, __LINE__, __VA_ARGS__)

void begin_tests(void);
int end_tests(void); /* the exit status */

/* A path in the directory of the tests. */
const char *path_of(const char *file);
/* Writes a file there; the result is its path. */
const char *put(const char *file, const void *bytes, size_t count);
const char *put_text(const char *file, const char *text);
/* The same bytes as one gzip member; appends if the name begins with '+'. */
const char *put_gzip(const char *file, const void *bytes, size_t count);

/* Options from "key=value key=value"; a value must not hold blanks. */
keepfit_options *make_options(const char *settings);

/* A stream as text: a line "target index:value ..." for each point (with "*weight" behind the target if it is
 * not 1; dense rows in brackets), and how it ended: "END skipped" or "STATUS line:column message". To be
 * freed. */
char *dump(const char *path, const char *settings);
char *dump_rest(keepfit_stream *stream);
/* The dump is exactly that. */
void expect(const char *name, const char *path, const char *settings, const char *text);
/* Fails with that status and place, and a message that holds the fragment. */
void expect_failure(const char *name, const char *path, const char *settings, keepfit_status status, uint64_t line,
                    uint64_t column, const char *fragment);

void test_libsvm(void);
void test_csv(void);
void test_gzip(void);
void test_npy(void);
void test_idx(void);
void test_formats(void);
void test_prepare(void);
void test_numbers(void);
void test_pipes(void);
void test_tables(void);

#endif
