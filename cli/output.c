#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"

static void say(const char *prefix, const char *format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "keepfit: %s", prefix);
    vfprintf(stderr, format, arguments);
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
    size_t room = strlen(path) + sizeof ".XXXXXX";
    output->temporary = malloc(room);
    if (!output->temporary)
        return fail(EXIT_FAILED, "out of memory");
    snprintf(output->temporary, room, "%s.XXXXXX", path);
    int descriptor = mkstemp(output->temporary);
    if (descriptor >= 0 && fchmod(descriptor, 0644) == 0)
        output->file = fdopen(descriptor, "w");
    if (output->file)
        return EXIT_DONE;
    int code = failed_on(path);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(output->temporary);
    }
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
    *output = (struct output){.path = output->path};
}

int output_commit(struct output *output)
{
    bool whole = fflush(output->file) == 0 && !ferror(output->file);
    int code = whole ? EXIT_DONE : failed_on(output->path);
    if (output->file != stdout && fclose(output->file) != 0 && whole)
        code = failed_on(output->path);
    output->file = NULL;
    if (code == EXIT_DONE && output->temporary && rename(output->temporary, output->path) != 0)
        code = failed_on(output->path);
    if (code == EXIT_DONE) {
        free(output->temporary);
        output->temporary = NULL;
    }
    output_discard(output);
    return code;
}

int finish_standard_output(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE)
        return fail(EXIT_FAILED, "standard output: cannot write: %s", strerror(errno));
    return code;
}

void json_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

void json_number(FILE *file, double number)
{
    if (isfinite(number))
        fprintf(file, "%.17g", number);
    else
        fputs("null", file);
}
