/* Journals on disks that fail, are full or read-only: the fit stays readable and refuses what follows, and what was safe comes back. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "journals.h"

#define COUNT 60

static void test_failing_disk(struct tap *tap, int task, const char *name)
{
    struct cloud *cloud = cloud_make("logistic", COUNT, 3, false, false, 15);
    const char *text = "loss=logistic lambda=0.1 journal=" FOLDER " checkpoint-gradients=300 sync=batch:4";
    bool good = true;
    size_t failures = 0;
    for (uint64_t at = 1;; at++) {
        struct world *world = world_create();
        keepfit_fit *fit = journal_fit_sound(world, text);
        keepfit_durability durability = {.struct_size = sizeof durability};
        keepfit_report report = {.struct_size = sizeof report};
        world->fail_at = world->calls + at;
        world->fail_with = task;
        keepfit_status status = KEEPFIT_OK;
        size_t k = 0;
        while (k < COUNT && (status = keepfit_fit_push(fit, &cloud->point[k])) == KEEPFIT_OK)
            k++;
        bool reached = world->calls >= world->fail_at;
        keepfit_fit_durability(fit, &durability);
        if (status != KEEPFIT_OK) { /* the fit is readable, and takes nothing more, though the disk works again */
            keepfit_model *model = NULL;
            failures++;
            good = good && status == KEEPFIT_IO && keepfit_fit_push(fit, &cloud->point[k]) == KEEPFIT_IO &&
                   keepfit_fit_model(fit, &model) == KEEPFIT_OK;
            keepfit_model_free(model);
        } else {
            good = good && k == COUNT && (!reached || durability.failed_checkpoints <= 1);
        }
        keepfit_fit_free(fit);
        world->fail_at = 0;
        fit = journal_fit_sound(world, text);
        keepfit_fit_report(fit, &report);
        good = good && report.stage >= durability.safe && report.stage <= k + 1;
        push_range(fit, cloud, report.stage, COUNT);
        keepfit_fit_free(fit);
        world_free(world);
        if (!reached)
            break;
    }
    tap_check(tap, good && failures > 10, "%s at any one of the calls: %zu fits refuse what follows, nothing is lost",
              name, failures);
    free(cloud);
}

/* Writes and syncs in the background, on the system's own disk: fewer points than two batches are ever unsafe, and a failure
 * is the end. */
static atomic_int calls_left;

static int failing_sync(void *context, int file)
{
    return atomic_fetch_sub(&calls_left, 1) > 0 ? keepfit_disk_system()->sync(context, file) : -EIO;
}

static int64_t failing_write(void *context, int file, const void *bytes, size_t count, uint64_t offset)
{
    bool good = atomic_fetch_sub(&calls_left, 1) > 0;
    return good ? keepfit_disk_system()->write(context, file, bytes, count, offset) : -ENOSPC;
}

static void remove_journal(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    TAP_NEED(system(command) == 0);
}

static void test_background(struct tap *tap, bool writes, const char *reason)
{
    char folder[] = "/tmp/keepfit-test-XXXXXX", text[160];
    TAP_NEED(mkdtemp(folder));
    snprintf(text, sizeof text, "loss=logistic lambda=0.1 sync=batch:20 journal=%s/j", folder);
    struct cloud *cloud = cloud_make("logistic", 600, 3, false, false, 19);
    keepfit_disk disk = *keepfit_disk_system();
    keepfit_options *options = options_from(text);
    keepfit_fit *fit = NULL;
    keepfit_durability durability = {.struct_size = sizeof durability};
    keepfit_error error = {.struct_size = sizeof error};
    if (writes)
        disk.write = failing_write;
    else
        disk.sync = failing_sync;
    keepfit_options_disk(options, &disk);
    atomic_store(&calls_left, 1000000);
    TAP_NEED(keepfit_fit_create(options, &fit, &error) == KEEPFIT_OK);
    bool few = true;
    int before = atomic_load(&calls_left);
    for (size_t k = 0; k < 300; k++) {
        push_range(fit, cloud, k, k + 1);
        keepfit_fit_durability(fit, &durability);
        few = few && k + 1 - durability.safe < 40;
    }
    tap_check(tap, few, "with batch:20, fewer than 40 points are ever unsafe");
    int calls = before - atomic_load(&calls_left);
    tap_check(tap, calls <= 300 / 20, "and 20 of them share a %s: %d for 300", writes ? "write" : "sync", calls);
    atomic_store(&calls_left, 0);
    size_t k = 300;
    while (k < 600 && keepfit_fit_push(fit, &cloud->point[k]) == KEEPFIT_OK)
        k++;
    keepfit_fit_durability(fit, &durability);
    bool dead = k < 340 && durability.safe <= 300 && keepfit_fit_push(fit, &cloud->point[k]) == KEEPFIT_IO &&
                keepfit_fit_sync(fit) == KEEPFIT_IO;
    atomic_store(&calls_left, 1000000);
    dead = dead && keepfit_fit_sync(fit) == KEEPFIT_IO && keepfit_fit_push(fit, &cloud->point[k]) == KEEPFIT_IO;
    tap_check(tap, dead && strstr(keepfit_fit_error(fit)->message, reason),
              "a %s that fails in the background ends the journal for good: %s", writes ? "write" : "sync",
              keepfit_fit_error(fit)->message);
    keepfit_fit_free(fit);
    TAP_NEED(keepfit_fit_create(options, &fit, &error) == KEEPFIT_OK);
    keepfit_fit_durability(fit, &durability);
    tap_check(tap, durability.resumed >= 261, "and what was safe comes back");
    keepfit_fit_free(fit);
    keepfit_options_free(options);
    remove_journal(folder);
    free(cloud);
}

