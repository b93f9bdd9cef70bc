#define _POSIX_C_SOURCE 200809L
#include "fit/fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "fit/centre.h"
#include "fit/durable.h"
#include "fit/fade.h"
#include "fit/validation.h"
#include "kernels/kernels.h"
#include "method/constants.h"

/* ---- creating ---- */

/* A network is not convex. */
static keepfit_status check_network(const keepfit_options *options, const struct kf_method *method,
                                    keepfit_error *error)
{
    if (method->needs_convexity)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{method=%s} proves how near the optimum is, which {loss=network} does not allow: it is not "
                       "convex; try csvrg, sgd or svrg",
                       method->name);
    if (options->setting == KF_SETTING_THEORY)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{setting=theory} is for convex losses, and {loss=network} is not; try {setting=tuned}");
    if (options->intercept)
        return kf_fail(error, KEEPFIT_USAGE,
                       "{intercept}: a network has biases already, in both layers (regularised like its weights)");
    return KEEPFIT_OK;
}

/* What lambda, bias and method demand of each other. */
static keepfit_status check_options(const keepfit_options *options, const struct kf_method *method,
                                    keepfit_error *error)
{
    bool total = !isnan(options->lambda_total);
    if (total && keepfit_options_given(options, "lambda"))
        return kf_fail(error, KEEPFIT_USAGE, "{lambda} and {lambda-total} exclude each other");
    if (options->intercept && !isnan(options->bias))
        return kf_fail(error, KEEPFIT_USAGE, "{bias} and {intercept} exclude each other");
    if (!isnan(options->bias) && options->bias == 0)
        return kf_fail(error, KEEPFIT_USAGE, "{bias}: a constant feature of 0 has no effect");
    if (method->squared_only && options->loss != 0)
        return kf_fail(error, KEEPFIT_USAGE, "{method=%s} works for {loss=squared} only", method->name);
    if (options->hidden)
        return check_network(options, method, error);
    double lambda = total ? options->lambda_total : options->lambda;
    if (method->needs_convexity && !(lambda > 0))
        return kf_fail(error, KEEPFIT_USAGE,
                       "{lambda}: must be above 0 for {method=%s}, which relies on strong convexity", method->name);
    if (options->setting == KF_SETTING_THEORY && !(lambda > 0) && isnan(options->convexity))
        return kf_fail(error, KEEPFIT_USAGE, "{lambda}: must be above 0 for {setting=theory} (or give {convexity})");
    return KEEPFIT_OK;
}

static const struct kf_running *at_work(const keepfit_fit *fit)
{
    assert(fit->running_count > 0 && fit->running_count <= KF_METHODS_IN_TURN);
    return &fit->running[fit->running_count - 1];
}

static bool set_up_objective(keepfit_fit *fit, const keepfit_objective *callbacks)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    const keepfit_options *options = fit->options;
    fit->meaning.lead = kf_lead_of(options, callbacks != NULL);
    objective->lambda = isnan(options->lambda_total) ? options->lambda : options->lambda_total;
    if (callbacks) {
        fit->own.callbacks = *callbacks;
        fit->own.callbacks.name = NULL; /* the caller's string may be gone soon */
        fit->own.name = kf_copy_text(callbacks->name && *callbacks->name ? callbacks->name : "user-written");
        objective->type = &kf_callback_objective;
        objective->callbacks = &fit->own.callbacks;
        fit->meaning.labels.kind = KF_NUMBERS;
    } else {
        objective->type = options->hidden ? &kf_network_objective : &kf_linear_objective;
        objective->hidden = (size_t)options->hidden;
        objective->loss = kf_loss_entry((size_t)options->loss);
        objective->free = options->intercept;
        fit->meaning.labels.kind = objective->loss->targets;
    }
    return !callbacks || fit->own.name;
}

static keepfit_status refuse_method(const char *name, keepfit_error *error)
{
    keepfit_guess guess = {.word = name};
    keepfit_entry method = {.struct_size = sizeof method};
    char names[256] = "";
    size_t length = 0;
    for (size_t k = 0; keepfit_family_entry(KEEPFIT_METHODS, k, &method); k++) {
        keepfit_guess_offer(&guess, method.name);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", k ? ", " : "", method.name);
        assert(length < sizeof names);
    }
    return kf_fail(error, KEEPFIT_USAGE, "{method}: '%s' is none of %s%s", name, names, keepfit_guess_hint(&guess, ""));
}

