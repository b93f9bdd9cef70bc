/* How a problem reaches the fit: pushes, blocks, removals, snapshots, classes announced, as drawn. */
#define _POSIX_C_SOURCE 200809L
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const finding_names[FINDING_COUNT] = {
#define FINDING_NAME(name, sentence) #name,
    FINDINGS(FINDING_NAME)
#undef FINDING_NAME
};
const char *const finding_sentences[FINDING_COUNT] = {
#define FINDING_SENTENCE(name, sentence) sentence,
    FINDINGS(FINDING_SENTENCE)
#undef FINDING_SENTENCE
};

double run_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void run_found(struct run *run, enum finding finding, const char *format, ...)
{
    struct tally *tally = run->tally;
    va_list arguments;
    tally->found[finding]++;
    tally->violations++;
    tally->runs_found[finding] += !run->told[finding];
    if ((run->told[finding] && !run->settings->show) || run->settings->quiet) {
        run->told[finding] = true;
        return;
    }
    run->told[finding] = true;
    printf("# %s seed %" PRIu64 " stage %zu (%s): ", finding_names[finding], run->trial->seed, run->arrived,
           run->action);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("; %s, %zu points of %zu, %zu features [%s] {%s}\n", run->report.method ? run->report.method : "",
           run->count, run->trial->count, run->features, run->trial->options, run->trial->traits);
    fflush(stdout);
}

/* ---- the fit ---- */

static keepfit_fit *create(struct run *run)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {0};
    if (keepfit_fit_create(run->options, &fit, &error) != KEEPFIT_OK)
        run_found(run, FINDING_FAILED, "creating: %s", error.message);
    return fit;
}

static bool set_options(struct run *run)
{
    char text[sizeof run->trial->options], *rest = text;
    keepfit_error error = {0};
    memcpy(text, run->trial->options, sizeof text);
    run->options = keepfit_options_create();
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        if (keepfit_options_set(run->options, word, value, &error) != KEEPFIT_OK) {
            run_found(run, FINDING_FAILED, "options: %s", error.message);
            return false;
        }
    }
    return true;
}

/* ---- what the fit has now ---- */

static void leave(struct run *run, size_t k)
{
    memmove(run->present + k, run->present + k + 1, (run->count - k - 1) * sizeof *run->present);
    run->count--;
}

static void learn_label(struct run *run, double label)
{
    for (size_t k = 0; k < run->label_count; k++)
        if (run->labels[k] == label)
            return;
    if (!is_for_numbers(run->trial->loss) && run->label_count < run->trial->classes)
        run->labels[run->label_count++] = label;
}

static void arrive(struct run *run, size_t j)
{
    const struct trial *trial = run->trial;
    for (size_t k = 0; k < run->count && trial->key[j]; k++)
        if (trial->key[run->present[k]] == trial->key[j]) {
            leave(run, k);
            break;
        }
    while (run->count && trial_has_faded(trial, run->present[0], run->arrived + 1))
        leave(run, 0);
    if (run->trial->window && run->count >= run->trial->window)
        leave(run, 0);
    run->present[run->count++] = j;
    run->arrived++;
    if (run->trial->width[j] > run->features)
        run->features = run->trial->width[j];
    learn_label(run, run->trial->point[j].target);
}

/* ---- actions ---- */

/* NULL: it has none. */
static const char *key_of(const struct trial *trial, size_t j, char room[24])
{
    snprintf(room, 24, "key %zu", trial->key[j]);
    return trial->key[j] ? room : NULL;
}

/* A block of compressed rows. */
struct rows {
    keepfit_block block;
    uint64_t start[POINTS_MOST + 1];
    uint32_t index[POINTS_MOST * FEATURES_MOST];
    double value[POINTS_MOST * FEATURES_MOST], target[POINTS_MOST], weight[POINTS_MOST];
    char room[POINTS_MOST][24];
    const char *key[POINTS_MOST];
};

static void add_row(struct rows *rows, const struct trial *trial, size_t j)
{
    const keepfit_point *point = &trial->point[j];
    size_t k = rows->block.count++;
    uint64_t at = rows->start[k];
    for (size_t e = 0; e < point->row.count; e++, at++) {
        rows->index[at] = point->row.index ? point->row.index[e] : (uint32_t)e;
        rows->value[at] = point->row.value[e];
    }
    rows->start[k + 1] = at;
    rows->target[k] = point->target;
    rows->weight[k] = point->weight;
    rows->key[k] = key_of(trial, j, rows->room[k]);
}

