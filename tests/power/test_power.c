/* The power is cut, or the process dies, at random calls while a fit with a journal pushes, removes, checkpoints, compacts and is created again, until a
 * script of operations has been run to its end. Before each operation a note says which. Each time what comes back must be all that was acknowledged and
 * not more than was asked for, notes in their order and each where it stood, no record may be taken for damaged, and at the end the iterate must be that of a run that was never broken, bit for bit.
 *
 *   test_power [cuts [seed]]      how many cuts at least, and where to begin; "quick" for few */
#include <string.h>

#include "support.h"
#include "world.h"

#define POINTS 90
#define REMOVE_EVERY 7
#define BLOCK_EVERY 10
#define BLOCK 3
#define INSTEAD_EVERY 8 /* a note takes the place of those before it */
#define NOTHING SIZE_MAX

struct operation {
    size_t from, count; /* points to push, as one block if there are several; 0: a removal */
    uint64_t removed;   /* the arrival that leaves */
};

struct script {
    const char *options;
    struct cloud *cloud;
    struct operation operations[2 * POINTS];
    size_t count;
    bool atomic_blocks; /* methods that promise nothing see a block's points one by one */
    bool keyed;         /* points have keys, which come again */
    double iterate[FEATURES_MOST * 4];
    size_t size;
};

static const struct {
    const char *loss, *options;
    bool removes, atomic_blocks, keyed;
} problems[] = {
    {"logistic", "loss=logistic lambda=0.05 epsilon=1e-2 bias=1", true, true, false},
    {"logistic", "loss=logistic lambda=0.05 method=csvrg inner=7", true, false, false},
    {"squared", "loss=squared lambda=0.05 method=exact intercept=true", true, true, false},
    {"softmax", "loss=softmax lambda=0.05 method=table epsilon=5e-2", true, true, false},
    {"hinge", "loss=hinge lambda=0.05 method=saga domain=ball:2 inner=5", false, false, false},
    {"logistic", "loss=logistic lambda=0.05 window=20 epsilon=1e-2", false, true, false},
    {"logistic", "loss=logistic lambda=0.05 epsilon=1e-2 intercept=true", true, true, true},
    {"squared", "loss=squared lambda=0.05 method=svrg inner=5 window=30", false, false, true},
};

#define PROBLEMS (sizeof problems / sizeof problems[0])

static void make_operations(struct script *script, bool removes)
{
    for (size_t next = 0; next < POINTS;) {
        size_t count = script->count % BLOCK_EVERY == BLOCK_EVERY - 1 && next + BLOCK <= POINTS ? BLOCK : 1;
        script->operations[script->count++] = (struct operation){.from = next, .count = count};
        next += count;
        if (removes && script->count % REMOVE_EVERY == 0)
            script->operations[script->count++] = (struct operation){.removed = next - 4};
    }
}

/* The key of the point that comes so late; NULL: it has none. Some come again before their points have gone for other reasons. */
static const char *key_of(const struct script *script, size_t point, char room[24])
{
    if (!script->keyed || point % 5 == 0)
        return NULL;
    snprintf(room, 24, "key %zu", point * point % 23);
    return room;
}

static keepfit_status push_block(keepfit_fit *fit, const struct script *script, size_t from, size_t count)
{
    const struct cloud *cloud = script->cloud;
    char room[BLOCK][24];
    const char *key[BLOCK];
    double value[BLOCK * FEATURES_MOST], target[BLOCK], weight[BLOCK];
    uint32_t index[BLOCK * FEATURES_MOST];
    uint64_t start[BLOCK + 1] = {0};
    for (size_t k = 0; k < count; k++) {
        const keepfit_point *point = &cloud->point[from + k];
        memcpy(value + start[k], point->row.value, point->row.count * sizeof *value);
        memcpy(index + start[k], point->row.index, point->row.count * sizeof *index);
        start[k + 1] = start[k] + point->row.count;
        target[k] = point->target;
        weight[k] = point->weight;
        key[k] = key_of(script, from + k, room[k]);
    }
    keepfit_block block = {
        .count = count, .start = start, .index = index, .value = value, .target = target, .weight = weight, .key = key};
    return keepfit_fit_extend(fit, &block, NULL);
}

static keepfit_status perform(keepfit_fit *fit, const struct script *script, size_t k)
{
    const struct operation *operation = &script->operations[k];
    uint64_t index;
    char room[24];
    const keepfit_mark mark = {.key = key_of(script, operation->from, room)};
    if (operation->count == 1)
        return keepfit_fit_push_marked(fit, &script->cloud->point[operation->from], &mark);
    if (operation->count > 1)
        return push_block(fit, script, operation->from, operation->count);
    return keepfit_fit_find(fit, operation->removed, &index) ? keepfit_fit_remove(fit, index) : KEEPFIT_OK;
}

