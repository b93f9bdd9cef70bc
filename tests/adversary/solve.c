/* Newton's method in quads. The quadratic model is minimised over the domain itself, so steps stay in it. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int descending(const void *a, const void *b)
{
    quad left = *(const quad *)a, right = *(const quad *)b;
    return (left < right) - (left > right);
}

quad reference_threshold(size_t size, const quad *x)
{
    quad sorted[SIZE_MOST], sum = 0, threshold = 0;
    memcpy(sorted, x, size * sizeof *x);
    qsort(sorted, size, sizeof *sorted, descending);
    for (size_t k = 0; k < size; k++) {
        sum += sorted[k];
        quad candidate = (sum - 1) / (quad)(k + 1);
        if (k > 0 && sorted[k] <= candidate)
            break;
        threshold = candidate;
    }
    return threshold;
}

void reference_project(const struct reference *reference, quad *x)
{
    quad *held = x + reference->held;
    size_t count = reference->size - reference->held;
    if (reference->domain == BALL) {
        quad norm = sqrtq(quad_dot(count, held, held));
        for (size_t k = 0; k < count && norm > reference->high; k++)
            held[k] *= reference->high / norm;
    }
    for (size_t k = 0; k < count && reference->domain == BOX; k++)
        held[k] = quad_most(reference->low, quad_least(reference->high, held[k]));
    if (reference->domain != SIMPLEX || count == 0)
        return;
    quad threshold = reference_threshold(count, held), sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += held[k] = quad_most(0, held[k] - threshold);
    for (size_t k = 0; k < count; k++)
        held[k] /= sum;
}

/* ---- the quadratic model ---- */

/* The coordinates that move, and their part of the Hessian. */
struct system {
    size_t count, at[SIZE_MOST];
    quad matrix[SIZE_MOST * SIZE_MOST];
};

/* A shift of all softmax's free intercepts changes nothing, so the first one stays. */
static bool is_pinned(const struct reference *reference, size_t k)
{
    return k == 0 && reference->free && reference->loss == SOFTMAX;
}

static quad entry(const struct reference *reference, const struct place *place, size_t k, size_t l)
{
    return k > l ? place->hessian[k * reference->size + l] : place->hessian[l * reference->size + k];
}

/* Factorises the Hessian + extra (1 for what is held), with as much more on the diagonal as that needs. */
static bool prepare(const struct reference *reference, const struct place *place, quad extra, struct system *system)
{
    size_t count = system->count;
    for (quad more = 0; more < 1; more = more * 1000 + (quad)1e-33) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j <= i; j++)
                system->matrix[i * count + j] = entry(reference, place, system->at[i], system->at[j]);
            system->matrix[i * count + i] *= 1 + more;
            if (more > 0 && system->matrix[i * count + i] == 0)
                system->matrix[i * count + i] = reference_bend(reference);
            if (system->at[i] >= reference->held)
                system->matrix[i * count + i] += extra;
        }
        if (quad_factorise(count, count, system->matrix))
            return true;
    }
    return false;
}

static void take_all(const struct reference *reference, struct system *system)
{
    system->count = 0;
    for (size_t k = 0; k < reference->size; k++)
        if (!is_pinned(reference, k))
            system->at[system->count++] = k;
}

/* The step that minimises the model + extra/2 |y|^2. */
static bool step_with(const struct reference *reference, const struct place *place, quad extra, struct system *system,
                      quad *y)
{
    quad step[SIZE_MOST];
    if (!prepare(reference, place, extra, system))
        return false;
    for (size_t i = 0; i < system->count; i++) {
        size_t k = system->at[i];
        step[i] = -place->gradient[k] - (k >= reference->held ? extra * place->x[k] : 0);
    }
    quad_solve(system->count, system->count, system->matrix, step);
    memcpy(y, place->x, reference->size * sizeof *y);
    for (size_t i = 0; i < system->count; i++)
        y[system->at[i]] += step[i];
    return true;
}

