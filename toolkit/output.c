#define _XOPEN_SOURCE 700 /* realpath */
#include "toolkit/output.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolkit/exit_code.h"

#define MESSAGE_MOST 8192 /* longer than a path and what is said of it */

/* How many bytes of UTF-8 the character has that begins here; 0: it is none. */
static size_t character_bytes(const unsigned char *at)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < 4; more++) {
        if ((*at & forms[more].mask) != forms[more].lead)
            continue;
        uint32_t code = *at & (unsigned char)~forms[more].mask;
        for (size_t k = 1; k <= more; k++) {
            if ((at[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[k] & 0x3f);
        }
        bool good = code >= forms[more].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
        return good ? more + 1 : 0;
    }
    return 0;
}

void plain_text(FILE *file, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t bytes = character_bytes(at);
        bool control = *at < 0x20 || *at == 0x7f || (bytes == 2 && *at == 0xc2 && at[1] < 0xa0);
        if (bytes && !control)
            fwrite(at, 1, bytes, file);
        else
            for (size_t k = 0; k < (bytes ? bytes : 1); k++)
                fprintf(file, "\\x%02x", at[k]);
        at += bytes ? bytes : 1;
    }
}

static void say(const char *prefix, const char *format, va_list arguments)
{
    char text[MESSAGE_MOST];
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    fprintf(stderr, "keepfit: %s", prefix);
    plain_text(stderr, text);
    fputc('\n', stderr);
}

int fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
    return code;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("warning: ", format, arguments);
    va_end(arguments);
}

int fail_choice(const char *what, const char *value, const char *choices)
{
    keepfit_guess guess = {.word = value};
    keepfit_guess_offer(&guess, choices);
    return fail(EXIT_USAGE, "%s: '%s' is none of %s%s", what, value, choices, keepfit_guess_hint(&guess, ""));
}

void warn_cut(const keepfit_stream_info *info)
{
    unsigned long long line = info->cut;
    if (line && info->cut_taken)
        warn("%s:%llu: the last line has no newline at its end; it was taken as it is, but the file may have been cut "
             "there (--strict-end refuses that)",
             info->name, line);
    else if (line)
        warn(
            "%s:%llu: the last line has no newline at its end, so it may have been cut, and was left out (--accept-cut "
            "takes it)",
            info->name, line);
}

struct message message_of(const keepfit_error *error)
{
    struct message said = {""};
    size_t length = 0, from = 0;
    for (size_t k = 0; k < error->options; k++) {
        size_t at = error->option[k].at, key = error->option[k].key, end = at + error->option[k].length;
        bool valued = at + key < end; /* "method=csvrg" */
        length += (size_t)snprintf(said.text + length, sizeof said.text - length, "%.*s--%.*s%s%.*s", (int)(at - from),
                                   error->message + from, (int)key, error->message + at, valued ? " " : "",
                                   valued ? (int)(end - at - key - 1) : 0, error->message + at + key + valued);
        from = end;
    }
    snprintf(said.text + length, sizeof said.text - length, "%s", error->message + from);
    return said;
}

int fail_status(keepfit_status status, const char *message)
{
    int code = EXIT_FAILED;
    if (status == KEEPFIT_USAGE)
        code = EXIT_USAGE;
    else if (status == KEEPFIT_DATA)
        code = EXIT_DATA;
    else if (status == KEEPFIT_CORRUPT)
        code = EXIT_CORRUPT;
    return fail(code, "%s", *message ? message : keepfit_status_sentence(status));
}

static int failed_on(const char *path)
{
    return fail(EXIT_FAILED, "%s: cannot write: %s", path, strerror(errno));
}

int output_open(struct output *output, const char *path)
{
    struct stat old;
    *output = (struct output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return EXIT_DONE;
    }
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        output->file = fopen(path, "w");
        return output->file ? EXIT_DONE : failed_on(path);
    }
    output->target = realpath(path, NULL); /* a link keeps pointing to its file */
    const char *target = output->target ? output->target : path;
    size_t room = strlen(target) + 40;
    output->temporary = malloc(room);
    if (!output->temporary)
        return fail(EXIT_FAILED, "out of memory");
    snprintf(output->temporary, room, "%s.new-%ld", target, (long)getpid());
    output->file = fopen(output->temporary, "w");
    if (output->file)
        return EXIT_DONE;
    int code = failed_on(path);
    free(output->temporary);
    output->temporary = NULL;
    return code;
}

void output_discard(struct output *output)
{
    if (output->file && output->file != stdout)
        fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->target);
    *output = (struct output){.path = output->path};
}

int output_commit(struct output *output)
{
    bool whole = fflush(output->file) == 0 && !ferror(output->file);
    int code = whole ? EXIT_DONE : failed_on(output->path);
    if (output->file != stdout && fclose(output->file) != 0 && whole)
        code = failed_on(output->path);
    output->file = NULL;
    if (code == EXIT_DONE && output->temporary &&
        rename(output->temporary, output->target ? output->target : output->path) != 0)
        code = failed_on(output->path);
    if (code == EXIT_DONE) {
        free(output->temporary);
        output->temporary = NULL;
    }
    output_discard(output);
    return code;
}

int make_folder(const char *path)
{
    struct stat there;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode)))
        return EXIT_DONE;
    return fail(EXIT_FAILED, "%s: cannot create the folder: %s", path, strerror(errno));
}

char *path_in(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s/%s", folder, name);
    return path;
}

int finish_standard_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code != EXIT_FAILED) /* which has given its reason, most likely this one */
        fail(EXIT_FAILED, "standard output: cannot write: %s", strerror(errno));
    return code == EXIT_DONE || code == EXIT_NOT_REACHED ? EXIT_FAILED : code;
}

void csv_text(FILE *file, const char *text)
{
    size_t length = strlen(text);
    bool plain = text[strcspn(text, ",\"\r\n\t;#")] == '\0' && (!length || (*text != ' ' && text[length - 1] != ' '));
    if (plain) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void json_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t bytes = character_bytes(at);
        if (bytes == 0)
            fputs("\\ufffd", file); /* names come from files, which may hold anything */
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, bytes, file);
        at += bytes ? bytes : 1;
    }
    fputc('"', file);
}

void json_number(FILE *file, double number)
{
    if (isfinite(number))
        fprintf(file, "%.17g", number);
    else
        fputs("null", file);
}
