/* Gzip, and how formats are recognised. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/random.h"
#include "helpers.h"

static size_t load(const char *path, unsigned char *bytes, size_t room)
{
    FILE *from = fopen(path, "rb");
    size_t count = from ? fread(bytes, 1, room, from) : 0;
    if (from)
        fclose(from);
    return count;
}

/* Wherever a gzip file is cut or has a bit turned, there is an error at the end, and never a wrong point
 * before it that the checksum would not have caught at the end. */
static void test_damage(void)
{
    char text[4096];
    size_t length = 0;
    for (int k = 0; k < 100; k++)
        length += (size_t)sprintf(text + length, "%d 1:%d 2:%d\n", k, k * 37 % 101, k * k);
    unsigned char packed[4096], spoilt[4096];
    size_t count = load(put_gzip("whole.svm.gz", text, length), packed, sizeof packed);
    unsigned silent = 0;
    for (size_t cut = 2; cut < count; cut++) {
        char *got = dump(put("cut.svm.gz", packed, cut), "");
        silent += strstr(got, "DATA") == NULL || strstr(got, "cut off at byte") == NULL;
        free(got);
    }
    CHECK(silent == 0, "gzip: every truncation is told");
    silent = 0;
    for (size_t bit = 8 * 18; bit < 8 * count; bit += 7) {
        memcpy(spoilt, packed, count);
        spoilt[bit / 8] ^= (unsigned char)(1u << bit % 8);
        char *got = dump(put("flip.svm.gz", spoilt, count), "");
        silent += strstr(got, "DATA") == NULL;
        free(got);
    }
    CHECK(silent == 0, "gzip: every turned bit is told");
}

/* The whole lines in what zlib makes of the first bytes of a gzip file. */
static size_t lines_in(unsigned char *packed, size_t count, unsigned char *room, size_t size)
{
    z_stream inflater = {.next_in = packed, .avail_in = (unsigned)count, .next_out = room, .avail_out = (unsigned)size};
    inflateInit2(&inflater, 16 + MAX_WBITS);
    inflate(&inflater, Z_SYNC_FLUSH);
    size_t lines = 0;
    for (size_t k = 0; k < inflater.total_out; k++)
        lines += room[k] == '\n';
    inflateEnd(&inflater);
    return lines;
}

/* A few bytes stand for many lines here: all that come before a cut are given out, also those that fill a buffer. */
static void test_cut_repetition(void)
{
    enum { LINES = 300000 };
    unsigned char packed[4096], *text = malloc(2 * LINES);
    for (size_t k = 0; k < LINES; k++)
        memcpy(text + 2 * k, "1\n", 2);
    size_t count = load(put_gzip("repeated.svm.gz", text, 2 * LINES), packed, sizeof packed), wrong = 0;
    for (size_t cut = 30; cut < count - 8; cut += 23) {
        keepfit_options *options = make_options("");
        keepfit_stream *stream = NULL;
        keepfit_point point;
        size_t given = 0;
        put("cut.svm.gz", packed, cut);
        if (keepfit_stream_open(path_of("cut.svm.gz"), options, &stream, NULL) == KEEPFIT_OK)
            while (keepfit_stream_next(stream, &point) == KEEPFIT_OK)
                given++;
        wrong += given != lines_in(packed, cut, text, 2 * LINES);
        keepfit_stream_close(stream);
        keepfit_options_free(options);
    }
    CHECK(wrong == 0, "gzip: all whole lines before a cut are given out");
    free(text);
}