static keepfit_status join_team(keepfit_fit *fit, const keepfit_objective *callbacks, keepfit_error *error)
{
    const keepfit_options *options = fit->options;
    if (callbacks || options->hidden)
        return kf_fail(error, KEEPFIT_USAGE, "a team keeps linear models only, not %s; one process does",
                       callbacks ? "user-written objectives" : "{loss=network}");
    struct kf_far **far = &fit->task.problem.points.far;
    *far = kf_far_create(options->team, options->window);
    fit->task.problem.points.fetches = *far != NULL;
    return *far ? KEEPFIT_OK : kf_fail_memory(error);
}

static keepfit_status build(keepfit_fit *fit, const keepfit_objective *callbacks, keepfit_error *error)
{
    keepfit_status status = kf_task_create(&fit->task, fit->options, error);
    if (status != KEEPFIT_OK)
        return status;
    fit->asked = kf_method_find(fit->options->method);
    if (!fit->asked)
        return refuse_method(fit->options->method, error);
    if (callbacks && fit->asked->squared_only)
        return kf_fail(error, KEEPFIT_USAGE, "{method=%s} works for {loss=squared} only", fit->asked->name);
    status = check_options(fit->options, fit->asked, error);
    if (status == KEEPFIT_OK)
        status = kf_scales_check(fit->options, callbacks != NULL, error);
    if (status == KEEPFIT_OK)
        status = kf_fade_check(fit->options, callbacks != NULL, fit->asked->settle || !fit->asked->create, error);
    if (status != KEEPFIT_OK)
        return status;
    struct kf_step_size unused; /* methods without a step refuse nonsense too */
    status = kf_step_read(fit->options, (struct kf_step_size){KF_STEP_SHARE, 1}, true, true, &unused, error);
    if (status != KEEPFIT_OK)
        return status;
    if (fit->options->team)
        status = join_team(fit, callbacks, error);
    if (status != KEEPFIT_OK)
        return status;
    bool whole = set_up_objective(fit, callbacks);
    size_t slots = callbacks ? callbacks->dimension : kf_lead_width(&fit->meaning.lead);
    if (!whole || !kf_task_resize(&fit->task, slots, 1))
        return kf_fail_memory(error);
    return kf_fit_choose(fit, error);
}

/* One attempt, with options and journal that are the fit's own if it succeeds. */
static keepfit_status create_with(keepfit_options *options, const keepfit_objective *callbacks,
                                  struct kf_durable *durable, bool *unusable, keepfit_fit **out, keepfit_error *error)
{
    keepfit_fit *fit = kf_allocate(1, sizeof *fit);
    if (!fit)
        return kf_fail_memory(error);
    fit->error.struct_size = fit->death.struct_size = sizeof fit->error;
    fit->account.tally.worst_bound = NAN;
    fit->outcome = kf_no_outcome;
    fit->options = options;
    fit->durable = durable;
    fit->account.validation = kf_allocate(1, sizeof *fit->account.validation);
    keepfit_status status = fit->account.validation ? build(fit, callbacks, error) : kf_fail_memory(error);
    fit->task.stage.stop = &fit->stop;
    if (status == KEEPFIT_OK && durable)
        status = kf_durable_resume(fit, unusable, error);
    if (status == KEEPFIT_OK) {
        *out = fit;
        return status;
    }
    fit->options = NULL;
    fit->durable = NULL;
    keepfit_fit_free(fit);
    return status;
}

static keepfit_status create(const keepfit_options *options, const keepfit_objective *callbacks, keepfit_fit **out,
                             keepfit_error *error)
{
    struct kf_durable *durable = NULL;
    bool unusable = false;
    kf_error_clear(error);
    keepfit_options *own = keepfit_options_copy(options);
    keepfit_status status = own ? kf_durable_open_together(&durable, own, error) : kf_fail_memory(error);
    if (status == KEEPFIT_OK)
        status = create_with(own, callbacks, durable, &unusable, out, error);
    if (status != KEEPFIT_OK && unusable)
        status = create_with(own, callbacks, durable, &unusable, out, error);
    if (status != KEEPFIT_OK) {
        kf_durable_close(durable);
        keepfit_options_free(own);
    }
    return status;
}

keepfit_status keepfit_fit_create(const keepfit_options *options, keepfit_fit **fit, keepfit_error *error)
{
    return create(options, NULL, fit, error);
}

keepfit_status keepfit_fit_create_custom(const keepfit_options *options, const keepfit_objective *objective,
                                         keepfit_fit **fit, keepfit_error *error)
{
    keepfit_objective own = {.struct_size = sizeof own};
    KF_TAKE(&own, objective);
    if (!own.value || !own.gradient || own.dimension == 0)
        return kf_fail(error, KEEPFIT_USAGE, "an objective needs value, gradient and a dimension above 0");
    if (!own.curvature && isnan(options->smoothness))
        return kf_fail(error, KEEPFIT_USAGE, "an objective without curvature needs the option {smoothness}");
    return create(options, &own, fit, error);
}

