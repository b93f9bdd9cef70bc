/* Journals: written, gone on from, compacted, looked at, repaired. Whatever failed meanwhile, once nothing fails any more a fit goes
 * on from the folder, has every point that was acknowledged, and is bit for bit what a fit without a journal would be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "tap.h"

/* What happens to a fit, in order. A journal that was prepared has all but the last of it behind it. */
static const char story[] = "ppokpprpcOnKop";
#define STEPS (sizeof story - 1)
#define PROBLEM "method=csvrg inner=3 outer=2 loss=logistic lambda=0.1 bias=1 threads=1"

static keepfit_point point_at(uint64_t arrival)
{
    static const uint32_t index[][2] = {{0, 1}, {1, 3}};
    static double value[2];
    value[0] = (double)arrival;
    value[1] = -0.5;
    return (keepfit_point){
        .row = {.count = 2, .index = index[arrival % 2], .value = value}, .target = (double)(arrival % 2), .weight = 1};
}

/* Checkpoints, names and notes do not change what a fit is. */
static bool leaves_no_trace(char step)
{
    return strchr("cnoO", step);
}

static keepfit_status give_names(keepfit_fit *fit)
{
    static const char *const feature[] = {"a", "b"}, *const class_name[] = {"ok", "no"};
    const keepfit_schema schema = {.features = 2,
                                   .feature = feature,
                                   .target = "y",
                                   .classes = 2,
                                   .label = (const double[]){0, 1},
                                   .class_name = class_name};
    return keepfit_fit_name(fit, &schema);
}

/* Point, point with a key, one that takes its place, removal, names, note, one instead of all earlier ones, checkpoint. */
static keepfit_status take_step(keepfit_fit *fit, char step, bool durable)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    keepfit_point point = point_at(report.stage + 1);
    const keepfit_mark mark = {.struct_size = sizeof mark, .key = "a key of its own"};
    switch (step) {
    case 'p':
        return keepfit_fit_push(fit, &point);
    case 'k':
    case 'K':
        return keepfit_fit_push_marked(fit, &point, &mark);
    case 'r':
        return keepfit_fit_remove(fit, 1);
    case 'n':
        return give_names(fit);
    case 'o':
        return durable ? keepfit_fit_note(fit, "o", 1) : KEEPFIT_OK;
    case 'O':
        return durable ? keepfit_fit_note_instead(fit, "O", 1) : KEEPFIT_OK;
    default:
        return durable ? keepfit_fit_checkpoint(fit) : KEEPFIT_OK;
    }
}

/* How many steps it takes to get to where the fit is; those that leave no trace count as taken. */
static size_t steps_behind(keepfit_fit *fit)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    uint64_t stage = 0, points = 0;
    for (size_t k = 0; k < STEPS; k++) {
        if (stage == report.stage && points == report.points && !leaves_no_trace(story[k]))
            return k;
        stage += strchr("pkK", story[k]) != NULL;
        points += story[k] == 'p' || story[k] == 'k' ? 1 : story[k] == 'r' ? (uint64_t)-1 : 0;
    }
    return stage == report.stage && points == report.points ? STEPS : SIZE_MAX;
}

static uint64_t model_digest(keepfit_fit *fit)
{
    struct outcome outcome = {0};
    size_t dimension;
    const double *x = keepfit_fit_iterate(fit, &dimension);
    add_to_digest(&outcome, x, dimension * sizeof *x);
    return outcome.digest;
}

/* Of a fit that was never interrupted. */
static uint64_t unbroken_digest(size_t steps)
{
    keepfit_options *options = NULL;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    TAP_NEED(make_options(PROBLEM, &options, &error) == KEEPFIT_OK);
    TAP_NEED(keepfit_fit_create(options, &fit, &error) == KEEPFIT_OK);
    for (size_t k = 0; k < steps; k++)
        TAP_NEED(take_step(fit, story[k], false) == KEEPFIT_OK);
    uint64_t digest = model_digest(fit);
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    return digest;
}

