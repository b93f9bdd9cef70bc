/* Stopping: a fit from another thread and from a signal handler, and what reads, wherever it is at that time. Who does not
 * stop is at it for minutes, and is ended by the test's time limit. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#define ROWS 200
#define WIDTH 20
#define SLOWNESS 100000 /* nanoseconds a gradient */

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* ---- a fit ---- */

/* (a.x - b)^2/2, so slowly that a stage which goes on to its end takes minutes. */
static double residual(const double *x, const keepfit_point *point)
{
    double sum = -point->target;
    for (size_t k = 0; k < point->row.count; k++)
        sum += x[k] * point->row.value[k];
    return sum;
}

static int slow_value(void *context, const double *x, const keepfit_point *point, double *value)
{
    double r = residual(x, point);
    (void)context;
    *value = r * r / 2;
    return 0;
}

static int slow_gradient(void *context, const double *x, const keepfit_point *point, double *gradient)
{
    double r = residual(x, point);
    (void)context;
    nanosleep(&(struct timespec){.tv_nsec = SLOWNESS}, NULL);
    for (size_t k = 0; k < point->row.count; k++)
        gradient[k] = r * point->row.value[k];
    return 0;
}

static int slow_curvature(void *context, const keepfit_point *point, double *curvature)
{
    (void)context;
    *curvature = 0;
    for (size_t k = 0; k < point->row.count; k++)
        *curvature += point->row.value[k] * point->row.value[k];
    return 0;
}

static keepfit_fit *slow_fit(const char *settings)
{
    keepfit_objective objective = {
        .dimension = WIDTH, .value = slow_value, .gradient = slow_gradient, .curvature = slow_curvature};
    keepfit_options *options = options_from(settings);
    keepfit_fit *fit = NULL;
    TAP_NEED(keepfit_fit_create_custom(options, &objective, &fit, NULL) == KEEPFIT_OK);
    keepfit_options_free(options);
    return fit;
}

static keepfit_fit *at_work;

static void on_alarm(int number)
{
    (void)number;
    keepfit_fit_stop(at_work);
}

static void by_signal(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL);
}

static void *stop_soon(void *context)
{
    pause_briefly();
    keepfit_fit_stop(context);
    return NULL;
}

static void report_of(const keepfit_fit *fit, keepfit_report *report)
{
    keepfit_fit_report(fit, report);
}

struct rows {
    keepfit_block block;
    double value[ROWS * WIDTH], target[ROWS];
};

static struct rows *rows_of(const struct cloud *cloud)
{
    struct rows *rows = calloc(1, sizeof *rows);
    TAP_NEED(rows);
    for (size_t j = 0; j < ROWS; j++) {
        memcpy(rows->value + j * WIDTH, cloud->point[j].row.value, WIDTH * sizeof(double));
        rows->target[j] = cloud->point[j].target;
    }
    rows->block.count = ROWS;
    rows->block.features = rows->block.stride = WIDTH;
    rows->block.value = rows->value;
    rows->block.target = rows->target;
    return rows;
}

/* Whoever it is, the stage ends. */
static void test_fit(struct tap *tap, bool signalled)
{
    const char *who = signalled ? "a signal handler" : "another thread";
    struct cloud *cloud = cloud_make("squared", ROWS, WIDTH, false, false, 3);
    struct rows *rows = rows_of(cloud);
    keepfit_fit *fit = at_work = slow_fit("lambda=1e-9 epsilon=1e-12");
    pthread_t thread;
    keepfit_report report = {.struct_size = sizeof report};
    size_t pushed = 0;
    if (signalled)
        by_signal();
    else
        TAP_NEED(pthread_create(&thread, NULL, stop_soon, fit) == 0);
    keepfit_status status = keepfit_fit_extend(fit, &rows->block, &pushed);
    if (!signalled)
        pthread_join(thread, NULL);
    report_of(fit, &report);
    tap_check(tap,
              status == KEEPFIT_OK && pushed == ROWS && report.points == ROWS &&
                  report.outcome == KEEPFIT_STAGE_STOPPED && report.proved == 0,
              "%s ends a long stage: all points are in, and the outcome says so (%d, %zu, %d)", who, status, pushed,
              report.outcome);
    status = keepfit_fit_push_block(fit, cloud->point, 3, &pushed);
    report_of(fit, &report);
    tap_check(tap, status == KEEPFIT_STOPPED && !keepfit_failed(status) && pushed == 0 && report.points == ROWS,
              "%s: until it is over no point goes in, which is no failure", who);
    keepfit_fit_resume(fit);
    keepfit_fit_free(fit);
    free(rows);
    free(cloud);
}

