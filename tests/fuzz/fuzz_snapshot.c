/* Snapshots of a fit's state. The first byte chooses a problem, and whether the fit is used afterwards, which takes many times
 * as long; of the problem's fit a snapshot is taken, and the rest of the input is patches to it (patch.h). What checksums would notice is not in question here: the bytes are taken as they are.
 *
 *   - it is refused, or what was restored is written again as the same bytes, unless its version is an older one;
 *   - a fit that was restored can be used: a point is taken or refused, the model read or not, whatever the numbers are. */
#include <string.h>

#include "fit/snapshot.h"
#include "fuzz.h"
#include "patch.h"
#include "stream_laws.h"

#define POINTS 5
#define LARGEST 16384

static const char *const problems[] = {
    "method=auto loss=squared",
    "method=auto loss=logistic",
    "method=csvrg loss=logistic setting=paper inner=5",
    "method=csvrg loss=softmax inner=5",
    "method=gd loss=huber inner=5",
    "method=sgd loss=hinge inner=5",
    "method=sgd-sparse loss=logistic inner=5",
    "method=svrg loss=logistic inner=5 outer=2",
    "method=saga loss=logistic inner=5",
    "method=sarah loss=squared inner=5 outer=2",
    "method=katyusha loss=logistic inner=5 outer=2",
    "method=strsaga loss=softmax inner=5",
    "method=dynasaga loss=hinge inner=5",
    "method=ssvrg loss=logistic",
    "method=exact loss=squared",
    "method=refit loss=logistic domain=ball:1 stage-budget=200",
    "method=quadratic loss=logistic stage-budget=200",
    "method=table loss=softmax stage-budget=200",
    "method=table loss=squared domain=box:-1:1 stage-budget=200",
    "method=refit loss=softmax intercept=true stage-budget=200",
};
#define PROBLEMS (sizeof problems / sizeof problems[0])

struct base {
    keepfit_options *options;
    struct kf_archive archive;
};

static keepfit_point point_at(size_t k)
{
    static const uint32_t index[][2] = {{0, 1}, {1, 3}};
    static const double value[][2] = {{1, -0.5}, {2, 0.25}, {-1, 1}};
    return (keepfit_point){
        .row = {.count = 2, .index = index[k % 2], .value = value[k % 3]}, .target = (double)(k % 2), .weight = 1};
}

static const struct base *base_of(size_t problem)
{
    static struct base bases[PROBLEMS];
    struct base *base = &bases[problem];
    if (base->options)
        return base;
    char settings[128];
    bool free = strstr(problems[problem], "intercept") != NULL;
    snprintf(settings, sizeof settings, "lambda=0.1 %s%s", free ? "" : "bias=1 ", problems[problem]);
    base->options = fuzz_options(settings);
    keepfit_fit *fit = NULL;
    FUZZ_LAW(keepfit_fit_create(base->options, &fit, NULL) == KEEPFIT_OK);
    for (size_t k = 0; k < POINTS; k++) {
        keepfit_point point = point_at(k);
        FUZZ_LAW(keepfit_fit_push(fit, &point) == KEEPFIT_OK);
    }
    FUZZ_LAW(kf_snapshot_take(fit, &base->archive) == KEEPFIT_OK);
    FUZZ_LAW(base->archive.count <= LARGEST);
    keepfit_fit_free(fit);
    return base;
}

static void check_use(keepfit_fit *fit)
{
    keepfit_point point = point_at(POINTS);
    keepfit_status status = keepfit_fit_push(fit, &point);
    FUZZ_LAW(status == KEEPFIT_OK || keepfit_fit_error(fit)->status == status);
    keepfit_model *model = NULL;
    status = keepfit_fit_model(fit, &model);
    FUZZ_LAW(status == KEEPFIT_OK || keepfit_fit_error(fit)->status == status);
    keepfit_model_free(model);
}

/* Where two archives part; their number of bytes if they do not. */
static size_t first_difference(const struct kf_archive *a, const struct kf_archive *b)
{
    size_t at = 0;
    while (at < a->count && at < b->count && a->bytes[at] == b->bytes[at])
        at++;
    return at;
}

static void check_restored(keepfit_fit *fit, const struct kf_archive *read, bool used)
{
    struct kf_archive again = {0};
    FUZZ_LAW(kf_snapshot_take(fit, &again) == KEEPFIT_OK);
    size_t same = first_difference(&again, read);
    bool older = read->version < again.version; /* it is written as one of today's */
    if (same < again.count && !older)
        fprintf(stderr, "the bytes differ from byte %zu on\n", same);
    FUZZ_LAW(older || (again.count == read->at && same == again.count));
    kf_archive_free(&again);
    if (used && fuzz_takes_time())
        check_use(fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[LARGEST];
    if (size == 0)
        return 0;
    const struct base *base = base_of(*data % PROBLEMS);
    bool used = *data / PROBLEMS % 8 == 0;
    memcpy(bytes, base->archive.bytes, base->archive.count);
    size_t count = fuzz_patch(bytes, base->archive.count, data + 1, size - 1);
    struct kf_archive archive = kf_archive_to_read(bytes, count);
    keepfit_fit *fit = NULL;
    keepfit_error error = {0};
    FUZZ_LAW(keepfit_fit_create(base->options, &fit, NULL) == KEEPFIT_OK);
    for (size_t k = 0; k < POINTS; k++) {
        keepfit_point point = point_at(k);
        FUZZ_LAW(kf_snapshot_recall(fit, &point));
    }
    keepfit_status status = kf_snapshot_restore(fit, &archive, &error);
    if (status == KEEPFIT_OK)
        check_restored(fit, &archive, used);
    else
        FUZZ_LAW(status == KEEPFIT_CORRUPT && error.status == status && error.message[0]);
    keepfit_fit_free(fit);
    return 0;
}