static keepfit_status open_fit(const struct operation *operation, keepfit_fit **fit, keepfit_error *error)
{
    keepfit_options *options = NULL;
    keepfit_status status = make_options(operation->settings, &options, error);
    if (status == KEEPFIT_OK)
        status = keepfit_fit_create(options, fit, error);
    keepfit_options_free(options);
    return status;
}

/* The notes after so many steps, as a text. */
static const char *notes_after(size_t steps, char room[STEPS + 1])
{
    size_t used = 0;
    for (size_t k = 0; k < steps; k++) {
        used = story[k] == 'O' ? 0 : used;
        if (story[k] == 'o' || story[k] == 'O')
            room[used++] = story[k];
    }
    room[used] = '\0';
    return room;
}

/* Whether they are there, as they were after `least` steps or one more. */
static bool notes_are_there(const keepfit_fit *fit, size_t least)
{
    char there[STEPS + 1], room[STEPS + 1];
    keepfit_note note = {.struct_size = sizeof note};
    size_t count = 0;
    for (; count < STEPS && keepfit_fit_noted(fit, count, &note); count++)
        there[count] = note.count == 1 ? (char)note.bytes[0] : '?';
    there[count] = '\0';
    return strcmp(there, notes_after(least, room)) == 0 ||
           (least < STEPS && strcmp(there, notes_after(least + 1, room)) == 0);
}

/* `known` steps have been acknowledged; one more may have been taken. */
static const char *check_recovery(const struct operation *operation, size_t known)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {0};
    if (open_fit(operation, &fit, &error) != KEEPFIT_OK) {
        printf("# %s\n", error.message);
        return "no fit can go on from the journal";
    }
    size_t steps = steps_behind(fit);
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_fit_schema(fit, &schema);
    bool named = known > (size_t)(strchr(story, 'n') - story);
    bool notes = notes_are_there(fit, known);
    while (known < STEPS && leaves_no_trace(story[known]))
        known++;
    size_t most = known + 1;
    while (most < STEPS && leaves_no_trace(story[most]))
        most++;
    const char *breach = NULL;
    if (steps < known || !notes || (named && schema.classes != 2))
        breach = "something that was acknowledged is lost";
    else if (steps > most)
        breach = "there is more than was ever done";
    else if (model_digest(fit) != unbroken_digest(steps))
        breach = "the fit is not what it would have been";
    keepfit_fit_free(fit);
    return breach;
}

/* ---- before anything fails ---- */

static void prepare_nothing(const struct operation *operation)
{
    operations_wipe(operation->path);
}

static void prepare_journal(const struct operation *operation)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    prepare_nothing(operation);
    TAP_NEED(open_fit(operation, &fit, &error) == KEEPFIT_OK);
    for (size_t k = 0; k + 1 < STEPS; k++)
        TAP_NEED(take_step(fit, story[k], true) == KEEPFIT_OK);
    keepfit_fit_free(fit);
}

static void prepare_torn(const struct operation *operation)
{
    char path[400];
    prepare_journal(operation);
    snprintf(path, sizeof path, "%s/000001/00000000000000000001.segment", operation->path);
    FILE *file = fopen(path, "ab");
    TAP_NEED(file && fwrite("torn", 1, 4, file) == 4 && fclose(file) == 0);
}

/* ---- while something fails ---- */

/* The steps from..to-1, and where they lead. */
static void run_steps(const struct operation *operation, keepfit_fit *fit, size_t from, struct outcome *outcome)
{
    size_t k = from;
    while (k < STEPS && (outcome->status = take_step(fit, story[k], true)) == KEEPFIT_OK)
        k++;
    outcome->digest = model_digest(fit);
    outcome->error = *keepfit_fit_error(fit);
    keepfit_fit_free(fit);
    operations_calm();
    outcome->breach = check_recovery(operation, k);
}

static void run_write(const struct operation *operation, struct outcome *outcome)
{
    keepfit_fit *fit = NULL;
    outcome->status = open_fit(operation, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK) {
        run_steps(operation, fit, 0, outcome);
        return;
    }
    operations_calm();
    outcome->breach = check_recovery(operation, 0);
}

