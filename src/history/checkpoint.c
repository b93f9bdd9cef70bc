#include "history/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "history/folder.h"
#include "history/writer.h"

#define VERSION 1
#define KEPT 2

struct head {
    char magic[8];
    uint32_t version, checksum;
    uint64_t length, identity, number;
};

_Static_assert(sizeof(struct head) == 40, "the head of a checkpoint has no gaps");

static const char magic[8] = {'k', 'e', 'e', 'p', 'f', 'i', 't', 'C'};

#define CHECKED offsetof(struct head, length)
#define COUNTED offsetof(struct head, identity)

const unsigned char *kf_checkpoint_state(const struct kf_checkpoint *checkpoint, size_t *count)
{
    *count = checkpoint->count - sizeof(struct head);
    return checkpoint->bytes + sizeof(struct head);
}

void kf_checkpoint_free(struct kf_checkpoint *checkpoint)
{
    free(checkpoint->bytes);
    *checkpoint = (struct kf_checkpoint){0};
}

static const char *wrong(const struct kf_checkpoint *checkpoint, uint64_t identity)
{
    struct head head;
    if (checkpoint->count < sizeof head || memcmp(checkpoint->bytes, magic, sizeof magic) != 0)
        return "is not a checkpoint";
    memcpy(&head, checkpoint->bytes, sizeof head);
    if (head.version != VERSION)
        return "is of a format that this version does not know";
    if (head.checksum != kf_crc32c(0, checkpoint->bytes + CHECKED, checkpoint->count - CHECKED) ||
        head.length != checkpoint->count - COUNTED)
        return "is damaged (its checksum does not match)";
    return identity && head.identity != identity ? "belongs to another journal" : NULL;
}

keepfit_status kf_checkpoint_load(struct kf_checkpoint *checkpoint, const keepfit_disk *disk, const char *path,
                                  uint64_t identity, keepfit_error *error)
{
    *checkpoint = (struct kf_checkpoint){0};
    keepfit_status status = kf_disk_load(disk, path, "the checkpoint", &checkpoint->bytes, &checkpoint->count, error);
    if (status != KEEPFIT_OK)
        return status;
    const char *reason = wrong(checkpoint, identity);
    if (reason) {
        kf_checkpoint_free(checkpoint);
        return kf_fail(error, KEEPFIT_CORRUPT, "%s: %s", path, reason);
    }
    memcpy(&checkpoint->number, checkpoint->bytes + offsetof(struct head, number), sizeof checkpoint->number);
    return KEEPFIT_OK;
}

keepfit_status kf_checkpoint_find(struct kf_checkpoint *checkpoint, const keepfit_disk *disk, const char *home,
                                  uint64_t identity, keepfit_error *error)
{
    struct kf_names names;
    size_t spoilt = 0;
    *checkpoint = (struct kf_checkpoint){0};
    keepfit_status status = kf_names_read(&names, disk, home, error);
    if (status != KEEPFIT_OK)
        return status;
    for (size_t k = names.count; k-- > 0 && checkpoint->number == 0 && status == KEEPFIT_OK;) {
        uint64_t number;
        if (!kf_name_number(names.name[k], 20, KF_CHECKPOINT_SUFFIX, &number))
            continue;
        char *path = kf_disk_join(home, names.name[k]);
        status = path ? kf_checkpoint_load(checkpoint, disk, path, identity, error) : kf_fail_memory(error);
        bool renamed = status == KEEPFIT_OK && checkpoint->number != number;
        if (renamed)
            kf_checkpoint_free(checkpoint);
        if (renamed || status == KEEPFIT_CORRUPT) {
            spoilt++;
            status = KEEPFIT_OK;
        }
        free(path);
    }
    kf_names_free(&names);
    checkpoint->spoilt = spoilt;
    return status;
}

/* What cannot be removed stays; it does no harm. */
static void remove_older(const keepfit_disk *disk, const char *home, uint64_t newest)
{
    struct kf_names names;
    size_t kept = 0;
    if (kf_names_read(&names, disk, home, NULL) != KEEPFIT_OK)
        return;
    for (size_t k = names.count; k-- > 0;) {
        uint64_t number;
        if (!kf_name_number(names.name[k], 20, KF_CHECKPOINT_SUFFIX, &number) || (number <= newest && kept++ < KEPT))
            continue;
        char *path = kf_disk_join(home, names.name[k]);
        if (path)
            disk->remove(disk->context, path);
        free(path);
    }
    kf_names_free(&names);
}

void kf_checkpoint_begin(struct kf_archive *archive)
{
    uint64_t later = 0;
    for (size_t k = 0; k < sizeof(struct head) / sizeof later; k++)
        kf_archive_number(archive, &later);
}

keepfit_status kf_checkpoint_write(const keepfit_disk *disk, const char *home, uint64_t identity, uint64_t number,
                                   struct kf_archive *archive, keepfit_error *error)
{
    unsigned char *bytes = archive->bytes;
    size_t size = archive->count;
    char *path = kf_numbered_path(home, number, KF_CHECKPOINT_SUFFIX + 1);
    if (!path)
        return kf_fail_memory(error);
    struct head head = {.version = VERSION, .length = size - COUNTED, .identity = identity, .number = number};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(bytes, &head, sizeof head);
    head.checksum = kf_crc32c(0, bytes + CHECKED, size - CHECKED);
    memcpy(bytes, &head, sizeof head);
    keepfit_status status = kf_disk_replace(disk, path, "the checkpoint", bytes, size, error);
    if (status == KEEPFIT_OK)
        remove_older(disk, home, number);
    free(path);
    return status;
}