static void test_outcomes(struct tap *tap)
{
    static const struct {
        const char *settings;
        keepfit_outcome outcome;
    } cases[] = {{"lambda=0.1 epsilon=1e-3", KEEPFIT_STAGE_PROVED},
                 {"lambda=0.1 method=sgd", KEEPFIT_STAGE_NONE},
                 {"lambda=0.1 epsilon=1e-3 guarantee=estimate method=table", KEEPFIT_STAGE_UNPROVED},
                 {"loss=logistic lambda=1e-6 epsilon=1e-10 method=table stage-budget=100", KEEPFIT_STAGE_MISSED}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct cloud *cloud =
            cloud_make(strstr(cases[k].settings, "logistic") ? "logistic" : "squared", 60, 5, false, false, 4);
        keepfit_fit *fit = fit_from(cases[k].settings);
        keepfit_report before = {.struct_size = sizeof before}, report = {.struct_size = sizeof report};
        report_of(fit, &before);
        bool fine = true;
        for (size_t j = 0; j < 60; j++)
            fine = fine && keepfit_fit_push(fit, &cloud->point[j]) == KEEPFIT_OK;
        report_of(fit, &report);
        tap_check(tap, fine && before.outcome == KEEPFIT_STAGE_NONE && report.outcome == cases[k].outcome,
                  "%s: the outcome is %d", cases[k].settings, report.outcome);
        keepfit_fit_free(fit);
        free(cloud);
    }
    struct cloud *cloud = cloud_make("logistic", 60, 5, false, false, 4);
    keepfit_fit *fit = fit_from("loss=logistic intercept=true");
    keepfit_report report = {.struct_size = sizeof report};
    TAP_NEED(keepfit_fit_push(fit, &cloud->point[0]) == KEEPFIT_OK);
    report_of(fit, &report);
    tap_check(tap, report.outcome == KEEPFIT_STAGE_WAITING && report.waiting == 1, "one class: the stage waits");
    keepfit_fit_free(fit);
    free(cloud);
}

/* ---- journals ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

/* A stage that was cut would not end at the same place again, so it is not run again. */
static void test_cut_stage(struct tap *tap, const char *folder)
{
    char settings[128];
    struct cloud *cloud = cloud_make("squared", ROWS, WIDTH, false, false, 3);
    struct rows *rows = rows_of(cloud);
    snprintf(settings, sizeof settings, "lambda=1e-9 epsilon=1e-12 journal=%s", folder);
    keepfit_fit *fit = slow_fit(settings);
    pthread_t thread;
    size_t size, again;
    double x[WIDTH];
    TAP_NEED(pthread_create(&thread, NULL, stop_soon, fit) == 0);
    keepfit_status status = keepfit_fit_extend(fit, &rows->block, NULL);
    pthread_join(thread, NULL);
    memcpy(x, keepfit_fit_iterate(fit, &size), sizeof x);
    keepfit_fit_free(fit);
    fit = slow_fit(settings);
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_fit_durability(fit, &durability);
    const double *resumed = keepfit_fit_iterate(fit, &again);
    keepfit_report report = {.struct_size = sizeof report};
    report_of(fit, &report);
    tap_check(tap,
              status == KEEPFIT_OK && size == WIDTH && again == WIDTH && durability.resumed == ROWS &&
                  durability.replayed == 0 && memcmp(x, resumed, sizeof x) == 0 &&
                  report.outcome == KEEPFIT_STAGE_STOPPED,
              "a journal takes up a stage that was cut where it was");
    keepfit_fit_free(fit);
    free(rows);
    free(cloud);
}

static void test_taking_over(struct tap *tap, const char *folder)
{
    char settings[128];
    struct cloud *cloud = cloud_make("squared", ROWS, WIDTH, false, false, 3);
    snprintf(settings, sizeof settings, "journal=%s", folder);
    keepfit_fit *fit = fit_from(settings);
    push_range(fit, cloud, 0, ROWS);
    keepfit_fit_free(fit);
    fit = NULL;
    keepfit_stop *stop = keepfit_stop_create();
    keepfit_options *options = options_from(settings);
    keepfit_model *model = NULL;
    keepfit_options_stop(options, stop);
    keepfit_stop_raise(stop);
    bool ended = keepfit_fit_create(options, &fit, NULL) == KEEPFIT_STOPPED && !fit;
    bool both = keepfit_journal_model(folder, options, &model, NULL) == KEEPFIT_STOPPED && !model;
    tap_check(tap, ended && both, "a journal is no longer taken over");
    keepfit_stop_lower(stop);
    tap_check(tap, keepfit_fit_create(options, &fit, NULL) == KEEPFIT_OK, "and is, later");
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    keepfit_stop_free(stop);
    free(cloud);
}