static void begin_rows(struct rows *rows)
{
    rows->start[0] = 0;
    rows->block = (keepfit_block){.features = FEATURES_MOST,
                                  .start = rows->start,
                                  .index = rows->index,
                                  .value = rows->value,
                                  .target = rows->target,
                                  .weight = rows->weight,
                                  .key = rows->key};
}

static keepfit_status push_one(struct run *run, size_t j)
{
    char room[24];
    const keepfit_mark mark = {.struct_size = sizeof mark, .key = key_of(run->trial, j, room)};
    run->action = "push";
    run->calls = 1;
    arrive(run, j);
    return keepfit_fit_push_marked(run->fit, &run->trial->point[j], &mark);
}

/* Whether a block is one stage for this method, and a removal any: gd and csvrg see the points one by one. Without a regulariser
 * auto takes csvrg. */
static bool settles(const struct run *run)
{
    const struct trial *trial = run->trial;
    return strcmp(trial->method, "gd") != 0 && strcmp(trial->method, "csvrg") != 0 && trial->lambda > 0;
}

static keepfit_status push_some(struct run *run, size_t from, size_t count)
{
    static struct rows rows;
    bool extends = random_chance(&run->trial->random, 0.7) || run->trial->keyed;
    for (size_t k = 0; k < count; k++)
        arrive(run, from + k);
    run->action = extends ? "extend" : "push_block";
    run->calls = extends && settles(run) ? 1 : count;
    if (!extends)
        return keepfit_fit_push_block(run->fit, run->trial->point + from, count, NULL);
    begin_rows(&rows);
    for (size_t k = 0; k < count; k++)
        add_row(&rows, run->trial, from + k);
    return keepfit_fit_extend(run->fit, &rows.block, NULL);
}

/* The present point whose row, times its weight, is largest. */
static size_t find_largest(const struct run *run)
{
    double most = -1;
    size_t best = 0;
    for (size_t k = 0; k < run->count; k++) {
        size_t j = run->present[k];
        double square = 1;
        for (size_t f = 0; f < run->trial->width[j]; f++)
            square += run->trial->value[j][f] * run->trial->value[j][f];
        if (run->trial->point[j].weight * square > most) {
            most = run->trial->point[j].weight * square;
            best = k;
        }
    }
    return best;
}

static keepfit_status remove_one(struct run *run)
{
    struct random *random = &run->trial->random;
    size_t k = run->trial->largest ? find_largest(run) : random_below(random, run->count);
    if (random_chance(random, 0.2))
        k = random_chance(random, 0.5) ? 0 : run->count - 1;
    run->action = "remove";
    run->calls = settles(run);
    leave(run, k);
    return keepfit_fit_remove(run->fit, k);
}

static keepfit_status remove_some(struct run *run)
{
    uint64_t index[POINTS_MOST];
    size_t count = 0;
    for (size_t k = 0; k < run->count; k++)
        if (random_chance(&run->trial->random, 0.3))
            index[count++] = k;
    run->action = "remove_block";
    run->calls = count && settles(run);
    for (size_t k = count; k-- > 0;)
        leave(run, (size_t)index[k]);
    return keepfit_fit_remove_block(run->fit, index, count);
}

static keepfit_status expect(struct run *run)
{
    double label = run->trial->point[random_below(&run->trial->random, run->trial->count)].target;
    size_t before = run->label_count;
    learn_label(run, label);
    run->action = "expect";
    run->calls = run->label_count > before && run->count && settles(run);
    return keepfit_fit_expect(run->fit, label);
}

static bool is_same(const keepfit_report *a, const keepfit_report *b)
{
    return memcmp(&a->bound, &b->bound, sizeof a->bound) == 0 && a->missed == b->missed && a->unproved == b->unproved &&
           a->points == b->points && a->stage == b->stage && a->fo == b->fo &&
           memcmp(&a->worst_bound, &b->worst_bound, sizeof a->bound) == 0;
}