/* A journal of several segments whose compaction was broken off at a call, as the process died; false: it had come to its end. */
static bool die_compacting(struct world *world, const char *text, const struct cloud *cloud, uint64_t at)
{
    keepfit_fit *fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 0, COUNT);
    world->cut_at = world->calls + at;
    bool died = keepfit_fit_compact(fit) != KEEPFIT_OK || world->failure;
    keepfit_fit_free(fit);
    world_restart(world);
    return died;
}

/* Opens the journal; the power goes at a call of that, or after it. False: it was after it. */
static bool darken_opening(struct world *world, const char *text, uint64_t at, struct kf_random *random)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    world->cut_at = world->calls + at;
    keepfit_status status = journal_fit(world, text, &fit, &error);
    bool dark = world->failure;
    TAP_NEED(dark || status == KEEPFIT_OK);
    keepfit_fit_free(fit);
    world_reboot(world, random);
    return dark;
}

/* A name that the dead process gave is seen by the next one before it is durable: nothing may be removed on its strength. */
static void test_death_then_dark(struct tap *tap, int repeats)
{
    struct cloud *cloud = cloud_make("logistic", COUNT, 3, false, false, 17);
    const char *text = "loss=logistic lambda=0.1 method=saga inner=1 journal=" FOLDER " segment-bytes=4096";
    struct kf_random random;
    size_t lost = 0, cuts = 0;
    bool died = true;
    kf_random_seed(&random, 18);
    for (uint64_t death = 1; died; death++) {
        bool dark = true;
        for (uint64_t cut = 1; dark; cut++)
            for (int repeat = 0; repeat < repeats; repeat++, cuts++) {
                struct world *world = world_create();
                keepfit_fit *fit = NULL;
                keepfit_error error = {.struct_size = sizeof error};
                keepfit_report report = {0};
                died = die_compacting(world, text, cloud, death);
                dark = darken_opening(world, text, cut, &random);
                if (journal_fit(world, text, &fit, &error) == KEEPFIT_OK)
                    keepfit_fit_report(fit, &report);
                lost += report.stage != COUNT;
                keepfit_fit_free(fit);
                world_free(world);
            }
    }
    tap_check(tap, lost == 0 && cuts > 200,
              "a compaction dies at any call, then opening ends in the dark at any: %zu of %zu lost points", lost,
              cuts);
    free(cloud);
}

/* Looking needs nothing that a medium without writing does not allow; going on says why it cannot. */
static void test_read_only(struct tap *tap, const struct cloud *cloud)
{
    struct world *world = journal_small(cloud, true);
    keepfit_journal *journal = NULL;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    world->fail_at = world->calls + 1;
    world->fail_with = -EROFS;
    world->fail_for_good = true;
    uint64_t before = world->calls;
    bool whole = journal_look(world, &journal, &error) == KEEPFIT_OK && journal_is_prefix(journal, cloud, SMALL);
    tap_check(tap, whole && world->calls == before, "a journal on a read-only medium can be looked at");
    keepfit_journal_close(journal);
    bool refused = journal_fit(world, "journal=" FOLDER, &fit, &error) == KEEPFIT_IO;
    tap_check(tap, refused && strstr(error.message, "read-only"), "and going on is refused: %s", error.message);
    world_free(world);
}

int main(int count, char **words)
{
    struct tap tap = {0};
    bool quick = count > 1 && strcmp(words[1], "quick") == 0;
    struct cloud *cloud = cloud_make("logistic", SMALL, 3, false, false, 16);
    test_read_only(&tap, cloud);
    test_background(&tap, false, "cannot make the journal durable");
    test_background(&tap, true, "cannot write the journal");
    test_death_then_dark(&tap, quick ? 1 : 12);
    test_failing_disk(&tap, -ENOSPC, "a full disk");
    test_failing_disk(&tap, -EIO, "a failing disk");
    free(cloud);
    return tap_end(&tap);
}
