/* A standing adversary: problems of all kinds, extremes among them, and an independent optimum in 113 bits for every stage.
 *
 *   test_adversary                           the short run, as TAP
 *   test_adversary quick                     a shorter one
 *   test_adversary RUNS SEED [KEY=VALUE...]  so many runs from this seed on; only those with these words among their options
 *                                            or traits (loss=huber, intercept=true, times)
 *   test_adversary --seed S --show           one run, stage by stage
 *
 * Each run of the long kind is a process of its own, so that a crash or a hang is found and the rest goes on. */
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

#include "judge.h"
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
    for (int k = 0; k < count; k++)
        if (!strstr(trial.options, words[k]) && !strstr(trial.traits, words[k]))
            return false;
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

/* ---- short runs ---- */

static void test_stages(struct tap *tap, uint64_t runs)
{
    struct settings settings = {.bend = 1, .limit = 1};
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= runs; seed++)
        run_trial(seed, &settings, &tally);
    tell_tally(&tally);
    for (size_t k = 0; k < FINDING_COUNT; k++)
        tap_check(tap, tally.found[k] == 0, "never: %s (%" PRIu64 " runs, %" PRIu64 " stages)", finding_sentences[k],
                  tally.runs, tally.stages);
    tap_check(tap, tally.judged >= 20 * tally.undecided, "the reference decides (%" PRIu64 " stages, %" PRIu64 " not)",
              tally.judged, tally.undecided);
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

int main(int count, char **words)
{
    struct tap tap = {0};
    struct settings settings = {.bend = 1, .limit = 1};
    if (count > 2 && strcmp(words[1], "--seed") == 0) {
        struct tally tally = {0};
        settings.show = count > 3 && strcmp(words[3], "--show") == 0;
        run_trial(strtoull(words[2], NULL, 10), &settings, &tally);
        tell_tally(&tally);
        return tally.violations ? 1 : 0;
    }
    if (count > 2)
        return run_long(strtoull(words[1], NULL, 10), strtoull(words[2], NULL, 10), words + 3, count - 3, &settings);
    test_stages(&tap, count > 1 && strcmp(words[1], "quick") == 0 ? QUICK_RUNS : SHORT_RUNS);
    test_bent(&tap);
    return tap_end(&tap);
}