/* Another fit takes the place of this one. */
static keepfit_status resume(struct run *run)
{
    static struct rows rows;
    const unsigned char *bytes = NULL;
    size_t count = 0;
    keepfit_report before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    run->action = "snapshot";
    keepfit_status status = keepfit_fit_snapshot(run->fit, &bytes, &count);
    keepfit_fit *other = status == KEEPFIT_OK ? create(run) : NULL;
    if (!other)
        return status;
    begin_rows(&rows);
    for (size_t k = 0; k < run->count; k++)
        add_row(&rows, run->trial, run->present[k]);
    status = keepfit_fit_restore(other, &rows.block, bytes, count);
    keepfit_fit_report(run->fit, &before);
    keepfit_fit_report(other, &after);
    if (status == KEEPFIT_OK && !is_same(&before, &after))
        run_found(run, FINDING_RESTORED, "bound %g, then %g", before.bound, after.bound);
    if (status != KEEPFIT_OK)
        run_found(run, FINDING_FAILED, "restoring: %s", keepfit_fit_error(other)->message);
    keepfit_fit_free(run->fit);
    run->fit = other;
    return status;
}

/* ---- steps ---- */

/* False: the run is over. */
static bool take_up(struct run *run, keepfit_status status, double start)
{
    struct tally *tally = run->tally;
    run->seconds = run_clock() - start;
    tally->fit_seconds += run->seconds;
    tally->stages++;
    tally->stage = run->arrived;
    run->before = run->report;
    keepfit_fit_report(run->fit, &run->report);
    double each = run->seconds / (double)(run->calls ? run->calls : 1);
    if (each > tally->slowest) {
        tally->slowest = each;
        tally->slowest_seed = run->trial->seed;
        tally->slowest_stage = run->arrived;
    }
    if (each > run->settings->limit)
        run_found(run, FINDING_SLOW, "%.3g s", each);
    if (run->settings->show)
        printf("# stage %zu %s (%s): %zu points, bound %.6e target %.6e missed %d unproved %d fo %d %.4f s\n",
               run->arrived, run->action, run->report.method, run->count, run->report.bound, run->report.target,
               (int)run->report.missed, (int)run->report.unproved, (int)run->report.fo, run->seconds);
    if (status != KEEPFIT_OK) {
        bool honest = status == KEEPFIT_DIVERGED && !settles(run);
        if (!honest)
            run_found(run, FINDING_FAILED, "%s", keepfit_fit_error(run->fit)->message);
        return false;
    }
    judge_report(run);
    start = run_clock();
    judge_stage(run);
    tally->reference_seconds += run_clock() - start;
    return true;
}

/* What may come between points. */
static bool between(struct run *run)
{
    struct trial *trial = run->trial;
    bool going = true;
    if (run->count && random_chance(&trial->random, trial->removals)) {
        double start = run_clock();
        bool one = random_chance(&trial->random, 0.85);
        going = take_up(run, one ? remove_one(run) : remove_some(run), start);
    }
    if (going && random_chance(&trial->random, trial->expectations)) {
        double start = run_clock();
        going = take_up(run, expect(run), start);
    }
    if (going && random_chance(&trial->random, trial->snapshots))
        going = resume(run) == KEEPFIT_OK;
    return going;
}

static void go_through(struct run *run)
{
    struct trial *trial = run->trial;
    for (size_t j = 0; j < trial->count;) {
        size_t count = 1;
        double start = run_clock();
        if (random_chance(&trial->random, trial->blocks))
            count = 1 + random_below(&trial->random, 12);
        count = j + count > trial->count ? trial->count - j : count;
        run->tally->stage = run->arrived + count;
        if (!take_up(run, count == 1 ? push_one(run, j) : push_some(run, j, count), start) || !between(run))
            return;
        j += count;
    }
}

void run_trial(uint64_t seed, const struct settings *settings, struct tally *tally)
{
    static struct trial trial;
    struct run run = {
        .settings = settings, .tally = tally, .trial = &trial, .worst = NAN, .all_seen = true, .action = "begin"};
    trial_draw(&trial, seed);
    tally->runs++;
    tally->seed = seed;
    tally->stage = 0;
    if (settings->show)
        printf("# %zu points, %zu features [%s] {%s}\n", trial.count, trial.features, trial.options, trial.traits);
    if (set_options(&run) && (run.fit = create(&run)))
        go_through(&run);
    keepfit_fit_free(run.fit);
    keepfit_options_free(run.options);
}