void keepfit_fit_free(keepfit_fit *fit)
{
    if (!fit)
        return;
    struct kf_far *far = fit->task.problem.points.far;
    for (size_t k = 0; k < fit->running_count; k++)
        if (fit->running[k].method->destroy)
            fit->running[k].method->destroy(fit->running[k].state);
    kf_task_free(&fit->task); /* writes NULL into the vectors' places, which lie in the states */
    for (size_t k = 0; k < fit->running_count; k++)
        free(fit->running[k].state);
    kf_optimum_free(&fit->measured.optimum);
    free(fit->own.name);
    free(fit->meaning.labels.label);
    kf_schema_free(&fit->meaning.schema);
    free(fit->arrivals.of);
    kf_keys_free(&fit->arrivals.keys);
    kf_along_free(&fit->arrivals.fading.given);
    kf_along_free(&fit->arrivals.fading.times);
    free(fit->last_row.indices);
    free(fit->account.classes.seen);
    free(fit->account.validation);
    free(fit->measured.influence);
    kf_centres_free(&fit->centring.centres);
    kf_durable_close(fit->durable); /* rows lie in it */
    kf_far_free(far);
    kf_archive_free(&fit->snapshot);
    keepfit_options_free(fit->options);
    free(fit);
}

/* ---- pushing ---- */

void kf_fit_forget(keepfit_fit *fit)
{
    if (fit->running_count && at_work(fit)->method->forget)
        at_work(fit)->method->forget(&fit->task, at_work(fit)->state);
}

bool kf_fit_make_room(keepfit_fit *fit, size_t features, size_t classes)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    if (objective->callbacks)
        return true;
    size_t slots = features + kf_lead_width(&fit->meaning.lead), outputs = objective->outputs;
    if (slots < objective->slots)
        slots = objective->slots;
    if (fit->meaning.labels.kind == KF_MANY_CLASSES && classes > outputs) {
        outputs = classes;
        kf_fit_forget(fit);
    }
    return kf_task_resize(&fit->task, slots, outputs);
}

/* The two classes change places: with all targets negated, -x is worth what x was. */
static void swap_classes(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    for (size_t j = 0; j < task->problem.points.count; j++)
        task->problem.points.place[j].target = -task->problem.points.place[j].target;
    kf_read(task);
    kf_scale(kf_size(&task->problem), -1, task->iterate.x);
    kf_project(&task->problem, task->iterate.x);
    kf_load(task);
    kf_fit_forget(fit);
}

bool kf_fit_learn_label(keepfit_fit *fit, double label, double *target)
{
    enum kf_label_news news = kf_labels_take(&fit->meaning.labels, label, target);
    if (news == KF_LABEL_MEMORY)
        return false;
    if (news == KF_LABEL_FLIPPED)
        swap_classes(fit);
    return true;
}

/* Puts the point into the history under its mapped target. */
static bool take_in(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                    const struct kf_place *lent)
{
    keepfit_point mapped = *point;
    struct kf_points *points = &fit->task.problem.points;
    struct kf_centred_row centred;
    if (!kf_fit_learn_label(fit, point->target, &mapped.target) || !kf_centre_row(fit, &point->row, &centred))
        return false;
    mapped.weight = kf_fade_weight(fit, point->weight, fit->arrivals.arrived + 1, mark->time);
    if (lent && !kf_centres_change(&fit->centring.centres)) {
        struct kf_place place = *lent;
        place.target = mapped.target;
        place.weight = mapped.weight;
        return kf_points_append_lent(points, &place);
    }
    mapped.row = centred.row;
    if (!kf_points_append(points, &mapped, &fit->meaning.lead))
        return false;
    points->place[points->count - 1].filled = centred.filled;
    return true;
}

keepfit_status kf_fit_overflown(keepfit_fit *fit)
{
    return kf_fail(
        &fit->error, KEEPFIT_DIVERGED,
        "stage %llu: the iterate of %s is no longer finite; a smaller {step}, {step=capped}, a bounded {domain} or "
        "{scale} would help",
        (unsigned long long)fit->arrivals.arrived, at_work(fit)->method->name);
}

/* Whether the iterate is finite; for a scaled one, as far as its scales, the gradients that went into it and the newest row
 * show. Whoever reads all of it checks all of it. */
