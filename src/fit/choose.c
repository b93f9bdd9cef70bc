/* Which method is at work.
 *
 * For auto it is the one that kf_method_choose names by loss, size and domain. Where another would do as well
 * (kf_method_rival), the two are measured: from time to time the other one is put to work for some stages, and stays if it
 * has done them for less than the first would have needed, going by the stages before. If it needs more, then or later, the
 * first one comes back, in the middle of a stage if need be, and finishes that. And a stage that takes its method too many
 * passes over the points, as the first one may after a large block, is finished by the other.
 *
 * What is measured is work in nominal nanoseconds: FOs, and what methods report of all else (kf_spend), as problem/costs.h
 * believes it. No clock is looked at, so that the same data give the same bits on any machine. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "certificate/curvature.h"
#include "fit/fit.h"
#include "hold/hold.h"
#include "optimum/dual.h"
#include "problem/costs.h"

/* The first trial, and how many times the stage that the last one was at the next is. */
#define TRIAL_FIRST 64 /* speed: bench/tuning.md */
/* Where the first stages say little of what steps with an old Hessian will cost, not before this one. */
#define TRIAL_FIRST_SMALL 256 /* speed: bench/tuning.md */
/* and where passes are rare, there are few gradients to save: */
#define TRIAL_FIRST_RARE 1024 /* speed: bench/tuning.md */
#define AFTER 4               /* speed: bench/tuning.md */
/* and where Newton's directions go by few points, whose products grow with every point: */
#define AFTER_FEW 2 /* speed: bench/auto.md */
/* A trial's length as a share of the stages so far. */
#define TRIAL_SHARE 16 /* speed: bench/tuning.md */
/* A change and the way back may cost so many times what a trial's stages would have. */
#define WORTH 4.0 /* speed: bench/tuning.md */
/* and how much of what it may spend it may spend at once. */
#define TRIAL_AT_ONCE 0.25 /* speed: bench/tuning.md */
/* It wins if it spends no more than this share of what the other would: a little is no reason to change. */
#define WIN_SHARE 0.75 /* speed: bench/tuning.md */
/* and this where it goes by few points: its work grows with them. */
#define WIN_FEW 0.25 /* speed: bench/auto.md */
/* No method that goes by the gradient's norm alone has been seen to win against one whose proofs are this many times as sharp, or half. */
#define FAR_AHEAD 16.0 /* speed: bench/tuning.md */
/* One that has won may spend so many times what the other did, then it is the other's turn again. */
#define LENIENCE 4.0 /* safety: a win by luck costs so much at most */
/* The gradients that a stage may compute before it is the other's: some, and in passes over the points. */
#define GRADIENTS_LEAST 100000 /* safety: an end to what the other does sooner */
#define PASSES_MOST 64         /* safety: likewise */
static bool may_scale(const keepfit_fit *fit, const struct kf_method *method)
{
    const struct kf_domain *domain = &fit->task.problem.domain;
    bool ball = strcmp(domain->type->name, "ball") == 0 && !fit->task.problem.objective.hidden;
    bool projects = kf_domain_is_whole(domain) || ball;
    bool free_moves = fit->options->intercept && method->looks_back;
    return method->scaled && projects && !free_moves && !fit->task.problem.objective.callbacks &&
           fit->options->iterate != KF_STORAGE_DENSE;
}

/* The iterate is stored as the method wants it; its vectors may still be missing. */
static void represent(keepfit_fit *fit, const struct kf_method *method)
{
    struct kf_iterate *iterate = &fit->task.iterate;
    kf_read(&fit->task);
    iterate->scaled = may_scale(fit, method);
    iterate->may_change = iterate->scaled && fit->options->iterate == KF_STORAGE_AUTO &&
                          !fit->task.problem.objective.hidden; /* a network's list makes up for full rows */
}

keepfit_status kf_fit_start(keepfit_fit *fit, const struct kf_method *method, keepfit_error *error)
{
    if (fit->running_count == KF_METHODS_IN_TURN)
        return kf_fail(error, KEEPFIT_USAGE, "the method was changed too often");
    void *state = kf_allocate(1, method->state_size);
    if (!state)
        return kf_fail_memory(error);
    fit->running[fit->running_count++] = (struct kf_running){.method = method, .state = state};
    bool was_scaled = fit->task.iterate.scaled;
    represent(fit, method);
    keepfit_status status = method->create(&fit->task, state, error);
    if (status != KEEPFIT_OK) { /* the new representation may lack memory; x can still be read from the old one */
        fit->task.iterate.scaled = was_scaled;
        kf_iterate_moved(&fit->task);
    }
    fit->running[fit->running_count - 1].needs = fit->task.iterate.needs;
    return status == KEEPFIT_NO_MEMORY ? kf_fail_memory(error) : status;
}

