#include "judge.h"

#include <string.h>

#include "elimination.h"

void judge_summon(struct judge *judge, const char *loss, const struct cloud *cloud, const keepfit_fit *fit,
                  const size_t *present, size_t count, long double centre, double lambda)
{
    bool many = has_many_classes(loss);
    memset(judge, 0, sizeof *judge);
    judge->loss = loss;
    judge->lambda = lambda;
    judge->delta = 1;
    judge->count = count;
    judge->outputs = many ? fit->meaning.labels.count : 1;
    judge->size = judge->outputs * (JUDGE_FEATURES + 1);
    for (size_t j = 0; j < count; j++) {
        const keepfit_point *point = &cloud->point[present[j]];
        judge->row[j][0] = 1;
        judge->row[j][1] = -centre;
        for (size_t k = 0; k < point->row.count; k++) {
            size_t feature = point->row.index ? point->row.index[k] : k;
            judge->row[j][feature + 1] += point->row.value[k];
        }
        judge->target[j] = point->target;
        for (size_t k = 0; many && k < fit->meaning.labels.count; k++)
            if (fit->meaning.labels.label[k] == point->target)
                judge->target[j] = (long double)k;
        judge->weight[j] = point->weight;
        judge->total += point->weight;
    }
}

static long double hinge(const char *loss, long double z, long double b, long double delta, long double *slope,
                         long double *curve)
{
    long double gone = fmaxl(1 - b * z, 0);
    bool squared = loss[0] == 's', round = gone > 0 && (squared || gone < delta);
    *slope = -b * (squared ? 2 * gone : round ? gone / delta : gone > 0);
    *curve = !round ? 0 : squared ? 2 : 1 / delta;
    return squared ? gone * gone : round ? gone * gone / (2 * delta) : gone > 0 ? gone - delta / 2 : 0;
}

/* One score: the loss, and its first two derivatives. */
static long double single(const char *loss, long double z, long double b, long double delta, long double *slope,
                          long double *curve)
{
    if (strstr(loss, "hinge"))
        return hinge(loss, z, b, delta, slope, curve);
    long double r = z - b, e = expl(-fabsl(z));
    if (strcmp(loss, "logistic") == 0) {
        *slope = -b / (1 + expl(b * z));
        *curve = e / ((1 + e) * (1 + e));
        return log1pl(e) + (b * z > 0 ? 0 : -b * z);
    }
    bool far = strcmp(loss, "huber") == 0 && fabsl(r) > delta;
    *slope = far ? (r > 0 ? 2 * delta : -2 * delta) : 2 * r;
    *curve = far ? 0 : 2;
    return far ? delta * (2 * fabsl(r) - delta) : r * r;
}

static long double softmax(size_t outputs, const long double *z, size_t b, long double *slope,
                           long double curve[JUDGE_OUTPUTS][JUDGE_OUTPUTS])
{
    long double most = z[0], sum = 0;
    for (size_t k = 1; k < outputs; k++)
        most = fmaxl(most, z[k]);
    for (size_t k = 0; k < outputs; k++)
        sum += expl(z[k] - most);
    for (size_t k = 0; k < outputs; k++)
        slope[k] = expl(z[k] - most) / sum;
    for (size_t k = 0; k < outputs; k++)
        for (size_t l = 0; l < outputs; l++)
            curve[k][l] = slope[k] * ((k == l) - slope[l]);
    slope[b] -= 1;
    return logl(sum) + most - z[b];
}

/* The score of a row: products of 10^9 that cancel, so both parts of each are summed (Ogita, Rump and Oishi's Dot2). */
static long double score_of(const struct judge *judge, const long double *row, const long double *x, size_t output)
{
    long double sum = 0, lost = 0;
    for (size_t s = output; s < judge->size; s += judge->outputs) {
        long double product = row[s / judge->outputs] * x[s], next = sum + product, part = next - sum;
        lost += fmal(row[s / judge->outputs], x[s], -product) + (sum - (next - part)) + (product - part);
        sum = next;
    }
    return sum + lost;
}

/* The objective at x, [slot][output], and, where they are not NULL, gradient and Hessian. */
static long double value_at(const struct judge *judge, const long double *x, long double *gradient,
                            long double (*hessian)[JUDGE_SIZE])
{
    size_t outputs = judge->outputs;
    long double sum = 0;
    for (size_t j = 0; j < judge->count; j++) {
        long double z[JUDGE_OUTPUTS] = {0}, slope[JUDGE_OUTPUTS], curve[JUDGE_OUTPUTS][JUDGE_OUTPUTS];
        const long double *row = judge->row[j], share = judge->weight[j] / judge->total;
        for (size_t k = 0; k < outputs; k++)
            z[k] = score_of(judge, row, x, k);
        sum += share * (has_many_classes(judge->loss)
                            ? softmax(outputs, z, (size_t)judge->target[j], slope, curve)
                            : single(judge->loss, z[0], judge->target[j], judge->delta, slope, curve[0]));
        for (size_t s = 0; gradient && s < judge->size; s++) {
            gradient[s] += share * slope[s % outputs] * row[s / outputs];
            for (size_t t = 0; t < judge->size; t++)
                hessian[s][t] += share * curve[s % outputs][t % outputs] * row[s / outputs] * row[t / outputs];
        }
    }
    for (size_t s = outputs; s < judge->size; s++) {
        sum += judge->lambda * x[s] * x[s];
        if (gradient) {
            gradient[s] += 2 * judge->lambda * x[s];
            hessian[s][s] += 2 * judge->lambda;
        }
    }
    return sum;
}

long double judge_value(const struct judge *judge, const long double *x)
{
    return value_at(judge, x, NULL, NULL);
}

long double judge_least(const struct judge *judge, long double *x)
{
    long double now = value_at(judge, x, NULL, NULL);
    for (int round = 0; round < 200; round++) {
        long double gradient[JUDGE_SIZE] = {0}, hessian[JUDGE_SIZE][JUDGE_SIZE] = {{0}}, step[JUDGE_SIZE],
                    trial[JUDGE_SIZE];
        long double fall = 0, length = 1, after = INFINITY;
        value_at(judge, x, gradient, hessian);
        memcpy(step, gradient, sizeof step);
        for (size_t k = 0; k < judge->size; k++)
            hessian[k][k] += 1e-9L; /* all intercepts of softmax may move together */
        eliminate(judge->size, JUDGE_SIZE, &hessian[0][0], step);
        for (size_t k = 0; k < judge->size; k++)
            fall += gradient[k] * step[k];
        for (; length > 1e-12L; length /= 2) {
            for (size_t k = 0; k < judge->size; k++)
                trial[k] = x[k] - length * step[k];
            after = value_at(judge, trial, NULL, NULL);
            if (after <= now - 1e-4L * length * fall)
                break;
        }
        if (!(after < now))
            break;
        memcpy(x, trial, judge->size * sizeof *x);
        now = after;
        if (fall < 1e-17L)
            break;
    }
    return now;
}
