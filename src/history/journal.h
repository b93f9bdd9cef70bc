/* A journal: the history of a fit on disk, so that nothing that was acknowledged is lost.
 *
 *   FOLDER/lock                               held by the process that writes; holds its number
 *   FOLDER/000001/                            a generation: the journal itself
 *   FOLDER/000001/NNNNNNNNNNNNNNNNNNNN.segment     records from number N on (record.h)
 *   FOLDER/000001/NNNNNNNNNNNNNNNNNNNN.checkpoint  the fit after record N (checkpoint.h)
 *
 * The longest sound prefix of the records is the data. Compacting writes another generation as 000002.new and renames the folder: the
 * highest generation counts, older ones and .new are leftovers and are removed by whoever next holds the lock. */
#ifndef KF_JOURNAL_H
#define KF_JOURNAL_H

#include "history/checkpoint.h"
#include "history/writer.h"

struct kf_journal {
    const keepfit_disk *disk;
    char *folder, *home; /* as the user calls it, and the generation's; home is NULL where there is none yet */
    uint64_t generation;
    int lock; /* -1: reading only */
    uint64_t identity;
    struct kf_segment *segments; /* as read, then as they became full; rows may lie in them, so all stay mapped */
    size_t segment_count, segment_capacity;
    uint64_t torn;        /* bytes behind the last sound record that a power cut explains */
    keepfit_error damage; /* what nothing explains: the data ends before it */
    struct kf_checkpoint checkpoint;
    struct kf_writer writer;
};

/* Reads the journal: all sound records, a torn tail or damage behind them, the newest sound checkpoint. Changes nothing.
 * A folder without a journal: KEEPFIT_CORRUPT. */
keepfit_status kf_journal_read(struct kf_journal *journal, const keepfit_disk *disk, const char *folder,
                               keepfit_error *error);

/* The same for writing: makes the folder if need be, locks it, removes leftovers, and refuses a damaged journal. journal->home stays
 * NULL where there is no journal yet. */
keepfit_status kf_journal_open(struct kf_journal *journal, const keepfit_disk *disk, const char *folder,
                               keepfit_error *error);
/* Makes the first generation. */
keepfit_status kf_journal_create(struct kf_journal *journal, const char *settings, keepfit_error *error);
/* Prepares for appending, through journal->writer; a torn tail is cut off. */
keepfit_status kf_journal_continue(struct kf_journal *journal, keepfit_error *error);
void kf_journal_close(struct kf_journal *journal);

/* Maps the segment that was full, once the writer has gone on to another. */
keepfit_status kf_journal_map_segment(struct kf_journal *journal, uint64_t first, keepfit_error *error);

/* The next generation, under construction. */
keepfit_status kf_generation_begin(const struct kf_journal *journal, struct kf_writer *writer, const char *settings,
                                   keepfit_error *error);
/* It takes the place of the old one, all at once; the journal goes on with this writer. On failure the old one stays. */
keepfit_status kf_generation_commit(struct kf_journal *journal, struct kf_writer *writer, keepfit_error *error);
void kf_generation_abandon(const struct kf_journal *journal, struct kf_writer *writer);

/* Goes through the records. */
struct kf_cursor {
    size_t segment, offset;
};
const struct kf_record *kf_journal_next(const struct kf_journal *journal, struct kf_cursor *cursor);
/* The number of the last record; 0: none. */
uint64_t kf_journal_last(const struct kf_journal *journal);

#endif
