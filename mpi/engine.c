/* Everything waits with its eyes open: an exchange is begun, and looked at until it is done, so that a rank that has left, or is
 * lost, ends the wait. Who waits long sleeps a little between looks, so that ranks may be more than processors. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keepfit-mpi.h"

#define TIMEOUT_USUAL 300
#define GRACE 10          /* seconds that others have to get where a rank has left from */
#define LOOKS_AT_ONCE 200 /* before the processor is given to others */
#define SLEEP_FROM 2e-3   /* seconds, */
#define SLEEP_NANOSECONDS 50000
#define LOOKS_FOR_LEAVERS 1024

static struct {
    keepfit_team team;
    MPI_Comm sums, leaving;
    double timeout;
    int *counts, *begins;
} mpi;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(void *context, const char *message)
{
    (void)context;
    fprintf(stderr, "keepfit-mpi: rank %zu: %s; the job ends (what a journal has acknowledged is safe)\n",
            mpi.team.rank, message);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void need(int result, const char *what)
{
    char text[MPI_MAX_ERROR_STRING], message[MPI_MAX_ERROR_STRING + 80];
    int length = 0;
    if (result == MPI_SUCCESS)
        return;
    MPI_Error_string(result, text, &length);
    snprintf(message, sizeof message, "%s: %.*s", what, length, text);
    fail(NULL, message);
}

/* A rank that has left takes part in nothing any more. */
static void look_for_leavers(double *left_at)
{
    int there = 0;
    MPI_Status status;
    if (*left_at > 0 && now() - *left_at > GRACE)
        fail(NULL, "another rank has ended, while this one goes on");
    if (*left_at > 0)
        return;
    need(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi.leaving, &there, &status), "looking for the others");
    if (there)
        *left_at = now();
}

/* Waits; `say`, if any, is called where that takes long. */
static void wait_for(MPI_Request *request, const char *what, bool watches, void (*say)(void))
{
    double begin = now(), left_at = 0;
    int done = 0;
    for (unsigned long looks = 1; !done; looks++) {
        need(MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
        if (done || looks % LOOKS_AT_ONCE)
            continue;
        double waited = now() - begin;
        if (watches && looks % LOOKS_FOR_LEAVERS < LOOKS_AT_ONCE)
            look_for_leavers(&left_at);
        if (say && waited > GRACE / 2) {
            say();
            say = NULL;
        }
        if (waited > mpi.timeout)
            fail(NULL, "another rank has not answered in time");
        if (waited > SLEEP_FROM)
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NANOSECONDS}, NULL);
        else
            sched_yield();
    }
}

static void broadcast(void *context, size_t from, void *bytes, size_t count)
{
    (void)context;
    for (size_t at = 0, each = 1 << 30, part; at < count; at += part) {
        MPI_Request request;
        part = count - at < each ? count - at : each;
        need(MPI_Ibcast((char *)bytes + at, (int)(part / sizeof(double)), MPI_DOUBLE, (int)from, mpi.sums, &request),
             "a broadcast");
        wait_for(&request, "a broadcast", true, NULL);
    }
}

static void gather(void *context, const void *own, const size_t *counts, void *all)
{
    size_t total = 0;
    (void)context;
    for (size_t r = 0; r < mpi.team.size; r++) {
        mpi.counts[r] = (int)(counts[r] / sizeof(double));
        mpi.begins[r] = (int)total;
        total += counts[r] / sizeof(double);
    }
    if (total > INT_MAX)
        fail(NULL, "more than 16 GB in one exchange");
    MPI_Request request;
    need(MPI_Iallgatherv(own, mpi.counts[mpi.team.rank], MPI_DOUBLE, all, mpi.counts, mpi.begins, MPI_DOUBLE, mpi.sums,
                         &request),
         "a gathering");
    wait_for(&request, "a gathering", true, NULL);
}

static double setting(const char *name, double usual)
{
    const char *text = getenv(name);
    char *end;
    double value = text ? strtod(text, &end) : usual;
    if (text && (*end || !(value > 0) || !*text))
        fail(NULL, "KEEPFIT_MPI_TIMEOUT and KEEPFIT_MPI_BLOCK are numbers above 0");
    return value;
}

const keepfit_team *keepfit_mpi_join(int *count, char ***words)
{
    int level, rank, size;
    need(MPI_Init_thread(count, words, MPI_THREAD_FUNNELED, &level), "the start of MPI");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mpi.team = (keepfit_team){.struct_size = sizeof mpi.team,
                              .rank = (size_t)rank,
                              .size = (size_t)size,
                              .broadcast = broadcast,
                              .gather = gather,
                              .fail = fail,
                              .block_bits = (unsigned)setting("KEEPFIT_MPI_BLOCK", 12)};
    mpi.timeout = setting("KEEPFIT_MPI_TIMEOUT", TIMEOUT_USUAL);
    mpi.counts = calloc((size_t)size, sizeof *mpi.counts);
    mpi.begins = calloc((size_t)size, sizeof *mpi.begins);
    if (!mpi.counts || !mpi.begins)
        fail(NULL, "out of memory");
    need(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.sums), "the start of MPI");
    need(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.leaving), "the start of MPI");
    MPI_Comm_set_errhandler(mpi.sums, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mpi.leaving, MPI_ERRORS_RETURN);
    return &mpi.team;
}

int keepfit_mpi_leave(int code, void (*say)(void))
{
    int size = (int)mpi.team.size, rank = (int)mpi.team.rank, own = code, result = code;
    int *codes = calloc((size_t)size, sizeof *codes);
    MPI_Request *sent = calloc((size_t)size, sizeof(MPI_Request));
    if (!codes || !sent)
        fail(NULL, "out of memory");
    for (int r = 0; r < size; r++) {
        codes[r] = own;
        sent[r] = MPI_REQUEST_NULL;
        if (r != rank)
            need(MPI_Isend(&own, 1, MPI_INT, r, 0, mpi.leaving, &sent[r]), "the end");
    }
    for (int r = 0; r < size; r++) {
        MPI_Request request;
        if (r == rank)
            continue;
        need(MPI_Irecv(&codes[r], 1, MPI_INT, r, 0, mpi.leaving, &request), "the end");
        wait_for(&request, "the end", false, code ? say : NULL);
        wait_for(&sent[r], "the end", false, NULL);
    }
    result = codes[0];
    for (int r = 1; r < size; r++)
        if (codes[r] != codes[0])
            result = codes[r];
    if (say && codes[rank] != result)
        say();
    free(codes);
    free(sent);
    free(mpi.counts);
    free(mpi.begins);
    MPI_Comm_free(&mpi.sums);
    MPI_Comm_free(&mpi.leaving);
    MPI_Finalize();
    return result;
}
