/* Journals, and the checkpoints in them. A real one is made, of two segments and a checkpoint; an input chooses a file and
 * patches it (patch.h). The first byte says which file, whether the checksums are made to match afterwards, and whether a fit goes on
 * from it. The records are read always, the points as a user sees them and the fit now and then.
 *
 *   - without new checksums no damage goes unnoticed: each record is one that was written, each point one that was pushed, in
 *     order, and where nothing is reported nothing is missing;
 *   - with them anything may come, but every point is one that a fit could take;
 *   - a fit that goes on from it, if it does, has the points and the notes that the journal tells of, and takes another one. */
#include <math.h>
#include <string.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "history/journal.h"
#include "patch.h"
#include "stream_laws.h"
#include "power/world.h"
#include "shelf.h"

#define POINTS 48
#define REMOVED 7   /* the point that came so late has left again */
#define REPLACED 20 /* this one, too, when that one came with its key */
#define REPLACES 40
#define FOLDER "journal"
#define LARGEST 8192
#define CHECKPOINT_HEAD 24

static struct shelf shelf, original;
static struct kf_journal undamaged;
static keepfit_options *options;

static keepfit_point point_at(size_t arrival)
{
    static const uint32_t index[][2] = {{0, 1}, {1, 3}};
    static double value[POINTS + 2][2];
    value[arrival][0] = (double)arrival;
    value[arrival][1] = -0.5;
    return (keepfit_point){.row = {.count = 2, .index = index[arrival % 2], .value = value[arrival]},
                           .target = (double)(arrival % 2),
                           .weight = 1};
}

/* Every fourth has a key. */
static keepfit_mark mark_at(size_t arrival)
{
    static char key[32];
    snprintf(key, sizeof key, "key %zu", arrival == REPLACES ? (size_t)REPLACED : arrival);
    return (keepfit_mark){.struct_size = sizeof(keepfit_mark), .key = arrival % 4 == 0 ? key : NULL};
}

/* ---- the journal that is damaged ---- */

/* At first the columns, later a class. */
static void give_names(keepfit_fit *fit, bool columns)
{
    static const char *const feature[] = {"amount", "", "hour", "say \"x\""}, *const class_name[] = {"ok"};
    static const double label[] = {1};
    const keepfit_schema schema = {
        .features = columns ? 4 : 0,
        .feature = columns ? feature : NULL,
        .target = columns ? "verdict" : NULL,
        .classes = !columns,
        .label = label,
        .class_name = class_name,
    };
    FUZZ_LAW(keepfit_fit_name(fit, &schema) == KEEPFIT_OK);
}

static const char point_note[2][8] = {"first", "later"};

static void fill_journal(struct world *world)
{
    keepfit_options *own = keepfit_options_copy(options);
    keepfit_fit *fit = NULL;
    FUZZ_LAW(own);
    keepfit_options_disk(own, &world->disk);
    FUZZ_LAW(keepfit_fit_create(own, &fit, NULL) == KEEPFIT_OK);
    for (size_t k = 1; k <= POINTS; k++) {
        keepfit_point point = point_at(k);
        keepfit_mark mark = mark_at(k);
        if (k == 3 || k == POINTS - 2)
            give_names(fit, k == 3);
        FUZZ_LAW(keepfit_fit_push_marked(fit, &point, &mark) == KEEPFIT_OK);
        if (k == 5 || k == POINTS - 1)
            FUZZ_LAW(keepfit_fit_note(fit, &point_note[k > 5], 5) == KEEPFIT_OK);
        if (k == REMOVED + 2)
            FUZZ_LAW(keepfit_fit_remove(fit, REMOVED - 1) == KEEPFIT_OK);
        if (k == POINTS / 2)
            FUZZ_LAW(keepfit_fit_checkpoint(fit) == KEEPFIT_OK);
    }
    keepfit_fit_free(fit);
    keepfit_options_free(own);
}