static const struct kf_method *at_work(const keepfit_fit *fit)
{
    assert(fit->running_count > 0);
    return fit->running[fit->running_count - 1].method;
}

/* The method takes over; if it was at work before, with nothing remembered of that. */
static keepfit_status change_to(keepfit_fit *fit, const struct kf_method *method, keepfit_error *error)
{
    size_t k = 0, last = fit->running_count - 1;
    while (k <= last && fit->running[k].method != method)
        k++;
    if (k > last)
        return kf_fit_start(fit, method, error);
    struct kf_running again = fit->running[k];
    assert(again.state && again.method->forget); /* what it remembers is of long ago */
    memmove(fit->running + k, fit->running + k + 1, (last - k) * sizeof *fit->running);
    fit->running[last] = again;
    represent(fit, method);
    if (method->forget)
        method->forget(&fit->task, again.state);
    return kf_iterate_prepare(&fit->task, again.needs) ? KEEPFIT_OK : kf_fail_memory(error);
}

keepfit_status kf_fit_choose(keepfit_fit *fit, keepfit_error *error)
{
    struct kf_choice *choice = &fit->choice;
    if (strcmp(fit->asked->name, "auto") != 0)
        return fit->running_count ? KEEPFIT_OK : kf_fit_start(fit, fit->asked, error);
    const char *reason;
    const struct kf_method *first = kf_method_choose(&fit->task.problem, &reason);
    choice->rival = kf_method_rival(&fit->task.problem, first);
    bool known = choice->first == first && fit->running_count;
    if (known && (choice->rival || at_work(fit) == first)) /* a rival may be one no longer */
        return KEEPFIT_OK;
    *choice = (struct kf_choice){.first = first, .rival = choice->rival, .next = TRIAL_FIRST, .work = choice->work};
    while (choice->next <= fit->arrivals.arrived)
        choice->next *= 2;
    snprintf(choice->reason, sizeof choice->reason, "%s", reason);
    return fit->running_count ? change_to(fit, first, error) : kf_fit_start(fit, first, error);
}

void kf_choice_recall(keepfit_fit *fit)
{
    const char *reason;
    fit->choice.first = kf_method_choose(&fit->task.problem, &reason);
    fit->choice.rival = kf_method_rival(&fit->task.problem, fit->choice.first);
}

/* ---- trials ---- */

/* What was done since the last look joins the account. */
static void count_work(keepfit_fit *fit)
{
    struct kf_choice *choice = &fit->choice;
    struct kf_task *task = &fit->task;
    choice->work +=
        task->stage.work + (double)(task->problem.objective.fo - choice->fo) * kf_cost_gradient(&task->problem);
    task->stage.work = 0;
    choice->fo = task->problem.objective.fo;
}

static void begin_stretch(keepfit_fit *fit)
{
    fit->choice.change = 0;
    fit->choice.since = fit->arrivals.arrived;
    fit->choice.work_then = fit->choice.work;
}

/* The one of the two that is not at work. */
static const struct kf_method *other(const keepfit_fit *fit)
{
    assert(fit->choice.first && fit->choice.rival);
    return at_work(fit) == fit->choice.first ? fit->choice.rival : fit->choice.first;
}

/* Whether the method makes Newton's directions, and whether of few points: of the products of all rows. */
static bool is_newton(const struct kf_method *method)
{
    return method->settle == kf_hold_settle;
}

static bool goes_by_few(const keepfit_fit *fit, const struct kf_method *method)
{
    return is_newton(method) && kf_dual_suits(&fit->task.problem);
}

/* The way to the other one, which comes once: a pass, and where Newton's directions are made of them the products of all rows. */
static double cost_of_way(const keepfit_fit *fit)
{
    const struct kf_problem *problem = &fit->task.problem;
    double points = (double)problem->points.count;
    bool products = goes_by_few(fit, other(fit));
    return kf_cost_pass(problem) + (products ? kf_cost_entries(problem) * points * points / 4 : 0);
}