/* How many operations the fit has behind it; NOTHING: it is between two, where no fit can be. */
static size_t position(keepfit_fit *fit, const struct script *script)
{
    keepfit_report report = {.struct_size = sizeof report};
    uint64_t index;
    size_t k = 0;
    keepfit_fit_report(fit, &report);
    for (; k < script->count; k++) {
        const struct operation *operation = &script->operations[k];
        if (operation->count == 0 && report.stage == operation->removed + 4 &&
            keepfit_fit_find(fit, operation->removed, &index))
            return k;
        if (operation->count && report.stage < operation->from + operation->count)
            return report.stage > operation->from ? NOTHING : k;
    }
    return k;
}

/* The points that had come when an operation begins. */
static uint64_t points_before(const struct script *script, size_t k)
{
    const struct operation *operation = &script->operations[k];
    return operation->count ? operation->from : operation->removed + 4;
}

static keepfit_status note_operation(keepfit_fit *fit, size_t k)
{
    const uint64_t number = k;
    return k % INSTEAD_EVERY == 0 ? keepfit_fit_note_instead(fit, &number, sizeof number)
                                  : keepfit_fit_note(fit, &number, sizeof number);
}

/* How many operations have been noted; NOTHING: the notes are not what they should be. */
static size_t noted(const keepfit_fit *fit, const struct script *script)
{
    keepfit_note note = {.struct_size = sizeof note};
    size_t next = 0;
    for (size_t k = 0; keepfit_fit_noted(fit, k, &note); k++, next++) {
        uint64_t number = NOTHING;
        if (note.count == sizeof number)
            memcpy(&number, note.bytes, sizeof number);
        if (k == 0)
            next = (size_t)number;
        bool first = k > 0 || number % INSTEAD_EVERY == 0;
        if (number != next || !first || number >= script->count || note.points != points_before(script, next))
            return NOTHING;
    }
    return next;
}

static struct script make_script(size_t problem)
{
    struct script script = {.options = problems[problem].options,
                            .atomic_blocks = problems[problem].atomic_blocks,
                            .keyed = problems[problem].keyed};
    script.cloud = cloud_make(problems[problem].loss, POINTS, 4, true, true, 7 + problem);
    make_operations(&script, problems[problem].removes);
    keepfit_fit *fit = fit_from(script.options);
    for (size_t k = 0; k < script.count; k++)
        TAP_NEED(perform(fit, &script, k) == KEEPFIT_OK);
    const double *x = keepfit_fit_iterate(fit, &script.size);
    memcpy(script.iterate, x, script.size * sizeof *x);
    keepfit_fit_free(fit);
    return script;
}

struct run {
    struct tap *tap;
    struct world *world;
    struct kf_random random;
    const struct script *script;
    char options[256];
    uint64_t seed;
    size_t acknowledged; /* operations whose call has returned, with sync=always */
    uint64_t safe;       /* points that were told to be safe */
    bool always;
    uint64_t cuts;
    bool failed;
};

static void fail_run(struct run *run, const char *what, const char *detail)
{
    run->failed = true;
    tap_check(run->tap, false, "seed %llu: %s: %s (%s)", (unsigned long long)run->seed, what, detail, run->options);
}

static void choose_options(struct run *run)
{
    /* An interval that does not end, so that no clock has a say in what a seed does. */
    static const char *const syncs[] = {"always", "batch:5", "batch:40", "interval:100000000", "none"};
    static const char *const checkpoints[] = {"", "checkpoint-gradients=1", "checkpoint-gradients=200"};
    size_t sync = (size_t)kf_random_below(&run->random, 5);
    run->always = sync == 0;
    snprintf(run->options, sizeof run->options, "%s journal=place/journal segment-bytes=4096 sync=%s %s",
             run->script->options, syncs[sync], checkpoints[kf_random_below(&run->random, 3)]);
}

/* The fit as the journal gives it back; NULL: the power was cut meanwhile, or something is wrong. */
static keepfit_fit *create_again(struct run *run)
{
    keepfit_options *options = options_from(run->options);
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_options_disk(options, &run->world->disk);
    keepfit_status status = keepfit_fit_create(options, &fit, &error);
    keepfit_options_free(options);
    if (status != KEEPFIT_OK && !run->world->failure)
        fail_run(run, "the journal cannot be opened", error.message);
    return fit;
}

