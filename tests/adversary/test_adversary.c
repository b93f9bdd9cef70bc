/* A standing adversary: problems of all kinds, extremes among them, and an independent optimum in 113 bits for every stage.
 *
 *   test_adversary                           the short run, as TAP
 *   test_adversary quick                     a shorter one
 *   test_adversary RUNS SEED [KEY=VALUE...]  so many runs from this seed on; only those with these words among their options
 *                                            or traits (loss=huber, intercept=true, times), or without (-method=table)
 *   test_adversary --seed S --show           one run, stage by stage
 *   test_adversary --seed S --points         its points as CSV, for other programs
 *
 * A run is a process of its own, but for the quick kind, so that a crash or a hang is found and the rest goes on. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verdict.h"
#include "tap.h"

#define SHORT_RUNS 300
#define QUICK_RUNS 30
#define BENT_RUNS 30
#define RUN_SECONDS 100 /* of the processor, for a run, before it is taken to hang */

static void tell_tally(const struct tally *tally)
{
    printf("# runs %" PRIu64 ", stages %" PRIu64 ": judged %" PRIu64 ", not judged %" PRIu64
           ", without an optimum %" PRIu64 "; proved %" PRIu64 ", missed %" PRIu64 ", unproved %" PRIu64 "\n",
           tally->runs, tally->stages, tally->judged, tally->undecided, tally->unreachable, tally->proved,
           tally->missed, tally->unproved);
    printf("# violations %" PRIu64 " (worst gap / bound %.3g), slowest stage %.3f s (seed %" PRIu64 " stage %" PRIu64
           "); fits took %.1f s, the reference %.1f s\n",
           tally->violations, tally->ratio, tally->slowest, tally->slowest_seed, tally->slowest_stage,
           tally->fit_seconds, tally->reference_seconds);
    for (size_t k = 0; k < FINDING_COUNT; k++)
        if (tally->found[k])
            printf("# %s: %s: %" PRIu64 " stages of %" PRIu64 " runs\n", finding_names[k], finding_sentences[k],
                   tally->found[k], tally->runs_found[k]);
}

/* ---- long runs ---- */

static void tell_death(struct tally *tally, enum finding finding, int signal)
{
    tally->found[finding]++;
    tally->runs_found[finding]++;
    tally->violations++;
    printf("# %s seed %" PRIu64 " stage %" PRIu64 ": signal %d (%s)\n", finding_names[finding], tally->seed,
           tally->stage, signal, strsignal(signal));
}