static bool is_finite(struct kf_task *task)
{
    const struct kf_view *view = &task->iterate.view;
    if (!task->iterate.scaled)
        return kf_all_finite(kf_size(&task->problem), task->iterate.x);
    struct kf_objective *objective = &task->problem.objective;
    return !task->iterate.overflown && isfinite(view->s) && isfinite(view->c) &&
           objective->type->is_finite(objective, view, task->problem.points.count - 1);
}

void kf_fit_allow(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    const keepfit_options *options = fit->options;
    uint64_t spent = task->problem.objective.fo;
    task->stage.fo_before = spent;
    task->stage.allowance = options->stage_budget ? options->stage_budget : UINT64_MAX;
    if (isnan(options->max_stage_work))
        return;
    double mean = fit->arrivals.arrived ? fmax((double)spent / (double)fit->arrivals.arrived, 1) : 1;
    double most = fmin(options->max_stage_work * mean, 1e18);
    if (most < (double)task->stage.allowance)
        task->stage.allowance = (uint64_t)most;
}

static keepfit_status work(keepfit_fit *fit, struct kf_occasion occasion)
{
    struct kf_task *task = &fit->task;
    const struct kf_running *running = at_work(fit);
    const struct kf_method *method = running->method;
    assert(occasion.has_come || method->settle);
    if (occasion.has_come && method->stage)
        return method->stage(task, running->state, &fit->error);
    keepfit_status status = KEEPFIT_OK;
    if (occasion.has_come && method->take)
        status = method->take(task, running->state, occasion.loss, &fit->error);
    return status == KEEPFIT_OK ? method->settle(task, running->state, &fit->outcome, &fit->error) : status;
}

/* What went wrong underneath. */
static keepfit_status look_for_failures(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    if (task->problem.objective.callback_failed)
        return kf_fail(&fit->error, KEEPFIT_CALLBACK, "stage %llu: the user-written objective reported a failure",
                       (unsigned long long)fit->arrivals.arrived);
    if (task->problem.objective.memory_failed)
        return kf_fail_memory(&fit->error);
    return KEEPFIT_OK;
}

keepfit_status kf_fit_run(keepfit_fit *fit, struct kf_occasion occasion)
{
    struct kf_task *task = &fit->task;
    keepfit_status status = KEEPFIT_OK;
    const struct kf_running *running = at_work(fit);
    fit->outcome = kf_no_outcome;
    uint64_t steps = task->stage.steps;
    kf_iterate_write(task); /* what was looked at since the last stage leaves no trace */
    kf_fit_limit(fit);
    kf_fit_limit_toil(fit);
    if (task->problem.objective.weight_total > 0)
        status = work(fit, occasion);
    else if (running->method->forget) /* it has not seen this point */
        running->method->forget(task, running->state);
    if (status == KEEPFIT_OK)
        status = kf_fit_give_up(fit);
    kf_iterate_write(task);
    keepfit_status failure = look_for_failures(fit);
    if (failure != KEEPFIT_OK)
        return failure;
    if (status == KEEPFIT_OK && task->problem.points.count && !is_finite(task))
        status = kf_fit_overflown(fit);
    if (status != KEEPFIT_OK)
        return status;
    if (fit->outcome.bound < 0) /* only a damaged snapshot's state leads there: it proves nothing */
        fit->outcome.bound = NAN;
    fit->outcome.work = kf_toil_done(task);
    fit->account.tally.improvements += task->stage.steps > steps;
    kf_fit_keep_account(fit);
    return look_for_failures(fit);
}

static keepfit_status run_stage(keepfit_fit *fit, double loss)
{
    keepfit_status status = kf_fit_choose(fit, &fit->error);
    if (status == KEEPFIT_OK)
        status = kf_fit_consider(fit);
    if (status != KEEPFIT_OK)
        return status;
    kf_iterate_suit(&fit->task);
    return kf_fit_run(fit, (struct kf_occasion){true, loss});
}

double kf_fit_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The first point that the stage will draw is asked for before it begins; any point where none will be. */
static size_t foresee_draw(const keepfit_fit *fit)
{
    const struct kf_task *task = &fit->task;
    const struct kf_method *method = at_work(fit)->method;
    size_t count = task->problem.points.count;
    if (!method->draws_among || count < 2)
        return 0;
    size_t first = kf_sampler_foresee(task, method->draws_among(count + 1));
    if (first >= count)
        return 0; /* the newest itself */
    kf_points_prefetch_place(&task->problem.points, first);
    return first;
}