static void prepare(void)
{
    struct world *world = world_create();
    const char *home = FOLDER "/000001", *name;
    FUZZ_LAW(world);
    options = fuzz_options("method=sgd inner=1 loss=squared lambda=0.1 bias=1 journal=" FOLDER
                           " max-features=64 segment-bytes=4096 sync=none");
    fill_journal(world);
    shelf_open(&shelf);
    shelf_open(&original);
    for (size_t k = 0; (name = world_name(world, home, k)); k++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%s", home, name);
        size_t size;
        const unsigned char *bytes = world_file(world, path, &size);
        FUZZ_LAW(bytes && size <= LARGEST);
        shelf_add(&original, path, bytes, size);
        struct shelf_file *copy = shelf_add(&shelf, path, bytes, size);
        copy->bytes = realloc(copy->bytes, LARGEST);
        FUZZ_LAW(copy->bytes);
    }
    FUZZ_LAW(shelf.count == 3);
    keepfit_options_disk(options, &shelf.disk);
    FUZZ_LAW(kf_journal_read(&undamaged, &original.disk, FOLDER, NULL) == KEEPFIT_OK);
    world_free(world);
}

static bool is_segment(const struct shelf_file *file)
{
    return strstr(file->path, ".segment") != NULL;
}

/* Makes the checksums match what is there, as far as the lengths can be followed. */
static void seal(struct shelf_file *file)
{
    struct kf_segment_head head;
    if (file->size < sizeof head)
        return;
    if (!is_segment(file)) {
        uint32_t checksum = kf_crc32c(0, file->bytes + 16, file->size - 16);
        uint64_t length = file->size - CHECKPOINT_HEAD;
        memcpy(file->bytes + 12, &checksum, sizeof checksum);
        memcpy(file->bytes + 16, &length, sizeof length);
        return;
    }
    memcpy(&head, file->bytes, sizeof head);
    struct kf_segment_head sealed = kf_segment_head(head.first, head.salt, head.identity);
    memcpy(file->bytes, &sealed, sizeof sealed);
    uint32_t words;
    for (size_t at = sizeof head; file->size - at >= sizeof(struct kf_record); at += 8 * (size_t)words) {
        memcpy(&words, file->bytes + at + 4, sizeof words);
        if (words < sizeof(struct kf_record) / 8 || words > (file->size - at) / 8)
            return;
        uint32_t checksum =
            kf_crc32c(kf_crc32c(0, &head.salt, sizeof head.salt), file->bytes + at + 4, 8 * (size_t)words - 4);
        memcpy(file->bytes + at, &checksum, sizeof checksum);
    }
}

/* ---- what must hold ---- */

static void check_sound(const keepfit_point *point)
{
    FUZZ_LAW(isfinite(point->target) && isfinite(point->weight) && point->weight >= 0);
    for (size_t k = 0; k < point->row.count; k++) {
        FUZZ_LAW(isfinite(point->row.value[k]));
        FUZZ_LAW(!point->row.index || k == 0 || point->row.index[k] > point->row.index[k - 1]);
    }
}

/* Rows come back without indices where these are 0 .. count-1. */
static void check_pushed(const keepfit_point *point, uint64_t arrival)
{
    FUZZ_LAW(arrival >= 1 && arrival <= POINTS);
    keepfit_point pushed = point_at((size_t)arrival);
    FUZZ_LAW(point->target == pushed.target && point->weight == pushed.weight && point->row.count == 2);
    for (size_t k = 0; k < 2; k++) {
        FUZZ_LAW(point->row.value[k] == pushed.row.value[k]);
        FUZZ_LAW((point->row.index ? point->row.index[k] : k) == pushed.row.index[k]);
    }
}

static void check_mark(const keepfit_journal *journal, uint64_t arrival, bool sealed)
{
    keepfit_mark mark = {.struct_size = sizeof mark};
    keepfit_journal_mark(journal, &mark);
    FUZZ_LAW(!mark.key || (strlen(mark.key) >= 1 && strlen(mark.key) <= KEEPFIT_KEY_MOST));
    const keepfit_mark pushed = mark_at((size_t)(sealed ? 0 : arrival));
    FUZZ_LAW(sealed || strcmp(mark.key ? mark.key : "", pushed.key ? pushed.key : "") == 0);
}