/* Goes on from where the fit is, until the end or the cut. True: the end. */
static bool go_on(struct run *run, keepfit_fit *fit)
{
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_report report = {.struct_size = sizeof report};
    size_t k = position(fit, run->script);
    keepfit_fit_report(fit, &report);
    size_t notes = noted(fit, run->script);
    if (k == NOTHING && run->script->atomic_blocks)
        fail_run(run, "half a block has come back", "");
    else if (report.stage < run->safe || (run->always && k != NOTHING && k < run->acknowledged))
        fail_run(run, "what was acknowledged is lost", "");
    if (k == NOTHING) /* the rest of the block, one by one as the method sees it */
        for (k = run->script->count; k-- > 0 && !run->failed;)
            if (run->script->operations[k].count > 1 && run->script->operations[k].from < report.stage)
                break;
    if (!run->failed && notes != k && notes != k + 1)
        fail_run(run, "the notes are not those that were made", "");
    if (run->failed)
        return false;
    for (; k < run->script->count; k++) {
        struct operation rest = run->script->operations[k];
        keepfit_fit_report(fit, &report);
        size_t done = rest.count && report.stage > rest.from ? (size_t)report.stage - rest.from : 0;
        keepfit_status status = k < notes ? KEEPFIT_OK : note_operation(fit, k);
        if (status == KEEPFIT_OK)
            status =
                done ? push_block(fit, run->script, rest.from + done, rest.count - done) : perform(fit, run->script, k);
        if (status == KEEPFIT_OK && kf_random_below(&run->random, 40) == 0)
            status = keepfit_fit_compact(fit);
        if (status == KEEPFIT_OK && kf_random_below(&run->random, 40) == 0)
            status = keepfit_fit_checkpoint(fit);
        keepfit_fit_durability(fit, &durability);
        run->safe = durability.safe > run->safe ? durability.safe : run->safe;
        if (status != KEEPFIT_OK) {
            if (!run->world->failure)
                fail_run(run, "an operation failed", keepfit_fit_error(fit)->message);
            return false;
        }
        run->acknowledged = k + 1;
    }
    return true;
}

static void check_end(struct run *run, keepfit_fit *fit)
{
    size_t size;
    const double *x = keepfit_fit_iterate(fit, &size);
    if (size != run->script->size || memcmp(x, run->script->iterate, size * sizeof *x) != 0)
        fail_run(run, "the iterate is not that of the unbroken run", "");
}

/* One script from its beginning to its end. */
static uint64_t run_script(struct tap *tap, const struct script *script, uint64_t seed)
{
    struct run run = {.tap = tap, .world = world_create(), .script = script, .seed = seed};
    bool ended = false;
    kf_random_seed(&run.random, seed);
    TAP_NEED(run.world->disk.make_folder(run.world, "place") == 0);
    TAP_NEED(run.world->disk.sync_folder(run.world, ".") == 0);
    choose_options(&run);
    while (!ended && !run.failed) {
        uint64_t range = kf_random_below(&run.random, 4) == 0 ? 12 : 150;
        run.world->cut_at = run.world->calls + 1 + kf_random_below(&run.random, range);
        keepfit_fit *fit = create_again(&run);
        ended = fit && go_on(&run, fit);
        if (ended)
            check_end(&run, fit);
        else
            run.world->failure = run.world->failure ? run.world->failure : -5;
        keepfit_fit_free(fit);
        if (!ended && kf_random_below(&run.random, 4) == 0) {
            world_restart(run.world); /* what the disk had not been told to keep is read again all the same */
            continue;
        }
        run.cuts++;
        world_reboot(run.world, &run.random);
    }
    keepfit_fit *last = run.failed || !run.always ? NULL : create_again(&run);
    if (last)
        check_end(&run, last);
    keepfit_fit_free(last);
    world_free(run.world);
    return run.failed ? 0 : run.cuts;
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    uint64_t wanted = quick ? 60 : count > 1 ? strtoull(words[1], NULL, 10) : 1500;
    uint64_t seed = count > 2 ? strtoull(words[2], NULL, 10) : 1;
    for (size_t k = 0; k < PROBLEMS; k++) {
        struct script script = make_script(k);
        uint64_t cuts = 0, runs = 0;
        while (cuts < wanted / PROBLEMS + 1 && tap.failures < 10) {
            cuts += run_script(&tap, &script, seed++);
            runs++;
        }
        tap_check(&tap, tap.failures == 0, "%s: %llu power cuts in %llu runs: nothing lost, the same bits",
                  script.options, (unsigned long long)cuts, (unsigned long long)runs);
        free(script.cloud);
    }
    return tap_end(&tap);
}