static void run_apart(uint64_t seed, const struct settings *settings, struct tally *tally)
{
    fflush(stdout);
    pid_t child = fork();
    TAP_NEED(child >= 0);
    if (child == 0) {
        struct rlimit limit = {RUN_SECONDS, RUN_SECONDS + 5};
        setrlimit(RLIMIT_CPU, &limit);
        run_trial(seed, settings, tally);
        fflush(stdout);
        _exit(0);
    }
    int status;
    TAP_NEED(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        tell_death(tally, WTERMSIG(status) == SIGXCPU ? FINDING_HUNG : FINDING_CRASHED, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        tell_death(tally, FINDING_CRASHED, 0);
}

static bool is_wanted(uint64_t seed, char **words, int count)
{
    static struct trial trial;
    if (count == 0)
        return true;
    trial_draw(&trial, seed);
    for (int k = 0; k < count; k++) {
        bool wanted = words[k][0] != '-';
        const char *word = wanted ? words[k] : words[k] + 1;
        if ((strstr(trial.options, word) || strstr(trial.traits, word)) != wanted)
            return false;
    }
    return true;
}

static struct tally *share_tally(void)
{
    void *memory = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TAP_NEED(memory != MAP_FAILED);
    return memory;
}

static int run_long(uint64_t runs, uint64_t seed, char **words, int count, const struct settings *settings)
{
    struct tally *tally = share_tally();
    for (; tally->runs < runs; seed++)
        if (is_wanted(seed, words, count))
            run_apart(seed, settings, tally);
    tell_tally(tally);
    return tally->violations ? 1 : 0;
}

/* ---- one run ---- */

static void print_points(uint64_t seed)
{
    static struct trial trial;
    trial_draw(&trial, seed);
    for (size_t f = 0; f < trial.features; f++)
        printf("x%zu,", f + 1);
    printf("y,w\n");
    for (size_t j = 0; j < trial.count; j++) {
        for (size_t f = 0; f < trial.features; f++)
            printf("%.17g,", trial.value[j][f]);
        printf("%.17g,%.17g\n", trial.point[j].target, trial.point[j].weight);
    }
}

static int run_one(uint64_t seed, const char *word)
{
    struct settings settings = {.bend = 1, .limit = 1, .show = strcmp(word, "--show") == 0};
    struct tally tally = {0};
    if (strcmp(word, "--points") == 0) {
        print_points(seed);
        return 0;
    }
    run_trial(seed, &settings, &tally);
    tell_tally(&tally);
    return tally.violations ? 1 : 0;
}

/* ---- short runs ---- */

static void test_stages(struct tap *tap, bool quick)
{
    struct settings settings = {.bend = 1, .limit = quick ? 20 : 1}; /* what is quick is slowed down by sanitizers */
    uint64_t runs = quick ? QUICK_RUNS : SHORT_RUNS;
    struct tally *tally = share_tally();
    for (uint64_t seed = 1; seed <= runs; seed++)
        if (quick) /* sanitizers look for leaks when the process ends */
            run_trial(seed, &settings, tally);
        else
            run_apart(seed, &settings, tally);
    tell_tally(tally);
    for (size_t k = 0; k < FINDING_COUNT; k++)
        tap_check(tap, tally->found[k] == 0, "never: %s (%" PRIu64 " runs, %" PRIu64 " stages)", finding_sentences[k],
                  tally->runs, tally->stages);
    tap_check(tap, tally->judged >= 20 * tally->undecided,
              "the reference decides (%" PRIu64 " stages, %" PRIu64 " not)", tally->judged, tally->undecided);
}

/* Random rows, of which the last may be huge. */
static void draw_reference(struct random *random, enum loss loss, enum domain domain, struct reference *reference)
{
    double huge = random_magnitude(random, 0, 6);
    memset(reference, 0, sizeof *reference);
    reference->loss = loss;
    reference->domain = domain;
    reference->free = random_chance(random, 0.5);
    reference->slots = 1 + random_below(random, 4) + reference->free;
    reference->outputs = loss == SOFTMAX ? 3 : 1;
    reference->size = reference->slots * reference->outputs;
    reference->held = reference->free ? reference->outputs : 0;
    reference->lambda = random_magnitude(random, -6, 0);
    reference->delta = 0.5;
    reference->low = domain == BOX ? -0.1 : 0;
    reference->high = 0.3;
    reference->count = 3 + random_below(random, 20);
    for (size_t j = 0; j < reference->count; j++) {
        reference->share[j] = 1 / (quad)reference->count;
        reference->target[j] = is_for_numbers(loss) ? random_normal(random) : j % 2 ? 1 : -1;
        reference->class[j] = j % 3;
        for (size_t s = 0; s < reference->slots; s++)
            reference->row[j][s] = s == 0 && reference->free ? 1 : random_normal(random) * (j ? 1 : huge);
    }
    reference_centre(reference);
}

/* Whether no place that is tried is below what is said to be the least value, far from the optimum and near. */
static bool is_least(struct random *random, const struct reference *reference, const struct optimum *optimum)
{
    static struct place place;
    for (int trial = 0; trial < 40; trial++) {
        double near = random_magnitude(random, -12, 1);
        for (size_t k = 0; k < reference->size; k++)
            place.x[k] = optimum->x[k] + near * random_normal(random);
        reference_enter(reference, place.x);
        reference_project(reference, place.x);
        reference_look(reference, &place, LOOK_VALUE);
        if (place.value < optimum->lower)
            return false;
    }
    return true;
}

/* The reference by laws: what it calls the least value is not undercut, and it knows it to 24 digits. */
static void test_reference(struct tap *tap)
{
    static struct reference reference;
    struct random random = {.state = 7};
    for (enum loss loss = 0; loss < LOSSES; loss++)
        for (enum domain domain = 0; domain < DOMAINS; domain++) {
            int least = 0, sharp = 0;
            for (int trial = 0; trial < 10; trial++) {
                quad zero[SIZE_MOST] = {0};
                struct optimum optimum;
                draw_reference(&random, loss, domain, &reference);
                reference_solve(&reference, zero, (quad)1e-25, INFINITY, &optimum);
                least += optimum.lower <= optimum.upper && is_least(&random, &reference, &optimum);
                sharp += optimum.upper - optimum.lower <= (quad)1e-24 * optimum.upper;
            }
            tap_check(tap, least == 10 && sharp >= 9,
                      "the reference's least value, %s in %s (%d not undercut, %d sharp of 10)", trial_losses[loss],
                      trial_domains[domain], least, sharp);
        }
}

/* One point and squared loss: the least value is lambda b^2 / (|a|^2 + lambda). */
static void test_formula(struct tap *tap)
{
    static struct reference reference;
    struct random random = {.state = 8};
    int good = 0;
    for (int trial = 0; trial < 50; trial++) {
        struct optimum optimum;
        quad zero[SIZE_MOST] = {0};
        draw_reference(&random, SQUARED, WHOLE, &reference);
        reference.free = false;
        reference.count = 1;
        reference.share[0] = 1;
        reference.held = 0;
        quad square = quad_dot(reference.slots, reference.row[0], reference.row[0]), b = reference.target[0];
        quad least = reference.lambda * b * b / (square + reference.lambda);
        reference_solve(&reference, zero, least * (quad)1e-28, INFINITY, &optimum);
        good += optimum.lower <= least * (1 + (quad)1e-30) && least <= optimum.upper * (1 + (quad)1e-30) &&
                optimum.upper - optimum.lower <= (quad)1e-24 * least;
    }
    tap_check(tap, good == 50, "the reference's least value is the formula's for one point (%d of 50)", good);
}

/* Half of a bound is often no bound: a judge that does not see that sees nothing. */
static void test_bent(struct tap *tap)
{
    struct settings settings = {.bend = 0.5, .limit = INFINITY, .quiet = true};
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= BENT_RUNS; seed++)
        run_trial(seed, &settings, &tally);
    tap_check(tap, tally.found[FINDING_BOUND] > tally.judged / 50,
              "half of a bound is seen to be none (%d stages of %d)", (int)tally.found[FINDING_BOUND],
              (int)tally.judged);
}

/* The library of matrices would start threads, which only wait for each other, as soon as it is loaded. */
static void be_alone(char **words)
{
    if (getenv("OPENBLAS_NUM_THREADS"))
        return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", words);
}

int main(int count, char **words)
{
    be_alone(words);
    struct tap tap = {0};
    struct settings settings = {.bend = 1, .limit = 1};
    if (count > 2 && strcmp(words[1], "--seed") == 0)
        return run_one(strtoull(words[2], NULL, 10), count > 3 ? words[3] : "");
    if (count > 2)
        return run_long(strtoull(words[1], NULL, 10), strtoull(words[2], NULL, 10), words + 3, count - 3, &settings);
    test_formula(&tap);
    test_reference(&tap);
    test_stages(&tap, count > 1 && strcmp(words[1], "quick") == 0);
    test_bent(&tap);
    return tap_end(&tap);
}
