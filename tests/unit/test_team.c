/* Teams (keepfit-team.h), with threads for ranks: whatever the method, the loss and the points that leave, each rank of each team has the
 * model, the bound and the counts of one process, bit for bit; and it keeps its share of the rows only. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "history/far.h"
#include "keepfit-team.h"
#include "support.h"

#define RANKS_MOST 7

/* What ranks exchange goes through one table. */
struct hall {
    pthread_barrier_t barrier;
    const void *given[RANKS_MOST];
    void *taken[RANKS_MOST];
    bool failed;
};

struct rank {
    struct hall *hall;
    keepfit_team team;
    const char *options;
    const struct cloud *cloud;
    size_t rounds; /* times that the cloud is pushed */
    bool removes;
    keepfit_fit *fit;
    pthread_t thread;
};

static void broadcast(void *context, size_t from, void *bytes, size_t count)
{
    struct rank *rank = context;
    rank->hall->given[rank->team.rank] = bytes;
    pthread_barrier_wait(&rank->hall->barrier);
    if (rank->team.rank != from)
        memcpy(bytes, rank->hall->given[from], count);
    pthread_barrier_wait(&rank->hall->barrier);
}

static void gather(void *context, const void *own, const size_t *counts, void *all)
{
    struct rank *rank = context;
    rank->hall->given[rank->team.rank] = own;
    pthread_barrier_wait(&rank->hall->barrier);
    for (size_t r = 0, at = 0; r < rank->team.size; at += counts[r++])
        memcpy((char *)all + at, rank->hall->given[r], counts[r]);
    pthread_barrier_wait(&rank->hall->barrier);
}

static void fail(void *context, const char *message)
{
    (void)context;
    fprintf(stderr, "a rank fails: %s\n", message);
    exit(1);
}

static void push_all(const struct rank *rank, keepfit_fit *fit)
{
    uint64_t gone[150];
    for (size_t round = 0; round < rank->rounds; round++) {
        push_range(fit, rank->cloud, 0, rank->cloud->count);
        for (size_t k = 0; k < 150; k++) /* over the end of the first block, and within the second */
            gone[k] = k < 100 ? 950 + k : 1250 + k;
        if (rank->removes)
            TAP_NEED(keepfit_fit_remove_block(fit, gone, 150) == KEEPFIT_OK &&
                     keepfit_fit_remove(fit, 3) == KEEPFIT_OK);
    }
}

static void *run_rank(void *argument)
{
    struct rank *rank = argument;
    keepfit_options *options = options_from(rank->options);
    TAP_NEED(keepfit_options_team(options, &rank->team, NULL) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_create(options, &rank->fit, NULL) == KEEPFIT_OK);
    push_all(rank, rank->fit);
    keepfit_options_free(options);
    return NULL;
}

static bool is_same(keepfit_fit *fit, keepfit_fit *other)
{
    keepfit_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    keepfit_fit_report(fit, &a);
    keepfit_fit_report(other, &b);
    return same_iterate(fit, other) && a.stage == b.stage && a.points == b.points && a.fo == b.fo &&
           a.missed == b.missed && memcmp(&a.bound, &b.bound, sizeof a.bound) == 0 &&
           memcmp(&a.worst_bound, &b.worst_bound, sizeof a.bound) == 0;
}

/* Rows in this rank's memory. */
static size_t rows_here(const keepfit_fit *fit)
{
    const struct kf_points *points = &fit->task.problem.points;
    size_t count = 0;
    for (size_t j = 0; j < points->count; j++)
        count += points->place[j].value != NULL;
    return count;
}