/* That, a pass on the way back, and a Hessian where it takes one. */
static double cost_of_change(const keepfit_fit *fit)
{
    const struct kf_problem *problem = &fit->task.problem;
    bool few = kf_dual_suits(problem) && !kf_rows_are_sparse(problem);
    bool hessian = kf_curvature_suits(problem) && !few;
    return cost_of_way(fit) + kf_cost_pass(problem) + (hessian ? kf_cost_hessian(problem) : 0);
}

/* The next trial, of the other one beside the one that stays. */
static uint64_t next_trial(const keepfit_fit *fit, const struct kf_method *stays)
{
    bool soon = goes_by_few(fit, stays) && !kf_rows_are_sparse(&fit->task.problem);
    return (soon ? AFTER_FEW : AFTER) * fit->arrivals.arrived;
}

/* The trial is over. */
static void end_trial(keepfit_fit *fit, bool won)
{
    struct kf_choice *choice = &fit->choice;
    assert(choice->trying || choice->watched);
    const char *tried = at_work(fit)->name, *before = other(fit)->name;
    double stages = (double)(fit->arrivals.arrived - choice->since), spent = choice->work - choice->work_then;
    snprintf(choice->reason, sizeof choice->reason,
             "measured at stage %llu, in work a stage (about ns): %s %.3g, %s %.3g%s",
             (unsigned long long)choice->since, before, choice->rate, tried, spent / (stages > 0 ? stages : 1),
             won ? "" : " and given up");
    choice->trying = false;
    choice->watched = won;
    choice->next = next_trial(fit, won ? at_work(fit) : other(fit));
}

static keepfit_status go_back(keepfit_fit *fit)
{
    const struct kf_method *before = other(fit);
    end_trial(fit, false);
    return change_to(fit, before, &fit->error);
}

static keepfit_status hand_over(keepfit_fit *fit)
{
    struct kf_choice *choice = &fit->choice;
    snprintf(choice->reason, sizeof choice->reason, "at stage %llu, %s had not met the target with %llu gradients",
             (unsigned long long)fit->arrivals.arrived, at_work(fit)->name,
             (unsigned long long)(fit->task.problem.objective.fo - fit->task.stage.fo_before));
    choice->next = AFTER * fit->arrivals.arrived;
    return change_to(fit, other(fit), &fit->error);
}

/* What the method at work may still spend, beside the other. On trial a part of it at once, and the rest as stages go by: one that is far
 * worse is found out soon. */
static double left(const keepfit_fit *fit)
{
    const struct kf_choice *choice = &fit->choice;
    double spent = choice->work - choice->work_then - choice->change, length = (double)choice->length;
    double stages = (double)(fit->arrivals.arrived - choice->since);
    double share = goes_by_few(fit, at_work(fit)) ? WIN_FEW : WIN_SHARE;
    double trial = share * (TRIAL_AT_ONCE * length + (1 - TRIAL_AT_ONCE) * stages);
    return choice->rate * (choice->trying ? trial : LENIENCE * (length + stages)) - spent;
}

static void limit_stage(keepfit_fit *fit)
{
    double most = left(fit) / kf_cost_gradient(&fit->task.problem);
    if (most < (double)fit->task.stage.allowance)
        fit->task.stage.allowance = most > 1 ? (uint64_t)most : 1;
}

/* Whether the method at work goes by so much more than the gradient's norm that one which has nothing else need not be tried. */
static bool is_far_ahead(keepfit_fit *fit)
{
    struct kf_choice *choice = &fit->choice;
    const struct kf_running *running = &fit->running[fit->running_count - 1];
    double times = running->method->advantage ? running->method->advantage(&fit->task, running->state) : 1;
    if (!(times > FAR_AHEAD))
        return false;
    snprintf(choice->reason, sizeof choice->reason,
             "%s is not tried: at stage %llu what its proofs go by would allow %.3g times the gap", other(fit)->name,
             (unsigned long long)fit->arrivals.arrived, times);
    return true;
}

