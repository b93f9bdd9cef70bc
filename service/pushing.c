#define _GNU_SOURCE /* getentropy */
#include "service/pushing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/http.h"
#include "service/json.h"
#include "toolkit/exit_code.h"
#include "toolkit/output.h"

#define BODY_MOST ((size_t)16 << 20)
#define WAIT_MOST 30000 /* milliseconds */

struct sending {
    const struct pushing *pushing;
    struct http http;
    FILE *file;
    const char *name, *type;
    char *line;
    size_t capacity;
    struct text head; /* the names of CSV, which each request repeats */
    struct text body;
    char token[300];
    uint64_t run, number, rows, sent, line_number, first_line;
};

/* ---- what kind of file it is ---- */

static bool ends_with(const char *path, const char *extension)
{
    size_t length = strlen(path), more = strlen(extension);
    return length >= more && strcmp(path + length - more, extension) == 0;
}

static const char *type_of(const char *format)
{
    return strcmp(format, "csv") == 0     ? "text/csv"
           : strcmp(format, "jsonl") == 0 ? "application/x-ndjson"
                                          : "application/x-libsvm";
}

/* By the format that was given, the file's name, or its first line. */
static const char *find_type(const struct pushing *pushing, const char *line)
{
    if (strcmp(pushing->format, "auto") != 0)
        return type_of(pushing->format);
    if (ends_with(pushing->path, ".csv") || ends_with(pushing->path, ".tsv"))
        return type_of("csv");
    if (ends_with(pushing->path, ".jsonl") || ends_with(pushing->path, ".ndjson"))
        return type_of("jsonl");
    const char *at = line + strspn(line, " \t");
    return *at == '{' ? type_of("jsonl") : strchr(line, ',') ? type_of("csv") : type_of("libsvm");
}

/* ---- sending ---- */

