#define _GNU_SOURCE
#include "helpers.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static int checks, failures;
static char directory[] = "/tmp/keepfit-streams-XXXXXX";

void check_named(bool good, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    printf("%s %d - ", good ? "ok" : "not ok", ++checks);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    if (!good) {
        printf("# failed at %s:%d\n", file, line);
        failures++;
    }
}

void begin_tests(void)
{
    if (!mkdtemp(directory)) {
        printf("Bail out! no temporary directory\n");
        exit(1);
    }
}

int end_tests(void)
{
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (entry->d_name[0] != '.')
            unlink(path_of(entry->d_name));
    if (open)
        closedir(open);
    rmdir(path_of("directory"));
    rmdir(directory);
    printf("1..%d\n", checks);
    return failures > 0;
}

const char *path_of(const char *file)
{
    static char paths[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", directory, file);
    return paths[turn];
}

static const char *write_file(const char *file, const char *mode, const void *bytes, size_t count)
{
    const char *path = path_of(file);
    FILE *to = fopen(path, mode);
    if (!to || fwrite(bytes, 1, count, to) != count || fclose(to) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
    return path;
}

const char *put(const char *file, const void *bytes, size_t count)
{
    return write_file(file, "wb", bytes, count);
}

const char *put_text(const char *file, const char *text)
{
    return put(file, text, strlen(text));
}

const char *put_gzip(const char *file, const void *bytes, size_t count)
{
    z_stream deflater = {0};
    deflateInit2(&deflater, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    size_t room = count + 1000;
    unsigned char *packed = malloc(room), *copy = malloc(count + 1);
    memcpy(copy, bytes, count);
    deflater.next_in = copy;
    deflater.avail_in = (unsigned)count;
    deflater.next_out = packed;
    deflater.avail_out = (unsigned)room;
    deflate(&deflater, Z_FINISH);
    const char *path = write_file(file + (*file == '+'), *file == '+' ? "ab" : "wb", packed, deflater.total_out);
    deflateEnd(&deflater);
    free(packed);
    free(copy);
    return path;
}

keepfit_options *make_options(const char *settings)
{
    keepfit_options *options = keepfit_options_create();
    char *copy = strdup(settings), *rest = copy;
    keepfit_options_set(options, "threads", "1", NULL);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        keepfit_error error = {.struct_size = sizeof error};
        if (keepfit_options_set(options, word, value, &error) != KEEPFIT_OK)
            printf("# option refused: %s\n", error.message);
    }
    free(copy);
    return options;
}

static void write_point(FILE *to, const keepfit_point *point)
{
    fprintf(to, "%.17g", point->target);
    if (point->weight != 1)
        fprintf(to, "*%.17g", point->weight);
    fprintf(to, point->row.index ? "" : " [");
    for (size_t k = 0; k < point->row.count; k++)
        if (point->row.index)
            fprintf(to, " %u:%.17g", point->row.index[k], point->row.value[k]);
        else
            fprintf(to, "%s%.17g", k ? " " : "", point->row.value[k]);
    fprintf(to, point->row.index ? "\n" : "]\n");
}

static void write_error(FILE *to, keepfit_status status, const keepfit_error *error)
{
    fprintf(to, "%s%s %llu:%llu %s\n", keepfit_status_name(status), status == error->status ? "" : " (and another)",
            (unsigned long long)error->line, (unsigned long long)error->column, error->message);
}

char *dump_rest(keepfit_stream *stream)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    keepfit_point point;
    keepfit_status status;
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        write_point(to, &point);
    keepfit_stream_info info = {.struct_size = sizeof info};
    keepfit_stream_describe(stream, &info);
    if (status == KEEPFIT_END)
        fprintf(to, "END %llu\n", (unsigned long long)info.skipped);
    else
        write_error(to, status, keepfit_stream_error(stream));
    fclose(to);
    return text;
}

char *dump(const char *path, const char *settings)
{
    keepfit_options *options = make_options(settings);
    keepfit_stream *stream = NULL;
    keepfit_error error = {0};
    keepfit_status status = keepfit_stream_open(path, options, &stream, &error);
    keepfit_options_free(options); /* the stream must not need them any longer */
    char *text;
    if (status == KEEPFIT_OK) {
        text = dump_rest(stream);
    } else {
        size_t size;
        FILE *to = open_memstream(&text, &size);
        write_error(to, status, &error);
        fclose(to);
    }
    keepfit_stream_close(stream);
    return text;
}

static void show(const char *label, const char *text)
{
    printf("# %s:\n#   ", label);
    for (; *text; text++)
        printf(*text == '\n' && text[1] ? "\n#   " : "%c", *text);
}

/* The same text with every dense row written with its indices: a reading thread hands rows over as they will be stored. */
static char *with_indices(const char *text)
{
    char *plain;
    size_t size;
    FILE *to = open_memstream(&plain, &size);
    unsigned index = 0;
    for (bool dense = false; *text; text++) {
        bool opens = text[0] == ' ' && text[1] == '[', empty = opens && text[2] == ']';
        if (empty) {
            text += 2;
        } else if (opens) {
            dense = true;
            index = 0;
            fprintf(to, " %u:", index++);
            text++;
        } else if (*text == ']') {
            dense = false;
        } else {
            fputc(*text, to);
            if (dense && *text == ' ')
                fprintf(to, "%u:", index++);
        }
    }
    fclose(to);
    return plain;
}

/* Read by a thread, the points and the end are the same. */
static void expect_same_from_thread(const char *name, const char *path, const char *settings, const char *alone)
{
    char threaded[512];
    snprintf(threaded, sizeof threaded, "%s threads=2", settings);
    char *got = dump(path, threaded), *plain = with_indices(got), *wanted = with_indices(alone);
    CHECK(strcmp(plain, wanted) == 0, "%s, read by a thread", name);
    if (strcmp(plain, wanted) != 0) {
        show("expected", wanted);
        show("got", plain);
    }
    free(got);
    free(plain);
    free(wanted);
}

void expect(const char *name, const char *path, const char *settings, const char *text)
{
    char *got = dump(path, settings);
    bool good = strcmp(got, text) == 0;
    CHECK(good, "%s", name);
    if (!good) {
        show("expected", text);
        show("got", got);
    }
    expect_same_from_thread(name, path, settings, got);
    free(got);
}

void expect_failure(const char *name, const char *path, const char *settings, keepfit_status status, uint64_t line,
                    uint64_t column, const char *fragment)
{
    char *got = dump(path, settings), start[96];
    snprintf(start, sizeof start, "%s %llu:%llu ", keepfit_status_name(status), (unsigned long long)line,
             (unsigned long long)column);
    const char *last = got;
    for (const char *at = got; (at = strchr(at, '\n')) && at[1];)
        last = ++at;
    bool good = strncmp(last, start, strlen(start)) == 0 && strstr(last, fragment);
    CHECK(good, "%s", name);
    if (!good) {
        show("expected", start);
        show("\n# with", fragment);
        show("\n# got", got);
    }
    free(got);
}
