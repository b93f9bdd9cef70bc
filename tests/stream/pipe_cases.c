/* Pipes: a point arrives as soon as its line is there, with the writer still at work. Whoever waits for more
 * waits for ever here, and is ended by the alarm. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "helpers.h"

static void send_bytes(int to, const void *bytes, size_t count)
{
    if (write(to, bytes, count) != (ssize_t)count)
        printf("# the pipe took less than %zu bytes\n", count);
}

static void send_text(int to, const char *text)
{
    send_bytes(to, text, strlen(text));
}

/* Puts the pipe in the place of standard input, as "keepfit ... -" sees it. */
static int pipe_to_input(int *saved)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    *saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void restore_input(int saved)
{
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void test_lines(const char *first, const char *settings, const char *half, const char *rest, const char *format)
{
    int saved = -1, to = pipe_to_input(&saved);
    keepfit_stream *stream = NULL;
    keepfit_options *options = make_options(settings);
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point = {.target = -1};
    keepfit_stream_info info = {0};
    send_text(to, first);
    send_text(to, half);
    bool good = keepfit_stream_open("-", options, &stream, &error) == KEEPFIT_OK;
    good = good && keepfit_stream_next(stream, &point) == KEEPFIT_OK && point.target == 1;
    CHECK(good, "%s: the first point is there while the second is half written", format);
    send_text(to, rest);
    good = good && keepfit_stream_next(stream, &point) == KEEPFIT_OK && point.target == 2;
    CHECK(good, "%s: the second is there when its line is", format);
    close(to);
    good = good && keepfit_stream_next(stream, &point) == KEEPFIT_END;
    if (good)
        keepfit_stream_describe(stream, &info);
    CHECK(good && strcmp(info.name, "<stdin>") == 0 && strcmp(info.format, format) == 0 && info.bytes == 0,
          "%s: and the end is the end", format);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    restore_input(saved);
}

static void test_gzip_pipe(void)
{
    int saved = -1, to = pipe_to_input(&saved);
    z_stream deflater = {0};
    deflateInit2(&deflater, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    unsigned char text[] = "1 1:1\n", packed[256];
    deflater.next_in = text;
    deflater.avail_in = sizeof text - 1;
    deflater.next_out = packed;
    deflater.avail_out = sizeof packed;
    deflate(&deflater, Z_SYNC_FLUSH);
    size_t first = deflater.total_out;
    send_bytes(to, packed, first);
    keepfit_stream *stream = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point = {.target = -1};
    bool good = keepfit_stream_open("-", NULL, &stream, &error) == KEEPFIT_OK &&
                keepfit_stream_next(stream, &point) == KEEPFIT_OK && point.target == 1;
    CHECK(good, "gzip: a flushed point is there");
    deflate(&deflater, Z_FINISH);
    send_bytes(to, packed + first, deflater.total_out - first);
    close(to);
    CHECK(good && keepfit_stream_next(stream, &point) == KEEPFIT_END, "gzip: and the end is the end");
    keepfit_stream_close(stream);
    deflateEnd(&deflater);
    restore_input(saved);
}

struct slow {
    int to;
    const unsigned char *bytes;
    size_t count;
};

static void *write_slowly(void *context)
{
    struct slow *slow = context;
    for (size_t k = 0; k < slow->count; k++) {
        send_bytes(slow->to, slow->bytes + k, 1);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    close(slow->to);
    return NULL;
}

/* Byte by byte, whatever the format: the same points as from a file. */
static void test_slow(const char *file, const char *settings)
{
    unsigned char bytes[1024];
    FILE *from = fopen(path_of(file), "rb");
    struct slow slow = {.bytes = bytes, .count = from ? fread(bytes, 1, sizeof bytes, from) : 0};
    if (from)
        fclose(from);
    char *expected = dump(path_of(file), settings);
    int saved = -1;
    slow.to = pipe_to_input(&saved);
    pthread_t writer;
    pthread_create(&writer, NULL, write_slowly, &slow);
    char *got = dump("-", settings);
    pthread_join(writer, NULL);
    CHECK(strcmp(got, expected) == 0 && strstr(got, "END"), "%s: byte by byte, the same points", file);
    free(got);
    free(expected);
    restore_input(saved);
}

/* Whoever wrote the last line of a pipe may have died over it: without its newline it is left out. */
static void test_cut_pipe(const char *what, const void *bytes, size_t count, const char *settings, const char *expected)
{
    int saved = -1, to = pipe_to_input(&saved);
    send_bytes(to, bytes, count);
    close(to);
    char *got = dump("-", settings);
    CHECK(strcmp(got, expected) == 0, "pipe: %s", what);
    free(got);
    restore_input(saved);
}

static void test_cut_pipes(void)
{
    static const char text[] = "1 1:1\n2 1:123", table[] = "1,2\n3,4\n5,67";
    test_cut_pipe("a cut line is left out", text, sizeof text - 1, "", "1 0:1\nEND 0\n");
    test_cut_pipe("a cut row is left out", table, sizeof table - 1, "", "2 [1]\n4 [3]\nEND 0\n");
    test_cut_pipe("accept-cut takes it", text, sizeof text - 1, "accept-cut=true", "1 0:1\n2 0:123\nEND 0\n");
    test_cut_pipe(
        "strict-end refuses it", text, sizeof text - 1, "strict-end=true",
        "1 0:1\nDATA 2:8 <stdin>:2:8: the last line does not end with a newline, so it may have been cut, and "
        "strict-end refuses it\n");
    test_cut_pipe("nothing but a cut line", "1 1:1", 5, "",
                  "DATA 0:0 <stdin>: no points, and the last line, which has no newline and may have been cut, is left "
                  "out of a pipe (accept-cut takes it)\n");
}

void test_pipes(void)
{
    test_cut_pipes();
    test_lines("1 1:1\n", "", "2 1:", "5\n", "libsvm");
    test_lines("1 1:1\n", "format=libsvm", "2 1:", "5\n", "libsvm");
    test_lines("5,1\n", "", "6,", "2\n", "csv");
    test_gzip_pipe();
    put_text("slow.svm", "# c\n\n1 1:1 2:2\n2 1:3\n");
    put_text("slow.csv", "a,y\n1,2\n3,4\n");
    put_gzip("slow.svm.gz", "1 1:1\n", 6);
    put_gzip("+slow.svm.gz", "2 1:1\n", 6);
    test_slow("slow.svm", "");
    test_slow("slow.csv", "");
    test_slow("slow.svm.gz", "shuffle=true");
    test_slow("f.npy", "");
    test_slow("f.npy.gz", "");
    test_slow("t-images-idx3-ubyte", "target=none");
}