keepfit_status kf_fit_ready(keepfit_fit *fit)
{
    kf_archive_free(&fit->snapshot);
    kf_fit_allow(fit);
    if (fit->death.status != KEEPFIT_OK)
        fit->error = fit->death;
    else
        kf_error_clear(&fit->error);
    if (fit->options->looking && !kf_durable_follows(fit) && !kf_durable_replays(fit))
        return kf_fail(&fit->error, KEEPFIT_USAGE, "the fit of a journal that is looked at is only there to be read");
    return fit->death.status;
}

void kf_fit_verify(const keepfit_fit *fit)
{
#ifndef NDEBUG
    const struct kf_objective *objective = &fit->task.problem.objective;
    const struct kf_meaning *meaning = &fit->meaning;
    size_t count = fit->task.problem.points.count, lead = kf_lead_width(&meaning->lead);
    assert(fit->task.problem.options == fit->options && objective->points == &fit->task.problem.points);
    assert(objective->points->arrived == fit->arrivals.arrived);
    assert(fit->arrivals.arrived >= count && (!fit->arrivals.of || fit->arrivals.capacity >= count));
    assert(fit->account.tally.waiting <= fit->account.tally.unproved);
    assert(objective->callbacks || objective->slots >= meaning->features + lead);
    assert(meaning->labels.kind != KF_NUMBERS || meaning->labels.count == 0);
    assert(meaning->labels.kind != KF_TWO_CLASSES || meaning->labels.count <= 2);
    assert(meaning->labels.kind != KF_MANY_CLASSES || objective->outputs >= meaning->labels.count);
    assert(!kf_centres_change(&fit->centring.centres) || (fit->centring.given_x && meaning->lead.there));
#else
    (void)fit;
#endif
}

keepfit_status kf_fit_admit(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                            const struct kf_place *lent)
{
    bool begun = kf_fit_replace(fit, mark) && kf_fade_begin(fit, mark);
    bool new_class = kf_labels_foresee(&fit->meaning.labels, point->target) == KF_LABEL_NEW;
    size_t width = kf_row_width(&point->row);
    if (!begun || !kf_fit_make_room(fit, width, fit->meaning.labels.count + new_class) ||
        !take_in(fit, point, mark, lent) || !kf_fit_arrive(fit) || !kf_fit_remember(fit, mark) ||
        !kf_fade_keep(fit, mark, point->weight)) {
        kf_fail_memory(&fit->death);
        return kf_fail_memory(&fit->error);
    }
    if (width > fit->meaning.features)
        fit->meaning.features = width;
    kf_fit_verify(fit);
    return KEEPFIT_OK;
}

static keepfit_status push(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                           const struct kf_place *lent)
{
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK)
        status = kf_fit_check(fit, point, mark, &fit->error);
    if (status == KEEPFIT_OK)
        status = kf_durable_point(fit, point, mark);
    if (status != KEEPFIT_OK)
        return status;
    size_t first = foresee_draw(fit);
    status = kf_fit_admit(fit, point, mark, lent);
    if (status != KEEPFIT_OK)
        return status;
    kf_points_prefetch_row(&fit->task.problem.points, first);
    double loss = kf_fit_account(fit);
    status = kf_centre_arrived(fit) ? run_stage(fit, loss) : kf_fail_memory(&fit->error);
    if (status != KEEPFIT_OK)
        fit->death = fit->error;
    return status;
}

/* `mark` and `lent` belong to the only one. */
static keepfit_status push_all(keepfit_fit *fit, const keepfit_point *points, size_t count, const struct kf_mark *mark,
                               const struct kf_place *lent, size_t *pushed)
{
    assert((!lent && !mark->length) || count == 1);
    double start = kf_fit_clock();
    keepfit_status status = KEEPFIT_OK;
    size_t k = 0;
    while (k < count &&
           (status = kf_fit_stopped(fit) ? KEEPFIT_STOPPED : push(fit, &points[k], mark, lent)) == KEEPFIT_OK)
        k++;
    if (pushed)
        *pushed = k;
    fit->account.seconds += kf_fit_clock() - start;
    return kf_durable_acknowledge(fit, status);
}

keepfit_status kf_fit_push(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark,
                           const struct kf_place *lent)
{
    return push_all(fit, point, 1, mark, lent, NULL);
}

keepfit_status keepfit_fit_push_block(keepfit_fit *fit, const keepfit_point *points, size_t count, size_t *pushed)
{
    return push_all(fit, points, count, &kf_no_mark, NULL, pushed);
}

keepfit_status keepfit_fit_push(keepfit_fit *fit, const keepfit_point *point)
{
    return push_all(fit, point, 1, &kf_no_mark, NULL, NULL);
}

const keepfit_error *keepfit_fit_error(const keepfit_fit *fit)
{
    return &fit->error;
}
