/* One segment of a journal, mapped for reading. */
#ifndef KF_SEGMENT_H
#define KF_SEGMENT_H

#include "history/record.h"

struct kf_segment {
    char *path;
    const unsigned char *bytes; /* the whole file, mapped */
    size_t size, used;          /* used: head and sound records, as far as it has been scanned */
    struct kf_segment_head head;
    uint64_t next; /* number of the record that would follow those */
    uint64_t bad;  /* number and place of the first record that is not sound, within a block perhaps */
    size_t bad_at;
    uint64_t points, removals, keyed; /* keyed: of the points */
};

/* Maps the file and checks its head; first: the number in its name. */
keepfit_status kf_segment_open(struct kf_segment *segment, const keepfit_disk *disk, const char *path, uint64_t first,
                               keepfit_error *error);
void kf_segment_close(struct kf_segment *segment, const keepfit_disk *disk);

/* Goes through the records as far as they are sound. */
void kf_segment_scan(struct kf_segment *segment);

/* Whether what follows the sound records is a torn tail: no record behind it knows that it was durable, nor is it below `floor`, the
 * number up to which a checkpoint vouches for the records. */
bool kf_segment_torn(const struct kf_segment *segment, uint64_t floor);

#endif