static void test_team(struct tap *tap, size_t size, const char *loss, const char *text, bool sparse, bool removes)
{
    struct hall hall = {.failed = false};
    struct rank rank[RANKS_MOST];
    struct cloud *cloud = cloud_make(loss, 1400, sparse ? 30 : 6, sparse, true, 7);
    char options[200];
    size_t most = 0, present = 0, same = 0;
    for (size_t j = 0; j < cloud->count && strstr(text, "intercept"); j++)
        cloud->value[j][0] += 1e7; /* kept less a centre, once that is seen: all rows are written anew */
    snprintf(options, sizeof options, "loss=%s threads=2 %s", loss, text);
    struct rank alone = {.options = options, .cloud = cloud, .rounds = 3, .removes = removes};
    alone.fit = fit_from(options);
    push_all(&alone, alone.fit);
    pthread_barrier_init(&hall.barrier, NULL, (unsigned)size);
    for (size_t r = 0; r < size; r++) {
        rank[r] = alone;
        rank[r].hall = &hall;
        rank[r].team = (keepfit_team){.struct_size = sizeof(keepfit_team),
                                      .context = &rank[r],
                                      .rank = r,
                                      .size = size,
                                      .broadcast = broadcast,
                                      .gather = gather,
                                      .fail = fail,
                                      .block_bits = 10};
        TAP_NEED(pthread_create(&rank[r].thread, NULL, run_rank, &rank[r]) == 0);
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(rank[r].thread, NULL);
    for (size_t r = 0; r < size; r++) {
        size_t rows = rows_here(rank[r].fit);
        same += is_same(rank[r].fit, alone.fit);
        most = rows > most ? rows : most;
        present = rank[r].fit->task.problem.points.count;
        keepfit_fit_free(rank[r].fit);
    }
    tap_check(tap, same == size, "%zu ranks, %s%s: model, bound and counts of one process (%zu do)", size, options,
              removes ? ", points leave" : "", same);
    size_t shares = (present >> KF_BLOCK_BITS) / size + 1; /* full blocks, and the newest one, which all have */
    tap_check(tap, size == 1 || most <= (shares + 1) << KF_BLOCK_BITS, "of %zu rows none has more than %zu", present,
              most);
    pthread_barrier_destroy(&hall.barrier);
    keepfit_fit_free(alone.fit);
    free(cloud);
}

static void test_refusals(struct tap *tap)
{
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_fit *fit = NULL;
    keepfit_options *options = options_from("loss=network:4");
    keepfit_team team = {
        .struct_size = sizeof team, .rank = 2, .size = 2, .broadcast = broadcast, .gather = gather, .fail = fail};
    tap_check(tap,
              keepfit_options_team(options, &team, &error) == KEEPFIT_USAGE && strstr(error.message, "rank 2 of 2"),
              "rank 2 of 2 is refused");
    team.rank = 1;
    team.block_bits = 9;
    tap_check(tap, keepfit_options_team(options, &team, &error) == KEEPFIT_USAGE && strstr(error.message, "2^9 rows"),
              "shares of half a block are refused");
    team.block_bits = 10;
    TAP_NEED(keepfit_options_team(options, &team, &error) == KEEPFIT_OK);
    tap_check(tap,
              keepfit_fit_create(options, &fit, &error) == KEEPFIT_USAGE && strstr(error.message, "linear models only"),
              "a network is refused: %s", error.message);
    keepfit_options_free(options);
}

int main(void)
{
    struct tap tap = {0};
    test_team(&tap, 1, "logistic", "method=quadratic lambda=1e-3", false, true);
    test_team(&tap, 2, "logistic", "method=quadratic lambda=1e-3", false, true);
    test_team(&tap, 3, "logistic", "method=refit lambda=1e-3", false, true);
    test_team(&tap, 4, "huber", "lambda=1e-3", false, true);
    test_team(&tap, 2, "logistic", "method=table lambda=1e-2", true, true);
    test_team(&tap, 3, "softmax", "lambda=1e-2", false, true);
    test_team(&tap, 7, "logcosh", "lambda=1e-2 intercept=true", false, true);
    test_team(&tap, 3, "logcosh", "lambda=1e-2", true, true);
    test_team(&tap, 2, "hinge", "lambda=1e-2", true, true);
    test_team(&tap, 3, "squared", "method=exact lambda=1e-2", false, true);
    test_team(&tap, 2, "squared-hinge", "lambda=1e-2 window=2500", false, true);
    test_team(&tap, 3, "logistic", "method=csvrg lambda=1e-1 inner=20", false, false);
    test_team(&tap, 2, "logistic", "method=csvrg lambda=1e-1 inner=20", true, false);
    test_team(&tap, 2, "logistic", "method=saga lambda=1e-1 inner=3", false, true);
    test_team(&tap, 2, "softmax", "method=lsvrg lambda=1e-1 inner=3", true, false);
    test_refusals(&tap);
    return tap_end(&tap);
}