/* Records that are missing at the very end leave no trace, unless a checkpoint vouches for them. */
static void check_records(bool sealed, bool ends_early)
{
    struct kf_journal journal;
    keepfit_error error = {0};
    keepfit_status status = kf_journal_read(&journal, &shelf.disk, FOLDER, &error);
    FUZZ_LAW(status == KEEPFIT_OK);
    struct kf_cursor cursor = {0}, written = {0};
    const struct kf_record *record, *good;
    uint64_t number = 0;
    while ((record = kf_journal_next(&journal, &cursor))) {
        FUZZ_LAW(record->number == ++number);
        if (sealed && kf_record_is_point(record)) {
            keepfit_point point = kf_record_point(record, NULL, NULL);
            check_sound(&point);
        } else if (!sealed) {
            good = kf_journal_next(&undamaged, &written);
            FUZZ_LAW(good && good->words == record->words && memcmp(good, record, kf_record_bytes(good)) == 0);
        }
    }
    FUZZ_LAW(number == kf_journal_last(&journal));
    bool quiet = !ends_early && !journal.torn && journal.damage.status == KEEPFIT_OK && !journal.checkpoint.spoilt;
    FUZZ_LAW(sealed || !quiet || number == kf_journal_last(&undamaged));
    FUZZ_LAW(journal.damage.status == KEEPFIT_OK || journal.damage.message[0]);
    kf_journal_close(&journal);
}

/* How many points there are; UINT64_MAX: it cannot be opened. */
static uint64_t check_journal(bool sealed, bool ends_early)
{
    keepfit_journal *journal = NULL;
    keepfit_error error = {0};
    keepfit_status status = keepfit_journal_open(FOLDER, options, &journal, &error);
    if (status != KEEPFIT_OK) {
        FUZZ_LAW(status == KEEPFIT_CORRUPT && error.status == status && error.message[0]);
        return UINT64_MAX;
    }
    keepfit_journal_info info = {.struct_size = sizeof info};
    keepfit_journal_describe(journal, &info);
    keepfit_point point;
    uint64_t arrival, before = 0, given = 0;
    while ((status = keepfit_journal_next(journal, &point, &arrival)) == KEEPFIT_OK) {
        check_sound(&point);
        FUZZ_LAW(arrival > before);
        before = arrival;
        given++;
        check_mark(journal, arrival, sealed);
        if (!sealed)
            check_pushed(&point, arrival);
    }
    FUZZ_LAW(status == KEEPFIT_END && given == info.present);
    bool quiet = !ends_early && !info.torn && !info.damage && !info.spoilt;
    FUZZ_LAW(sealed || !quiet || (given == POINTS - 2 && info.removals == 1 && info.points == POINTS));
    bool damaged = info.damage != NULL;
    keepfit_journal_close(journal);
    return damaged ? UINT64_MAX : given;
}

static void check_notes(const keepfit_fit *fit, bool sealed)
{
    keepfit_note note = {.struct_size = sizeof note};
    size_t k = 0;
    unsigned char sum = 0;
    for (; keepfit_fit_noted(fit, k, &note); k++) {
        for (size_t at = 0; at < note.count; at++)
            sum ^= note.bytes[at];
        FUZZ_LAW(sealed || (note.count == 5 && memcmp(note.bytes, point_note[k], 5) == 0));
    }
    FUZZ_LAW(sealed || k <= 2);
    volatile unsigned char kept = sum; /* every byte has been read */
    (void)kept;
}

static void check_fit(uint64_t present, bool sealed)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {0};
    keepfit_status status = keepfit_fit_create(options, &fit, &error);
    if (status != KEEPFIT_OK) {
        FUZZ_LAW(error.status == status && error.message[0]);
        return;
    }
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_fit_report(fit, &report);
    check_notes(fit, sealed);
    FUZZ_LAW(report.points == present || (sealed && present == UINT64_MAX)); /* a checkpoint may hide what is wrong */
    keepfit_point point = point_at(POINTS + 1);
    status = keepfit_fit_push(fit, &point);
    FUZZ_LAW(status == KEEPFIT_OK || keepfit_fit_error(fit)->status == status);
    keepfit_fit_free(fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!options)
        prepare();
    if (size == 0)
        return 0;
    size_t which = *data % shelf.count, how = *data / shelf.count;
    bool sealed = how & 1, resumes = (how & 14) == 2;
    struct shelf_file *file = &shelf.files[which];
    file->size = fuzz_patch(file->bytes, file->size, data + 1, size - 1);
    if (sealed)
        seal(file);
    bool ends_early = which == shelf.count - 1 && file->size < original.files[which].size;
    check_records(sealed, ends_early);
    if (fuzz_takes_time()) {
        uint64_t present = check_journal(sealed, ends_early);
        if (resumes)
            check_fit(present, sealed);
    }
    file->size = original.files[which].size;
    memcpy(file->bytes, original.files[which].bytes, file->size);
    return 0;
}