static void wait_milliseconds(uint64_t milliseconds)
{
    struct timespec left = {.tv_sec = (time_t)(milliseconds / 1000), .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* The message in {"error": {...}}, as far as it is one. */
static void read_error(const struct text *body, char *message, size_t room, char *at, size_t at_room)
{
    struct json json = {0};
    json_begin(&json, body->at, body->count);
    snprintf(message, room, "%s", "(without a word)");
    at[0] = '\0';
    json_open(&json, '{');
    if (json_member(&json) && json_name_is(&json, "error") && json_open(&json, '{'))
        while (json_member(&json)) {
            bool is_message = json_name_is(&json, "message"), is_at = json_name_is(&json, "at");
            if (!json_string(&json))
                break;
            if (is_message)
                snprintf(message, room, "%s", json.string.at);
            if (is_at)
                snprintf(at, at_room, "%s", json.string.at);
        }
    json_free(&json);
}

static int refuse(const struct sending *sending, const struct http_answer *answer)
{
    char message[600], at[80];
    read_error(&answer->body, message, sizeof message, at, sizeof at);
    int code = answer->status == 400 || answer->status == 413 || answer->status == 422 ? EXIT_DATA : EXIT_FAILED;
    return fail(code,
                "%s: the rows from line %" PRIu64 " on were refused (%u): %s%s%s; %" PRIu64 " rows before them %s",
                sending->name, sending->first_line, answer->status, message, at[0] ? ", at " : "", at, sending->sent,
                sending->pushing->predictions ? "were predicted" : "are learnt");
}

/* Predictions, one a line. */
static int print_predictions(const struct http_answer *answer)
{
    struct json json = {0};
    json_begin(&json, answer->body.at, answer->body.count);
    json_open(&json, '[');
    while (json_element(&json)) {
        json_next(&json);
        json_open(&json, '{');
        while (json_member(&json)) {
            bool it = json_name_is(&json, "prediction");
            char sign = json_next(&json);
            const char *from = json.at;
            if (it && sign == '"') {
                json_string(&json);
                plain_text(stdout, json.string.at ? json.string.at : "");
                putchar('\n');
            } else if (json_skip(&json) && it) {
                printf("%.*s\n", (int)(json.at - from), from);
            }
        }
    }
    bool good = json_end(&json);
    json_free(&json);
    return good ? EXIT_DONE : fail(EXIT_FAILED, "the service's answer makes no sense");
}

/* What may be sent again: what did not get through, and what the service has no room or time for. */
static bool again_may_help(bool through, const struct http_answer *answer)
{
    return !through || answer->status == 429 || answer->status == 503;
}

static int send_batch(struct sending *sending)
{
    char key[64];
    const struct pushing *pushing = sending->pushing;
    struct http_answer answer = {0};
    snprintf(key, sizeof key, "%016" PRIx64 "-%" PRIu64, sending->run, sending->number++);
    const struct http_request request = {
        .path = pushing->predictions ? "/v1/predict" : "/v1/points",
        .type = sending->type,
        .token = sending->token[0] ? sending->token : NULL,
        .key = pushing->predictions ? NULL : key,
        .body = sending->body.at,
        .count = sending->body.count,
    };
    uint64_t wait = 100;
    bool through = false;
    for (uint64_t attempt = 0;; attempt++) {
        through = http_ask(&sending->http, &request, &answer);
        if (!again_may_help(through, &answer) || attempt == pushing->retries)
            break;
        uint64_t least = through ? 1000 * (uint64_t)answer.retry_after : 0;
        wait_milliseconds(wait > least ? wait : least);
        wait = 2 * wait < WAIT_MOST ? 2 * wait : WAIT_MOST;
    }
    int code = EXIT_DONE;
    if (!through)
        code = fail(EXIT_FAILED,
                    "%s: the rows from line %" PRIu64 " on did not get through to %s: %s (tried %" PRIu64
                    " times); %" PRIu64 " rows before them did",
                    sending->name, sending->first_line, pushing->url, sending->http.wrong, pushing->retries + 1,
                    sending->sent);
    else if (answer.status != 200)
        code = refuse(sending, &answer);
    else if (pushing->predictions)
        code = print_predictions(&answer);
    sending->sent += code == EXIT_DONE ? sending->rows : 0;
    text_free(&answer.body);
    return code;
}

/* ---- reading ---- */

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

static void begin_body(struct sending *sending)
{
    sending->body.count = 0;
    sending->rows = 0;
    text_add(&sending->body, sending->head.at, sending->head.count);
}

static void take_line(struct sending *sending, size_t length)
{
    if (sending->rows == 0)
        sending->first_line = sending->line_number;
    text_add(&sending->body, sending->line, length);
    if (length && sending->line[length - 1] != '\n')
        text_put(&sending->body, "\n");
    sending->rows++;
}

/* A first line with a number in it is a row, not names. */
static bool has_number(const char *line)
{
    while (*line) {
        char *end;
        size_t length = strcspn(line, ",;\t\r\n");
        strtod(line, &end);
        if (end > line && (size_t)(end - line) == length)
            return true;
        line += length + (line[length] != '\0');
    }
    return false;
}

static int send_all(struct sending *sending)
{
    ssize_t length;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && (length = getline(&sending->line, &sending->capacity, sending->file)) >= 0) {
        sending->line_number++;
        if (is_blank(sending->line))
            continue;
        if (!sending->type) {
            sending->type = find_type(sending->pushing, sending->line);
            if (strcmp(sending->type, "text/csv") == 0 && !has_number(sending->line)) {
                text_add(&sending->head, sending->line, (size_t)length);
                begin_body(sending);
                continue;
            }
        }
        take_line(sending, (size_t)length);
        if (sending->rows < sending->pushing->batch && sending->body.count < BODY_MOST)
            continue;
        code = send_batch(sending);
        begin_body(sending);
    }
    if (code == EXIT_DONE && ferror(sending->file))
        return fail(EXIT_FAILED, "%s: %s", sending->name, strerror(errno));
    if (sending->body.failed || sending->head.failed)
        return fail(EXIT_FAILED, "out of memory");
    return code == EXIT_DONE && sending->rows ? send_batch(sending) : code;
}

static int read_token(struct sending *sending)
{
    FILE *file = sending->pushing->token ? fopen(sending->pushing->token, "re") : NULL;
    if (!sending->pushing->token)
        return EXIT_DONE;
    if (!file)
        return fail(EXIT_FAILED, "%s: %s", sending->pushing->token, strerror(errno));
    bool there = fscanf(file, "%299s", sending->token) == 1;
    fclose(file);
    return there ? EXIT_DONE : fail(EXIT_USAGE, "%s: there is no token in it", sending->pushing->token);
}

static int open_all(struct sending *sending)
{
    const struct pushing *pushing = sending->pushing;
    bool standard = strcmp(pushing->path, "-") == 0;
    if (!http_parse(&sending->http, pushing->url))
        return fail(EXIT_USAGE, "'%s' is not http://HOST:PORT", pushing->url);
    if (getentropy(&sending->run, sizeof sending->run) < 0)
        return fail(EXIT_FAILED, "no random number: %s", strerror(errno));
    sending->name = standard ? "<stdin>" : pushing->path;
    sending->file = standard ? stdin : fopen(pushing->path, "re");
    if (!sending->file)
        return fail(EXIT_FAILED, "%s: %s", pushing->path, strerror(errno));
    return read_token(sending);
}

int pushing_run(const struct pushing *pushing)
{
    struct sending sending = {.pushing = pushing, .http.file = -1};
    int code = open_all(&sending);
    if (code == EXIT_DONE)
        code = send_all(&sending);
    if (code == EXIT_DONE && !pushing->quiet && !pushing->predictions)
        fprintf(stderr, "%" PRIu64 " points sent\n", sending.sent);
    if (pushing->predictions)
        code = finish_standard_output(code);
    http_close(&sending.http);
    if (sending.file && sending.file != stdin)
        fclose(sending.file);
    free(sending.line);
    text_free(&sending.head);
    text_free(&sending.body);
    return code;
}