/* The extra with which |y| is the radius: Newton's method on 1/|y|, which is nearly straight in it. */
static bool model_ball(const struct reference *reference, const struct place *place, struct system *system, quad *y)
{
    quad extra = 0, radius = reference->high, z[SIZE_MOST];
    for (int round = 0; round < 80; round++) {
        if (!step_with(reference, place, extra, system, y))
            return false;
        size_t held = reference->held, count = reference->size - held;
        quad square = quad_dot(count, y + held, y + held), norm = sqrtq(square);
        if (norm <= radius * (1 + (quad)1e-32) && (round == 0 || norm >= radius * (1 - (quad)1e-32)))
            return true;
        for (size_t i = 0; i < system->count; i++)
            z[i] = system->at[i] >= held ? y[system->at[i]] : 0;
        quad_solve(system->count, system->count, system->matrix, z);
        quad bent = 0;
        for (size_t i = 0; i < system->count; i++)
            bent += system->at[i] >= held ? z[i] * y[system->at[i]] : 0;
        quad next = extra + square / bent * (norm - radius) / radius;
        if (!(next > 0) || next == extra)
            return true;
        extra = next;
    }
    return true;
}

/* ---- boxes and the simplex: an active set ---- */

enum state { LOOSE, AT_LOW, AT_HIGH };

struct active {
    const struct reference *reference;
    const struct place *place;
    enum state state[SIZE_MOST];
    quad *y, slope[SIZE_MOST]; /* of the model at y */
    quad level;                /* simplex: the multiplier of the sum */
    struct system system;
};

static quad lowest(const struct active *active, size_t k)
{
    if (k < active->reference->held)
        return -INFINITY;
    return active->reference->domain == BOX ? active->reference->low : 0;
}

static quad highest(const struct active *active, size_t k)
{
    return k < active->reference->held || active->reference->domain != BOX ? INFINITY : active->reference->high;
}

static void find_slope(struct active *active)
{
    size_t size = active->reference->size;
    for (size_t k = 0; k < size; k++) {
        active->slope[k] = active->place->gradient[k];
        for (size_t l = 0; l < size; l++)
            active->slope[k] += entry(active->reference, active->place, k, l) * (active->y[l] - active->place->x[l]);
    }
}

/* The best step of the loose coordinates. */
static bool find_step(struct active *active, quad *step)
{
    struct system *system = &active->system;
    quad ones[SIZE_MOST], above = 0, below = 0;
    system->count = 0;
    for (size_t k = 0; k < active->reference->size; k++)
        if (active->state[k] == LOOSE && !is_pinned(active->reference, k))
            system->at[system->count++] = k;
    active->level = 0;
    if (system->count && !prepare(active->reference, active->place, 0, system))
        return false;
    for (size_t i = 0; i < system->count; i++) {
        step[i] = -active->slope[system->at[i]];
        ones[i] = system->at[i] >= active->reference->held;
    }
    quad_solve(system->count, system->count, system->matrix, step);
    if (active->reference->domain != SIMPLEX)
        return true;
    quad_solve(system->count, system->count, system->matrix, ones);
    for (size_t i = 0; i < system->count; i++)
        if (system->at[i] >= active->reference->held) {
            above += step[i];
            below += ones[i];
        }
    active->level = below > 0 ? -above / below : 0;
    for (size_t i = 0; i < system->count; i++)
        step[i] += active->level * ones[i];
    return true;
}