static void test_journals(struct tap *tap)
{
    static void (*const tests[])(struct tap *, const char *) = {test_cut_stage, test_taking_over};
    for (size_t k = 0; k < sizeof tests / sizeof tests[0]; k++) {
        char folder[] = "/tmp/keepfit-stop-XXXXXX";
        TAP_NEED(mkdtemp(folder));
        tests[k](tap, folder);
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

/* ---- what reads ---- */

static void *raise_soon(void *context)
{
    pause_briefly();
    keepfit_stop_raise(context);
    return NULL;
}

static keepfit_options *options_with(keepfit_stop *stop)
{
    keepfit_options *options = keepfit_options_create();
    if (options)
        keepfit_options_stop(options, stop);
    return options;
}

/* A pipe whose writer says nothing more. */
static void test_wait(struct tap *tap)
{
    int ends[2], saved = dup(STDIN_FILENO);
    static const char text[] = "1 1:1\n2 1:2\n";
    keepfit_stop *stop = keepfit_stop_create();
    keepfit_options *options = options_with(stop);
    keepfit_stream *stream = NULL;
    keepfit_point point;
    pthread_t thread;
    TAP_NEED(stop && options && pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) >= 0);
    TAP_NEED(write(ends[1], text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    TAP_NEED(keepfit_stream_open("-", options, &stream, NULL) == KEEPFIT_OK);
    bool came = keepfit_stream_next(stream, &point) == KEEPFIT_OK && keepfit_stream_next(stream, &point) == KEEPFIT_OK;
    TAP_NEED(pthread_create(&thread, NULL, raise_soon, stop) == 0);
    keepfit_status status = keepfit_stream_next(stream, &point);
    pthread_join(thread, NULL);
    tap_check(tap, came && status == KEEPFIT_STOPPED, "a wait for input ends");
    tap_check(tap, keepfit_stop_is_raised(stop) && keepfit_stream_next(stream, &point) == KEEPFIT_STOPPED,
              "and the stream gives no more points");
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    keepfit_stop_free(stop);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
}

static uint64_t write_points(const char *path, uint64_t lines)
{
    FILE *file = fopen(path, "w");
    for (uint64_t k = 0; file && k < lines; k++)
        fprintf(file, "%d 1:%d 2:0.123456789\n", (int)(k % 2), (int)(k % 97));
    return file && fclose(file) == 0 ? lines : 0;
}

/* A file, read by a thread of its own or not: what has been read may still come, then it ends, long before the file does. The
 * options and the stop itself may be gone by then. */
static void test_file(struct tap *tap, const char *path, const char *threads)
{
    uint64_t lines = 200000, points = 0;
    keepfit_stop *stop = keepfit_stop_create();
    keepfit_options *options = options_with(stop);
    keepfit_stream *stream = NULL;
    keepfit_point point;
    keepfit_status status;
    TAP_NEED(stop && options && keepfit_options_set(options, "threads", threads, NULL) == KEEPFIT_OK);
    TAP_NEED(keepfit_stream_open(path, options, &stream, NULL) == KEEPFIT_OK);
    keepfit_options_free(options);
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        if (++points == 1000) {
            keepfit_stop_raise(stop);
            keepfit_stop_free(stop);
        }
    tap_check(tap, status == KEEPFIT_STOPPED && points >= 1000 && points < lines / 2,
              "a file ends when it is told to, with %s threads (after %llu points)", threads,
              (unsigned long long)points);
    keepfit_stream_close(stream);
}

static void test_whole_file(struct tap *tap, const char *path)
{
    keepfit_stop *stop = keepfit_stop_create();
    keepfit_options *options = options_with(stop);
    keepfit_stream *stream = NULL;
    keepfit_model *model = NULL;
    keepfit_error error = {0};
    TAP_NEED(options && keepfit_stream_open(path, options, &stream, NULL) == KEEPFIT_OK);
    keepfit_stop_raise(stop);
    tap_check(tap, keepfit_stream_read_all(stream) == KEEPFIT_STOPPED, "so does reading all of it");
    keepfit_stream_close(stream);
    keepfit_status status = keepfit_train_file(path, options, &model, &error);
    tap_check(tap, status == KEEPFIT_STOPPED && !model, "and training from it: %s", error.message);
    keepfit_stop_lower(stop);
    TAP_NEED(keepfit_stream_open(path, options, &stream, NULL) == KEEPFIT_OK);
    tap_check(tap, keepfit_stream_read_all(stream) == KEEPFIT_OK, "once it is lowered, streams are read again");
    keepfit_stream_close(stream);
    keepfit_options_free(options);
    keepfit_stop_free(stop);
}

int main(void)
{
    struct tap tap = {0};
    char path[] = "/tmp/keepfit-stop-XXXXXX";
    int file = mkstemp(path);
    test_outcomes(&tap);
    test_fit(&tap, false);
    test_fit(&tap, true);
    test_journals(&tap);
    test_wait(&tap);
    bool written = file >= 0 && close(file) == 0 && write_points(path, 200000);
    tap_check(&tap, written, "a file of points is there");
    if (written) {
        test_file(&tap, path, "1");
        test_file(&tap, path, "2");
        test_whole_file(&tap, path);
    }
    unlink(path);
    keepfit_stop_raise(NULL);
    keepfit_stop_lower(NULL);
    keepfit_stop_free(NULL);
    tap_check(&tap, !keepfit_stop_is_raised(NULL), "no stop is never raised");
    return tap_end(&tap);
}
