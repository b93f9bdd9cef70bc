#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <float.h>
#include <string.h>

const char *linear_loss(size_t k)
{
    const struct kf_loss *loss;
    for (size_t l = 0; (loss = kf_loss_entry(l)); l++)
        if (!loss->network && k-- == 0)
            return loss->name;
    return NULL;
}

bool names_method(size_t count, const char *const *texts, const char *name)
{
    char start[64];
    size_t length = (size_t)snprintf(start, sizeof start, "method=%s ", name);
    for (size_t k = 0; k < count; k++)
        if (strncmp(texts[k], start, length) == 0)
            return true;
    return false;
}

/* "network:6" is the loss "network". */
static enum kf_targets targets_of(const char *name)
{
    const struct kf_loss *loss;
    size_t length = strcspn(name, ":");
    for (size_t l = 0; (loss = kf_loss_entry(l)); l++)
        if (strlen(loss->name) == length && strncmp(loss->name, name, length) == 0)
            return loss->targets;
    printf("Bail out! there is no loss %s\n", name);
    exit(2);
}

bool has_many_classes(const char *loss)
{
    return targets_of(loss) == KF_MANY_CLASSES;
}

static double target_for(const char *loss, double score, struct kf_random *random)
{
    if (targets_of(loss) == KF_NUMBERS)
        return 2 * score + 0.5 * kf_random_normal(random);
    if (has_many_classes(loss))
        return floor(fmin(fmax(1.5 + score + 0.3 * kf_random_normal(random), 0), 2));
    return score + 0.5 * kf_random_normal(random) > 0 ? 1 : -1;
}

struct cloud *cloud_make(const char *loss, size_t count, size_t features, bool sparse, bool weighted, uint64_t seed)
{
    struct cloud *cloud = calloc(1, sizeof *cloud);
    struct kf_random random;
    double hidden[FEATURES_MOST];
    TAP_NEED(cloud && count <= POINTS_MOST && features <= FEATURES_MOST);
    kf_random_seed(&random, seed);
    for (size_t f = 0; f < features; f++)
        hidden[f] = kf_random_normal(&random) / sqrt((double)features);
    cloud->count = count;
    cloud->features = features;
    for (size_t j = 0; j < count; j++) {
        size_t stored = 0;
        double score = 0;
        for (size_t f = 0; f < features; f++) {
            if (sparse && kf_random_unit(&random) < 0.6)
                continue;
            double value = kf_random_normal(&random);
            score += value * hidden[f];
            cloud->value[j][stored] = value;
            cloud->index[j][stored++] = (uint32_t)f;
        }
        cloud->point[j] = (keepfit_point){
            .row = {stored, sparse ? cloud->index[j] : NULL, cloud->value[j]},
            .target = target_for(loss, score, &random),
            .weight = weighted ? (double)(1 + kf_random_below(&random, 4)) / 2 : 1,
        };
    }
    return cloud;
}

bool same_iterate(keepfit_fit *a, keepfit_fit *b)
{
    size_t size, other;
    const double *x = keepfit_fit_iterate(a, &size), *y = keepfit_fit_iterate(b, &other);
    return size == other && memcmp(x, y, size * sizeof *x) == 0;
}

keepfit_options *options_from(const char *text)
{
    keepfit_options *options = keepfit_options_create();
    char *copy = strdup(text), *save = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    TAP_NEED(options && copy);
    for (char *part = strtok_r(copy, " ", &save); part; part = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(part, '=');
        TAP_NEED(equals);
        *equals = '\0';
        if (keepfit_options_set(options, part, equals + 1, &error) != KEEPFIT_OK) {
            printf("Bail out! %s\n", error.message);
            exit(2);
        }
    }
    free(copy);
    return options;
}

keepfit_fit *fit_from(const char *text)
{
    keepfit_options *options = options_from(text);
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    if (keepfit_fit_create(options, &fit, &error) != KEEPFIT_OK) {
        printf("Bail out! %s: %s\n", text, error.message);
        exit(2);
    }
    keepfit_options_free(options);
    return fit;
}

void push_range(keepfit_fit *fit, const struct cloud *cloud, size_t from, size_t to)
{
    for (size_t j = from; j < to; j++)
        if (keepfit_fit_push(fit, &cloud->point[j]) != KEEPFIT_OK) {
            printf("Bail out! %s\n", keepfit_fit_error(fit)->message);
            exit(2);
        }
}

bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

double largest_difference(size_t count, const double *a, const double *b)
{
    double most = 0, size = 1;
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
        size = fmax(size, fabs(b[k]));
    }
    return most / size;
}

double coarseness(void)
{
    volatile long double sum = 1;
    sum += LDBL_EPSILON;
    return sum > 1 && LDBL_EPSILON < DBL_EPSILON ? 1 : 2;
}