static void run_resume(const struct operation *operation, struct outcome *outcome)
{
    keepfit_fit *fit = NULL;
    outcome->status = open_fit(operation, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK) {
        run_steps(operation, fit, STEPS - 1, outcome);
        return;
    }
    operations_calm();
    outcome->breach = check_recovery(operation, STEPS - 1);
}

static void run_compact(const struct operation *operation, struct outcome *outcome)
{
    keepfit_fit *fit = NULL;
    outcome->status = open_fit(operation, &fit, &outcome->error);
    if (outcome->status == KEEPFIT_OK) {
        outcome->status = keepfit_fit_compact(fit);
        if (outcome->status == KEEPFIT_OK) {
            run_steps(operation, fit, STEPS - 1, outcome);
            return;
        }
        outcome->error = *keepfit_fit_error(fit);
    }
    keepfit_fit_free(fit);
    operations_calm();
    outcome->breach = check_recovery(operation, STEPS - 1);
}

/* Every point, and what is told of them. */
static void run_look(const struct operation *operation, struct outcome *outcome)
{
    keepfit_journal *journal = NULL;
    outcome->status = keepfit_journal_open(operation->path, NULL, &journal, &outcome->error);
    if (outcome->status != KEEPFIT_OK)
        return;
    keepfit_point point;
    uint64_t arrival;
    while ((outcome->status = keepfit_journal_next(journal, &point, &arrival)) == KEEPFIT_OK) {
        add_to_digest(outcome, &arrival, sizeof arrival);
        add_to_digest(outcome, point.row.value, point.row.count * sizeof *point.row.value);
    }
    outcome->status = outcome->status == KEEPFIT_END ? KEEPFIT_OK : outcome->status;
    outcome->error.status = outcome->status;
    keepfit_journal_close(journal);
}

/* The model without a fit; nothing is changed. */
static void run_model(const struct operation *operation, struct outcome *outcome)
{
    keepfit_model *model = NULL;
    keepfit_description about = {.struct_size = sizeof about};
    outcome->status = keepfit_journal_model(operation->path, NULL, &model, &outcome->error);
    if (outcome->status == KEEPFIT_OK) {
        keepfit_model_describe(model, &about);
        add_to_digest(outcome, about.weights, about.features * about.outputs * sizeof *about.weights);
    }
    keepfit_model_free(model);
    operations_calm();
    outcome->breach = check_recovery(operation, STEPS - 1);
}

static void run_repair(const struct operation *operation, struct outcome *outcome)
{
    outcome->status = keepfit_journal_repair(operation->path, NULL, &outcome->error);
    operations_calm();
    keepfit_journal *journal = NULL;
    keepfit_journal_info info = {0};
    if (keepfit_journal_open(operation->path, NULL, &journal, NULL) == KEEPFIT_OK)
        keepfit_journal_describe(journal, &info);
    if (outcome->status == KEEPFIT_OK && info.torn)
        outcome->breach = "a torn tail is left";
    keepfit_journal_close(journal);
    if (!outcome->breach)
        outcome->breach = check_recovery(operation, STEPS - 1);
}

size_t journal_operations(struct operation *list, size_t most)
{
    static const struct {
        const char *name;
        void (*prepare)(const struct operation *);
        void (*run)(const struct operation *, struct outcome *);
    } all[] = {
        {"journal: written", prepare_nothing, run_write},
        {"journal: gone on from", prepare_journal, run_resume},
        {"journal: compacted", prepare_journal, run_compact},
        {"journal: looked at", prepare_journal, run_look},
        {"journal: repaired", prepare_torn, run_repair},
        {"journal: its model", prepare_journal, run_model},
        {"journal: its model, behind a torn tail", prepare_torn, run_model},
    };
    size_t count = sizeof all / sizeof all[0];
    TAP_NEED(count <= most);
    for (size_t k = 0; k < count; k++) {
        list[k] = (struct operation){.prepare = all[k].prepare, .run = all[k].run};
        list[k].path = strcpy(malloc(320), operations_path("journal"));
        snprintf(list[k].name, sizeof list[k].name, "%s", all[k].name);
        snprintf(list[k].settings, sizeof list[k].settings, "%s journal=%s", PROBLEM, list[k].path);
    }
    return count;
}
