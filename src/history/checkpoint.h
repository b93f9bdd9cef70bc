/* Checkpoint files: the whole state of a fit after a certain record, so that only what came later has to be run again.
 *
 *   offset  bytes  content, numbers little-endian
 *   0       8      magic "keepfitC"
 *   8       4      version (1)
 *   12      4      CRC-32C of everything from offset 16 to the end
 *   16      8      length of everything from offset 24 to the end
 *   24      8      identity of the journal
 *   32      8      number of the last record that is in it, which also names the file
 *   40             the fit's state (fit/snapshot.h)
 *
 * They are written whole or not at all, after the records they vouch for have become durable. The newest sound one counts; the one before it
 * is kept in case it is needed. */
#ifndef KF_CHECKPOINT_H
#define KF_CHECKPOINT_H

#include "base/archive.h"

struct kf_checkpoint {
    uint64_t number; /* of its last record; 0: there is none */
    unsigned char *bytes;
    size_t count;
    size_t spoilt; /* newer ones that are not sound */
};

/* The state within it. */
const unsigned char *kf_checkpoint_state(const struct kf_checkpoint *checkpoint, size_t *count);

/* Finds the newest sound one in the folder. */
keepfit_status kf_checkpoint_find(struct kf_checkpoint *checkpoint, const keepfit_disk *disk, const char *home,
                                  uint64_t identity, keepfit_error *error);
void kf_checkpoint_free(struct kf_checkpoint *checkpoint);
/* Reads one file. KEEPFIT_CORRUPT: it is damaged, or of another journal (identity 0: of any). */
keepfit_status kf_checkpoint_load(struct kf_checkpoint *checkpoint, const keepfit_disk *disk, const char *path,
                                  uint64_t identity, keepfit_error *error);

/* Leaves room for the head, which the state has to follow: a state may be large, and is laid down once. */
void kf_checkpoint_begin(struct kf_archive *archive);
/* Writes one, and then removes all but the two newest. */
keepfit_status kf_checkpoint_write(const keepfit_disk *disk, const char *home, uint64_t identity, uint64_t number,
                                   struct kf_archive *archive, keepfit_error *error);

#define KF_CHECKPOINT_SUFFIX ".checkpoint"

#endif