void test_gzip(void)
{
    const char *text = "1 1:2\n3 2:4\n";
    expect("gzip: plain member", put_gzip("a.svm.gz", text, strlen(text)), "", "1 0:2\n3 1:4\nEND 0\n");
    expect("gzip: by content, whatever the name", put_gzip("b.svm", text, strlen(text)), "", "1 0:2\n3 1:4\nEND 0\n");
    put_gzip("+a.svm.gz", "", 0);
    expect("gzip: members one after the other, a line across them",
           (put_gzip("c.gz", "1 1:2\n3 2", 9), put_gzip("+c.gz", "", 0), put_gzip("+c.gz", ":4\n", 3)), "",
           "1 0:2\n3 1:4\nEND 0\n");
    expect_failure("gzip: empty inside", put_gzip("d.gz", "", 0), "", KEEPFIT_DATA, 0, 0, "no points");
    unsigned char bytes[4096];
    size_t count = load(put_gzip("e.gz", text, strlen(text)), bytes, sizeof bytes);
    memcpy(bytes + count, "garbage", 7);
    expect_failure("gzip: garbage behind", put("e.svm.gz", bytes, count + 7), "", KEEPFIT_DATA, 0, 0,
                   "is no gzip data");
    memset(bytes + count, 0, 7);
    expect_failure("gzip: zeros behind", put("e.svm.gz", bytes, count + 7), "", KEEPFIT_DATA, 0, 0, "is no gzip data");
    bytes[count] = 0x1f;
    expect_failure("gzip: half a magic behind", put("e.svm.gz", bytes, count + 1), "", KEEPFIT_DATA, 0, 0, "cut off");
    expect_failure("gzip: a lone 1f is no gzip", put("f.svm", "\x1f", 1), "", KEEPFIT_DATA, 1, 1, "is not a number");
    char *got = dump(put("e.svm.gz", bytes, count - 3), "");
    CHECK(strncmp(got, "1 0:2\n3 1:4\nDATA", 16) == 0, "gzip: the points before the cut are given out");
    free(got);
    test_damage();
    test_cut_repetition();
}

static void expect_format(const char *file, const char *text, const char *format)
{
    keepfit_stream *stream = NULL;
    keepfit_stream_info info = {0};
    keepfit_options *options = make_options("target=none");
    keepfit_error error = {.struct_size = sizeof error};
    if (keepfit_stream_open(put_text(file, text), options, &stream, &error) == KEEPFIT_OK)
        keepfit_stream_describe(stream, &info);
    CHECK(info.format && strcmp(info.format, format) == 0, "format of %s is %s", file, format);
    keepfit_stream_close(stream);
    keepfit_options_free(options);
}

static void test_long_line(void)
{
    const char *path = path_of("long.svm");
    FILE *to = fopen(path, "wb");
    fputs("1 1:1\n", to);
    /* a hole of zeros is a line without newline */
    fseek(to, 300L << 20, SEEK_CUR);
    fputs("\n", to);
    fclose(to);
    expect_failure("a line that is too long", path, "", KEEPFIT_DATA, 2, 0, "longer than 256 MiB");
    unlink(path);
}

void test_formats(void)
{
    expect_format("one.SVM", "1 1:1\n", "libsvm");
    expect_format("one.svmlight", "1 1:1\n", "libsvm");
    expect_format("one.csv", "1 2\n", "csv");
    expect_format("one.tsv.gz", "1 2\n", "csv");
    expect_format("content1", "# c\n\n+1 1:1\n", "libsvm");
    expect_format("content2", "1,2,3\n", "csv");
    expect_format("content3", "1\t2\t3\n", "csv");
    expect_format("content4", "1\t2:3\n", "libsvm");
    expect_format("content5", "+1\n", "libsvm");
    expect_format("content6", "\xef\xbb\xbf\r\n1;2\r\n", "csv");
    expect_failure("an unknown format", path_of("content1"), "format=xml", KEEPFIT_USAGE, 0, 0, "format");
    expect_failure("CSV as LIBSVM", path_of("content2"), "format=libsvm", KEEPFIT_DATA, 1, 1, "label '1,2,3'");
    expect_failure("a missing file", path_of("nowhere"), "", KEEPFIT_DATA, 0, 0, "No such file");
    mkdir(path_of("directory"), 0700);
    expect_failure("a directory", path_of("directory"), "", KEEPFIT_DATA, 0, 0, "directory");
    if (geteuid() != 0) {
        chmod(put_text("secret", "1 1:1\n"), 0);
        expect_failure("an unreadable file", path_of("secret"), "", KEEPFIT_DATA, 0, 0, "ermission");
    }
    test_long_line();
}
