/* Sums along the tree over blocks of arrivals (objective/tree.h), against its definition by recursion: whoever sums which part, on
 * however many threads, whatever has left, the bits are the same; and no number goes through more additions than bounds count with. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fit/durable.h"
#include "objective/rounding.h"
#include "objective/tree.h"
#include "support.h"

#define LEVELS 12
#define SIZE 3

struct leaf {
    bool there;
    double sum[SIZE];
};

/* The definition: a node is the sum of its two children, or the only one that has leaves. */
static bool define(const struct leaf *leaves, unsigned level, size_t node, double *sum)
{
    double right[SIZE];
    if (level == 0) {
        memcpy(sum, leaves[node].sum, sizeof right);
        return leaves[node].there;
    }
    bool left_there = define(leaves, level - 1, 2 * node, sum);
    bool right_there = define(leaves, level - 1, 2 * node + 1, right);
    for (size_t k = 0; k < SIZE && right_there; k++)
        sum[k] = left_there ? sum[k] + right[k] : right[k];
    return left_there || right_there;
}

static void draw_leaves(struct kf_random *random, double share, struct leaf *leaves)
{
    for (size_t k = 0; k < (size_t)1 << LEVELS; k++) {
        leaves[k].there = kf_random_unit(random) < share;
        for (size_t c = 0; c < SIZE; c++)
            leaves[k].sum[c] = ldexp(kf_random_unit(random) - 0.5, (int)(40 * kf_random_unit(random)));
    }
}

static void put(struct kf_tree *tree, uint32_t leaf, const double *sum)
{
    double *room = kf_tree_next(tree, leaf);
    TAP_NEED(room);
    memcpy(room, sum, SIZE * sizeof *sum);
}

/* Leaf by leaf, or, where `level` is not 0, in subtrees of 2^level leaves that are summed by themselves. */
static void sum_up(const struct leaf *leaves, unsigned level, double *sum)
{
    struct kf_tree tree = kf_tree_of(SIZE, sum);
    for (size_t first = 0, each = (size_t)1 << level; first < (size_t)1 << LEVELS; first += each) {
        double part[SIZE];
        uint32_t any = 0;
        struct kf_tree own = kf_tree_of(SIZE, part);
        for (size_t k = first; k < first + each; k++)
            if (leaves[k].there) {
                put(&own, (uint32_t)k, leaves[k].sum);
                any = any ? any : (uint32_t)k + 1;
            }
        kf_tree_close(&own);
        kf_tree_free(&own);
        if (any)
            put(&tree, any - 1, part);
    }
    kf_tree_close(&tree);
    kf_tree_free(&tree);
}

static void test_definition(struct tap *tap)
{
    static struct leaf leaves[1 << LEVELS];
    struct kf_random random;
    kf_random_seed(&random, 3);
    size_t same = 0, tried = 0;
    for (int round = 0; round < 12; round++) {
        static const double shares[] = {1, 0.9, 0.3, 0.02};
        double expected[SIZE] = {0}, sum[SIZE];
        draw_leaves(&random, shares[round % 4], leaves);
        if (!define(leaves, LEVELS, 0, expected))
            memset(expected, 0, sizeof expected);
        for (unsigned level = 0; level <= LEVELS; level++, tried++) {
            sum_up(leaves, level, sum);
            same += memcmp(sum, expected, sizeof sum) == 0;
        }
    }
    tap_check(tap, same == tried, "%zu of %zu sums are those of the definition, in subtrees of any height", same,
              tried);
}

/* ---- passes ---- */

/* The sum of the fit's gradients at x as the definition has it, a number at a time, by plain loops. Returns the additions that a number
 * goes through. */