static keepfit_status begin_trial(keepfit_fit *fit)
{
    struct kf_choice *choice = &fit->choice;
    bool waits = choice->first->advantage && kf_curvature_suits(&fit->task.problem) &&
                 kf_curvature_foretells(&fit->task.problem);
    bool rare = fit->task.problem.objective.fo <= KF_HOLD_RARE_MOST * fit->arrivals.arrived;
    uint64_t earliest = !waits ? 0 : rare ? TRIAL_FIRST_RARE : TRIAL_FIRST_SMALL;
    if (fit->arrivals.arrived < earliest) {
        choice->next = earliest;
        return KEEPFIT_OK;
    }
    uint64_t stages = fit->arrivals.arrived - choice->since;
    choice->rate = (choice->work - choice->work_then) / (double)(stages ? stages : 1);
    assert(!choice->trying);
    choice->length = fit->arrivals.arrived / TRIAL_SHARE;
    begin_stretch(fit);
    if (is_far_ahead(fit)) {
        choice->next = AFTER * fit->arrivals.arrived;
        return KEEPFIT_OK;
    }
    bool dear = is_newton(other(fit)) && (kf_rows_are_sparse(&fit->task.problem) || kf_dual_suits(&fit->task.problem));
    /* Where a change and the way back are much of what is spent until the next trial, it is too early. */
    choice->change = 0;
    if (!((dear ? 1 : WORTH) * choice->rate * (double)choice->length > cost_of_change(fit))) {
        choice->next = 2 * fit->arrivals.arrived;
        return KEEPFIT_OK;
    }
    choice->trying = true;
    choice->watched = false;
    choice->change = cost_of_way(fit);
    limit_stage(fit);
    return change_to(fit, other(fit), &fit->error);
}

keepfit_status kf_fit_consider(keepfit_fit *fit)
{
    struct kf_choice *choice = &fit->choice;
    if (!choice->rival || kf_is_limited(&fit->task.problem))
        return KEEPFIT_OK;
    count_work(fit);
    if ((choice->trying || choice->watched) && left(fit) <= 0)
        return go_back(fit);
    if (choice->trying && fit->arrivals.arrived >= choice->since + choice->length) {
        end_trial(fit, true);
        begin_stretch(fit);
    }
    if (!choice->trying && fit->arrivals.arrived >= choice->next)
        return begin_trial(fit);
    if (!choice->trying && fit->arrivals.arrived == choice->next - choice->next / 4)
        begin_stretch(fit);
    if (choice->trying || choice->watched)
        limit_stage(fit);
    return KEEPFIT_OK;
}

void kf_fit_limit(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    uint64_t passes = PASSES_MOST * (uint64_t)task->problem.points.count;
    uint64_t most = passes > GRADIENTS_LEAST ? passes : GRADIENTS_LEAST;
    if (fit->choice.rival && !kf_is_limited(&task->problem) && most < task->stage.allowance)
        task->stage.allowance = most;
}

/* Whether the target was missed on trial, or for want of gradients: what is left of them may be too little for anything. */
static bool is_others_turn(const keepfit_fit *fit)
{
    const struct kf_task *task = &fit->task;
    const struct kf_choice *choice = &fit->choice;
    if (!choice->rival || kf_is_limited(&task->problem) || fit->outcome.bound <= fit->outcome.target)
        return false;
    uint64_t spent = task->problem.objective.fo - task->stage.fo_before;
    return choice->trying || choice->watched || spent > task->stage.allowance / 2;
}

keepfit_status kf_fit_give_up(keepfit_fit *fit)
{
    struct kf_task *task = &fit->task;
    if (!is_others_turn(fit))
        return KEEPFIT_OK;
    count_work(fit);
    keepfit_status status = fit->choice.trying || fit->choice.watched ? go_back(fit) : hand_over(fit);
    task->stage.allowance = UINT64_MAX;
    const struct kf_running *running = &fit->running[fit->running_count - 1];
    return status == KEEPFIT_OK ? running->method->settle(task, running->state, &fit->outcome, &fit->error) : status;
}

void kf_choice_archive(struct kf_choice *choice, struct kf_archive *archive)
{
    uint64_t steps = 0; /* of older versions */
    uint64_t *numbers[] = {&choice->next, &choice->since, &choice->length, &choice->fo, &steps};
    double *reals[] = {&choice->work, &choice->work_then, &choice->rate};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        kf_archive_number(archive, numbers[k]);
    for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
        kf_archive_real(archive, reals[k]);
    kf_archive_flag(archive, &choice->trying);
    kf_archive_flag(archive, &choice->watched);
    kf_archive_text(archive, choice->reason, sizeof choice->reason);
    if (archive->version >= KF_VERSION_WITH_FEW_POINTS)
        kf_archive_real(archive, &choice->change);
}
