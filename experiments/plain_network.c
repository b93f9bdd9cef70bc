#include "plain_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "toolkit/draw.h"

enum { PIXELS = 784, MOST = 10 };

/* h, and the classes' probabilities. */
struct pass {
    double *h;
    double chance[MOST];
};

static void add(size_t count, double scale, const double *from, double *to)
{
    for (size_t k = 0; k < count; k++)
        to[k] += scale * from[k];
}

static void look(const struct plain_network *network, const keepfit_row *row, struct pass *pass)
{
    size_t hidden = network->hidden, classes = network->classes;
    double most = -INFINITY, sum = 0;
    memcpy(pass->h, network->first + PIXELS * hidden, hidden * sizeof *pass->h);
    for (size_t e = 0; e < row->count; e++)
        add(hidden, row->value[e], network->first + row->index[e] * hidden, pass->h);
    memcpy(pass->chance, network->second + hidden * classes, classes * sizeof *pass->chance);
    for (size_t k = 0; k < hidden; k++) {
        pass->h[k] = fmax(pass->h[k], 0);
        add(classes, pass->h[k], network->second + k * classes, pass->chance);
    }
    for (size_t c = 0; c < classes; c++)
        most = fmax(most, pass->chance[c]);
    for (size_t c = 0; c < classes; c++)
        sum += pass->chance[c] = exp(pass->chance[c] - most);
    for (size_t c = 0; c < classes; c++)
        pass->chance[c] /= sum;
}

/* One step of `network`, and of `mean` a step that counts for as much as the iterates still to come: the mean of all iterates is the
 * first one and each step times the share of the iterates that have it. */
static void make_step(struct plain_network *network, struct plain_network *mean, const keepfit_point *point,
                      double step, double share, struct pass *pass, double *delta)
{
    size_t hidden = network->hidden, classes = network->classes;
    double slopes[MOST] = {0};
    look(network, &point->row, pass);
    memcpy(slopes, pass->chance, classes * sizeof *slopes);
    slopes[network->class_of[(size_t)point->target]] -= 1;
    for (size_t k = 0; k < hidden; k++) {
        delta[k] = 0;
        for (size_t c = 0; c < classes && pass->h[k] > 0; c++)
            delta[k] += network->second[k * classes + c] * slopes[c];
    }
    struct plain_network *both[] = {network, mean};
    for (size_t b = 0; b < 2; b++) {
        double length = b == 0 ? step : step * share;
        for (size_t e = 0; e < point->row.count; e++)
            add(hidden, -length * point->row.value[e], delta, both[b]->first + point->row.index[e] * hidden);
        add(hidden, -length, delta, both[b]->first + PIXELS * hidden);
        for (size_t k = 0; k < hidden; k++)
            if (pass->h[k] > 0)
                add(classes, -length * pass->h[k], slopes, both[b]->second + k * classes);
        add(classes, -length, slopes, both[b]->second + hidden * classes);
    }
}

static void make_room(struct plain_network *network)
{
    network->first = must_allocate((PIXELS + 1) * network->hidden * sizeof *network->first);
    network->second = must_allocate((network->hidden + 1) * network->classes * sizeof *network->second);
}

/* Uniform within 1/sqrt(inputs), biases too. */
static void draw_weights(double *weights, size_t count, double inputs, struct source *source)
{
    for (size_t k = 0; k < count; k++)
        weights[k] = (2 * uniform(source) - 1) / sqrt(inputs);
}

struct plain_network plain_network_train(const struct images *images, size_t count, size_t hidden, double step,
                                         size_t steps, uint64_t seed)
{
    struct plain_network network = {.hidden = hidden};
    struct source source = {seed};
    bool seen[MOST] = {false};
    for (size_t k = 0; k < count; k++) {
        size_t digit = (size_t)images->points[k].target;
        if (!seen[digit])
            network.class_of[digit] = network.classes++;
        seen[digit] = true;
    }
    struct plain_network mean = network;
    make_room(&network);
    make_room(&mean);
    draw_weights(network.first, (PIXELS + 1) * hidden, PIXELS + 1, &source);
    draw_weights(network.second, (hidden + 1) * network.classes, (double)hidden, &source);
    memcpy(mean.first, network.first, (PIXELS + 1) * hidden * sizeof *mean.first);
    memcpy(mean.second, network.second, (hidden + 1) * network.classes * sizeof *mean.second);
    struct pass pass = {.h = must_allocate(hidden * sizeof *pass.h)};
    double *delta = must_allocate(hidden * sizeof *delta);
    for (size_t t = 0; t < steps; t++)
        make_step(&network, &mean, &images->points[draw(&source) % count], step, (double)(steps - t) / (double)steps,
                  &pass, delta);
    free(delta);
    free(pass.h);
    plain_network_free(&network);
    return mean;
}

double plain_network_loss(const struct plain_network *network, const keepfit_point *point, bool *right)
{
    struct pass pass = {.h = must_allocate(network->hidden * sizeof *pass.h)};
    size_t own = network->class_of[(size_t)point->target], best = 0;
    look(network, &point->row, &pass);
    for (size_t c = 1; c < network->classes; c++)
        best = pass.chance[c] > pass.chance[best] ? c : best;
    *right = best == own;
    free(pass.h);
    return -log(pass.chance[own]);
}

void plain_network_free(struct plain_network *network)
{
    free(network->first);
    free(network->second);
}