static size_t define_pass(const keepfit_fit *fit, const double *factors, unsigned bits, unsigned level, uint32_t node,
                          size_t from, size_t to, double *sum)
{
    const struct kf_points *points = &fit->task.problem.points;
    size_t size = kf_dimension(&fit->task.problem.objective), middle = from;
    memset(sum, 0, size * sizeof *sum);
    if (level == 0) {
        for (size_t j = from; j < to; j++) {
            keepfit_row row = kf_points_row(points, j);
            for (size_t e = 0; e < row.count; e++)
                sum[row.index ? row.index[e] : e] += factors[j] * row.value[e];
        }
        return to - from;
    }
    while (middle < to && (kf_fit_arrival(fit, middle) - 1) >> bits < (uint64_t)(2 * node + 1) << (level - 1))
        middle++;
    double *right = calloc(size, sizeof *right);
    TAP_NEED(right);
    size_t left_depth = middle > from ? define_pass(fit, factors, bits, level - 1, 2 * node, from, middle, sum) : 0;
    size_t right_depth = middle < to ? define_pass(fit, factors, bits, level - 1, 2 * node + 1, middle, to, right) : 0;
    for (size_t k = 0; k < size && middle < to; k++)
        sum[k] = middle > from ? sum[k] + right[k] : right[k];
    free(right);
    size_t depth = left_depth > right_depth ? left_depth : right_depth;
    return depth + (left_depth && right_depth);
}

struct passes {
    size_t tried, same, deep;
};

static void compare_passes(keepfit_fit *fit, unsigned bits, struct passes *passes)
{
    struct kf_objective *objective = &fit->task.problem.objective;
    size_t size = kf_dimension(objective), count = fit->task.problem.points.count, before = objective->threads;
    static const size_t threads[] = {1, 2, 3, 7};
    double *x = calloc(4 * size + 2 * count, sizeof *x), *sum = x + size, *expected = sum + size,
           *scratch = expected + size;
    double *factors = scratch + size, *remembered = factors + count;
    TAP_NEED(x);
    struct kf_random random;
    kf_random_seed(&random, 17);
    for (size_t k = 0; k < size; k++)
        x[k] = kf_random_unit(&random) - 0.5;
    const struct kf_view view = kf_dense_view(x);
    for (size_t j = 0; j < count; j++)
        kf_factors(objective, &view, j, &factors[j]);
    size_t depth = define_pass(fit, factors, bits, 20, 0, 0, count, expected);
    passes->deep += kf_pass_depth(objective) < (double)depth;
    for (size_t k = 0; k < 4; k++, passes->tried++) {
        objective->threads = threads[k];
        kf_gradient_sum(objective, x, count, sum, k % 2 ? remembered : NULL, scratch);
        passes->same += memcmp(sum, expected, size * sizeof *sum) == 0 &&
                        (k % 2 == 0 || memcmp(factors, remembered, count * sizeof *factors) == 0);
    }
    objective->threads = before;
    free(x);
}

static void test_passes(struct tap *tap, const char *what, const char *options, size_t features, unsigned bits)
{
    size_t points = 3000;
    bool wide = bits > KF_BLOCK_BITS;
    struct cloud *cloud = cloud_make("logistic", points, features, features > 10, false, 5);
    char text[200];
    struct passes passes = {0};
    snprintf(text, sizeof text, "loss=logistic method=sgd inner=1 lambda=0.01 %s", options);
    keepfit_fit *fit = fit_from(text);
    uint32_t far = 40000;
    double one = 1;
    keepfit_point last = {.row = {.count = 1, .index = &far, .value = &one}, .target = 1, .weight = 1};
    if (wide)
        TAP_NEED(keepfit_fit_push(fit, &last) == KEEPFIT_OK);
    for (int round = 0; round < (wide ? 5 : 3); round++)
        push_range(fit, cloud, 0, points);
    compare_passes(fit, bits, &passes);
    uint64_t gone[400]; /* from the middle, so that leaves have holes, and one is no more */
    for (size_t round = 0; round < 4; round++) {
        for (size_t k = 0; k < 400; k++)
            gone[k] = round == 3 ? k : 900 + k * (round + 1);
        TAP_NEED(keepfit_fit_remove_block(fit, gone, 400) == KEEPFIT_OK);
        compare_passes(fit, bits, &passes);
    }
    tap_check(tap, passes.same == passes.tried, "%s: %zu of %zu passes have the definition's bits", what, passes.same,
              passes.tried);
    tap_check(tap, passes.deep == 0, "%s: a number goes through no more additions than bounds count with", what);
    keepfit_fit_free(fit);
    free(cloud);
}

int main(void)
{
    struct tap tap = {0};
    test_definition(&tap);
    test_passes(&tap, "dense", "", 5, KF_BLOCK_BITS);
    test_passes(&tap, "sparse", "", 40, KF_BLOCK_BITS);
    test_passes(&tap, "in a window", "window=4000", 4, KF_BLOCK_BITS);
    test_passes(&tap, "40,001 features", "", 40, 12);
    return tap_end(&tap);
}
