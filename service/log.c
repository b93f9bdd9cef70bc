#define _POSIX_C_SOURCE 200809L
#include "service/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/text.h"

struct log {
    pthread_mutex_t lock;
    char *path; /* NULL: standard error */
    int file;
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

struct log *log_open(const char *path)
{
    struct log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->file = STDERR_FILENO;
    if (path && (!(log->path = strdup(path)) || (log->file = open_file(path)) < 0)) {
        free(log->path);
        free(log);
        return NULL;
    }
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

void log_reopen(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    int file = log->path ? open_file(log->path) : -1;
    if (file >= 0) {
        close(log->file);
        log->file = file;
    }
    pthread_mutex_unlock(&log->lock);
}

void log_close(struct log *log)
{
    if (!log)
        return;
    if (log->path)
        close(log->file);
    pthread_mutex_destroy(&log->lock);
    free(log->path);
    free(log);
}

void log_line(struct log *log, const char *level, const char *format, ...)
{
    struct text line = {0};
    struct timespec now;
    struct tm parts;
    char message[700];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    text_printf(
        &line, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ\",\"level\":\"%s\",\"message\":", parts.tm_year + 1900,
        parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000, level);
    text_string(&line, message);
    text_put(&line, "}\n");
    pthread_mutex_lock(&log->lock);
    ssize_t written = line.failed ? -1 : write(log->file, line.at, line.count);
    pthread_mutex_unlock(&log->lock);
    (void)written; /* a log that cannot be written stops nobody */
    text_free(&line);
}
