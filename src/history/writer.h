/* Appending records to a journal's folder, segment after segment. What is appended is gathered in memory, written when there is
 * much of it, and durable once it has been synced; the policy says when that has to be. After a write or sync that failed nobody
 * knows what the disk holds, so the writer refuses everything from then on. Errors must not be NULL here. */
#ifndef KF_WRITER_H
#define KF_WRITER_H

#include "history/background.h"
#include "history/notes.h"
#include "history/segment.h"

/* What an acknowledgement means. */
struct kf_sync_policy {
    enum { KF_SYNC_ALWAYS, KF_SYNC_BATCH, KF_SYNC_INTERVAL, KF_SYNC_NONE } kind;
    uint64_t amount; /* points, or milliseconds */
};

/* "always", "batch:N", "interval:MS" or "none". */
keepfit_status kf_sync_read(const char *text, struct kf_sync_policy *policy, keepfit_error *error);

struct kf_writer {
    const keepfit_disk *disk;
    char *home, *path; /* the folder of the segments, and the one that is being written */
    uint64_t identity, salt;
    uint64_t segment_bytes; /* a new one is begun when the next record would go beyond */
    struct kf_sync_policy policy;
    int file;                         /* -1: none */
    uint64_t first, offset;           /* of the segment: its first record, and how much of it is written */
    uint64_t next, durable;           /* number of the next record, and of the last that is durable */
    uint64_t arrived, safe;           /* the last point that was appended, and the last that is durable */
    uint64_t synced_at;               /* when, in milliseconds */
    uint64_t members;                 /* records of a block that are still to come */
    struct kf_background *background; /* NULL: none yet, or none to be had */
    uint64_t syncing,
        syncing_arrived;            /* what the sync that goes on in the background will make durable; 0: none does */
    unsigned char *buffer, *handed; /* what is being gathered, and what the background has been given */
    size_t buffered, capacity, handed_capacity;
    keepfit_error failure;
};

void kf_writer_init(struct kf_writer *writer, const keepfit_disk *disk, const char *home, uint64_t identity);
/* Begins a segment with the record writer->next. */
keepfit_status kf_writer_begin(struct kf_writer *writer, keepfit_error *error);
/* Goes on behind the sound records of a segment; what is behind them is cut off, for good. */
keepfit_status kf_writer_continue(struct kf_writer *writer, const struct kf_segment *segment, keepfit_error *error);
/* Frees everything; what has not been flushed is lost. */
void kf_writer_close(struct kf_writer *writer);

keepfit_status kf_writer_settings(struct kf_writer *writer, const char *text, keepfit_error *error);
keepfit_status kf_writer_point(struct kf_writer *writer, uint64_t arrival, const keepfit_point *point,
                               const struct kf_lead *lead, const struct kf_mark *mark, keepfit_error *error);
keepfit_status kf_writer_removal(struct kf_writer *writer, uint64_t arrival, keepfit_error *error);
keepfit_status kf_writer_expected(struct kf_writer *writer, double label, keepfit_error *error);
keepfit_status kf_writer_room(struct kf_writer *writer, uint64_t features, uint64_t classes, keepfit_error *error);
keepfit_status kf_writer_names(struct kf_writer *writer, const void *bytes, size_t count, keepfit_error *error);
keepfit_status kf_writer_note(struct kf_writer *writer, const struct kf_note *note, keepfit_error *error);
/* The next so many records are one block. */
keepfit_status kf_writer_block(struct kf_writer *writer, uint64_t members, keepfit_error *error);

/* Everything appended becomes durable, */
keepfit_status kf_writer_sync(struct kf_writer *writer, keepfit_error *error);
/* or as much as the policy demands. */
keepfit_status kf_writer_acknowledge(struct kf_writer *writer, keepfit_error *error);

/* "/home/NNNNNNNNNNNNNNNNNNNN.suffix", to be freed; NULL: out of memory. */
char *kf_numbered_path(const char *home, uint64_t number, const char *suffix);
/* A number nobody can foresee. */
uint64_t kf_unforeseen(void);

#endif