/* Goes as far as the bounds allow. True: a bound was in the way, and holds from now on. */
static bool go(struct active *active, const quad *step)
{
    const struct system *system = &active->system;
    quad length = 1;
    size_t stopped = SIZE_MOST;
    for (size_t i = 0; i < system->count; i++) {
        size_t k = system->at[i];
        quad limit = step[i] < 0 ? lowest(active, k) : highest(active, k);
        quad room = step[i] != 0 && !isinfq(limit) ? (limit - active->y[k]) / step[i] : 2;
        if (room < length) {
            length = quad_most(room, 0);
            stopped = i;
        }
    }
    for (size_t i = 0; i < system->count; i++) {
        size_t k = system->at[i];
        active->y[k] = quad_most(lowest(active, k), quad_least(highest(active, k), active->y[k] + length * step[i]));
    }
    if (stopped == SIZE_MOST)
        return false;
    size_t k = system->at[stopped];
    active->y[k] = step[stopped] < 0 ? lowest(active, k) : highest(active, k);
    active->state[k] = step[stopped] < 0 ? AT_LOW : AT_HIGH;
    return true;
}

/* The coordinate that most wants to leave its bound; false: none does. */
static bool release(struct active *active)
{
    quad most = 0;
    size_t best = SIZE_MOST;
    for (size_t k = active->reference->held; k < active->reference->size; k++) {
        quad pull = active->slope[k] - active->level, curve = entry(active->reference, active->place, k, k);
        if (active->state[k] == LOOSE || (active->state[k] == AT_LOW ? pull >= 0 : pull <= 0))
            continue;
        quad gain = curve > 0 ? pull * pull / curve : pull * pull;
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    if (best < SIZE_MOST)
        active->state[best] = LOOSE;
    return best < SIZE_MOST;
}

static bool model_bounds(const struct reference *reference, const struct place *place, quad *y)
{
    struct active active = {.reference = reference, .place = place, .y = y};
    quad step[SIZE_MOST];
    memcpy(y, place->x, reference->size * sizeof *y);
    for (size_t k = reference->held; k < reference->size; k++)
        active.state[k] = y[k] <= lowest(&active, k) ? AT_LOW : y[k] >= highest(&active, k) ? AT_HIGH : LOOSE;
    for (size_t round = 0; round < 12 * reference->size + 20; round++) {
        find_slope(&active);
        if (!find_step(&active, step))
            return false;
        if (go(&active, step))
            continue;
        find_slope(&active);
        if (!release(&active))
            return true;
    }
    return true; /* not the minimiser, but lower than where it began */
}

bool reference_model(const struct reference *reference, const struct place *place, quad *y)
{
    struct system system;
    take_all(reference, &system);
    if (reference->domain == WHOLE)
        return step_with(reference, place, 0, &system, y);
    if (reference->domain == BALL)
        return model_ball(reference, place, &system, y);
    return model_bounds(reference, place, y);
}

/* ---- Newton's method ---- */

static void keep_better(struct optimum *optimum, const struct reference *reference, const struct place *place)
{
    quad lower = reference_lower(reference, place);
    optimum->lower = quad_most(optimum->lower, lower);
    if (place->value + place->value_error < optimum->upper) {
        optimum->upper = place->value + place->value_error;
        optimum->upper_error = 2 * place->value_error;
        memcpy(optimum->x, place->x, reference->size * sizeof *optimum->x);
    }
}

/* Moves to the first of x + (y-x)/2^k with less than the value, or where rounding says nothing about that. False: none. */
static bool search(const struct reference *reference, struct place *place, const quad *y)
{
    static struct place trial;
    quad promise = 0, length = 1;
    size_t size = reference->size;
    for (size_t k = 0; k < size; k++)
        promise += place->gradient[k] * (y[k] - place->x[k]);
    bool blind = quad_size(promise) <= 8 * (quad)place->value_error;
    for (int half = 0; half < 100; half++, length /= 2) {
        for (size_t k = 0; k < size; k++)
            trial.x[k] = half ? place->x[k] + length * (y[k] - place->x[k]) : y[k];
        reference_project(reference, trial.x); /* rounding, no more */
        reference_look(reference, &trial, LOOK_VALUE);
        if (blind || trial.value <= place->value + length * promise / 10000) {
            memcpy(place->x, trial.x, size * sizeof *trial.x);
            return true;
        }
    }
    return false;
}

static quad slope_moved(const struct reference *reference, const struct place *place, quad by)
{
    quad sum = 0;
    for (size_t j = 0; j < reference->count; j++)
        sum += reference->share[j] * reference_slope(reference, j, place->score[j][0] + by);
    return sum;
}

/* A free intercept of one score is put where its slope changes its sign. Where losses are straight, or flat to hundreds of digits, Newton's
 * steps know no length. */
static void settle_intercept(const struct reference *reference, struct place *place)
{
    bool kinked = is_kinked(reference->loss);
    if (!reference->free || (!kinked && reference->loss != LOGISTIC && reference->loss != LOGCOSH))
        return;
    reference_look(reference, place, LOOK_VALUE);
    quad slope = slope_moved(reference, place, 0), side = slope > 0 ? -1 : 1, near = 0, far = side;
    if (slope == 0 || (!kinked && slope_moved(reference, place, far) * side >= 0))
        return; /* near enough for Newton */
    while (slope_moved(reference, place, far) * side < 0 && quad_size(far) < (quad)1e40) {
        near = far;
        far *= 4;
    }
    quad enough = kinked ? QUAD_ROUNDING : 1e-3;
    for (int round = 0; round < 2 * 113 && quad_size(far - near) > enough * quad_size(place->x[0] + far); round++) {
        quad middle = (near + far) / 2;
        if (slope_moved(reference, place, middle) * side < 0)
            near = middle;
        else
            far = middle;
    }
    place->x[0] += far;
}

#define ROUNDS_MOST 60
#define IDLE_MOST 3

struct aim {
    quad enough, settled;
    int rounds;
};

/* Newton's method from place on. True: the optimum is known as well as it has to be. */
static bool walk(const struct reference *reference, const struct aim *aim, struct place *place, struct optimum *optimum)
{
    quad y[SIZE_MOST], width = INFINITY, value = INFINITY;
    int idle = 0;
    for (int round = 0; round < aim->rounds; round++, optimum->rounds++) {
        settle_intercept(reference, place);
        reference_look(reference, place, LOOK_HESSIAN);
        keep_better(optimum, reference, place);
        quad now = optimum->upper - optimum->lower;
        if (now <= aim->enough || optimum->lower >= aim->settled)
            return true;
        bool better = now < width * (quad)0.9 || place->value < value - 16 * (quad)place->value_error;
        idle = better ? 0 : idle + 1;
        width = quad_least(width, now);
        value = quad_least(value, place->value);
        if (idle > IDLE_MOST || !reference_model(reference, place, y) || !search(reference, place, y))
            return false;
    }
    return false;
}

#define SOFT_POWERS 16
#define SOFT_ROUNDS 8

/* Between kinks Newton's steps see too little. With a larger delta there is more to see, and with each smaller one the optimum is near. */
static void walk_softly(const struct reference *reference, struct place *place, int *rounds)
{
    static struct reference soft;
    soft = *reference;
    for (int power = SOFT_POWERS; power > 0; power--) {
        struct optimum unused = {.upper = INFINITY, .lower = -INFINITY};
        struct aim aim = {.settled = INFINITY, .rounds = SOFT_ROUNDS};
        soft.delta = ldexpq(reference->delta, 2 * power);
        walk(&soft, &aim, place, &unused);
        *rounds += unused.rounds;
    }
}

void reference_solve(const struct reference *reference, const quad *x, quad enough, quad settled,
                     struct optimum *optimum)
{
    static struct place place;
    struct aim aim = {.enough = enough, .settled = settled, .rounds = ROUNDS_MOST};
    *optimum = (struct optimum){.upper = INFINITY, .lower = -INFINITY};
    memcpy(place.x, x, reference->size * sizeof *x);
    reference_enter(reference, place.x);
    reference_project(reference, place.x);
    bool good = walk(reference, &aim, &place, optimum);
    if (!good && is_kinked(reference->loss)) {
        walk_softly(reference, &place, &optimum->rounds);
        walk(reference, &aim, &place, optimum);
    }
    reference_leave(reference, optimum->x);
}
