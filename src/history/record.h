/* The bytes of a journal: segments, and the records in them. All numbers are little-endian, everything begins at a multiple
 * of 8 bytes, and a point's row lies in its record just as struct kf_place wants it, so that a mapped file is used in place.
 *
 *   segment        bytes
 *   0              8      magic "keepfitJ"
 *   8              4      version (1)
 *   12             4      CRC-32C of bytes 16 to 63
 *   16             8      number of its first record, which also names the file
 *   24             8      salt, drawn anew for each segment
 *   32             8      identity of the journal, which its checkpoints repeat
 *   40             24     0
 *   64                    records, without gaps, to the end of the file
 *
 *   record         bytes
 *   0              4      CRC-32C of the record's bytes 4 to its end, continued from the CRC-32C of the salt
 *   4              4      length of the record in words of 8 bytes
 *   8              8      number: 1 for the journal's first record, and one more for each
 *   16             8      number of the last record that was known to be durable when this one was written
 *   24             8      arrival: the point came as the so-many-th (a removal: the point that leaves); a block: how many records
 *                         it has behind this one; room: how many features; a note: how many points had come; otherwise 0
 *   32             8      target, as it was pushed; of an expected class, the label; room: how many classes; a note: 1 where it
 *                         takes the place of all earlier ones
 *   40             8      weight
 *   48             2      kind: 1 settings, 2 point with a dense row, 3 point with a sparse row, 4 removal, 5 block, 6 expected class,
 *                         7 room that was made, 8 names, 9 note
 *   50             2      a point: the length of its key, in bytes, 0: it has none; and 32768 where it has a time
 *   52             4      count: entries of the row, or bytes of the settings, names or note
 *   56                    dense: count doubles. sparse: count doubles, then count indices of 4 bytes. A constant feature (bias or
 *                         intercept) is in the row already, as entry 0, and the others are moved up. settings: text, a line
 *                         "key value" for each option that defines the problem. names: what features and classes are called that
 *                         was not known before (kf_schema_archive). note: what the program gave. Zeros up to a multiple
 *                         of 8. Behind the row: the time, a double; the key, without a NUL, and zeros likewise. A point that was present
 *                         with the same key leaves when this one comes; no other record says so.
 *
 * A block's points, or removals, are one stage. They lie in one segment, and count only once all are there.
 * The salt makes the leftovers of another file unreadable. The number of the durable record separates a torn tail from damage: what no
 * valid record knows to be durable may be missing after a power cut, whatever of it the disk has kept. */
#ifndef KF_RECORD_H
#define KF_RECORD_H

#include "base/schema.h"
#include "history/keys.h"
#include "history/points.h"

#define KF_SEGMENT_VERSION 1

struct kf_segment_head {
    char magic[8];
    uint32_t version, checksum;
    uint64_t first, salt, identity, unused[3];
};

enum kf_record_kind {
    KF_RECORD_SETTINGS = 1,
    KF_RECORD_DENSE,
    KF_RECORD_SPARSE,
    KF_RECORD_REMOVAL,
    KF_RECORD_BLOCK,
    KF_RECORD_EXPECTED,
    KF_RECORD_ROOM,
    KF_RECORD_NAMES,
    KF_RECORD_NOTE
};

struct kf_record {
    uint32_t checksum, words;
    uint64_t number, durable, arrival;
    double target, weight;
    uint16_t kind, mark;
    uint32_t count;
    double row[];
};

_Static_assert(sizeof(struct kf_segment_head) == 64, "the head of a segment has no gaps");
_Static_assert(sizeof(struct kf_record) == 56, "the head of a record has no gaps");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are used as they lie in the file");

/* Fills in the head of a segment. */
struct kf_segment_head kf_segment_head(uint64_t first, uint64_t salt, uint64_t identity);
/* NULL where it is one, otherwise what is wrong. */
const char *kf_segment_wrong(const struct kf_segment_head *head, size_t size);

static inline bool kf_record_is_point(const struct kf_record *record)
{
    return record->kind == KF_RECORD_DENSE || record->kind == KF_RECORD_SPARSE;
}

static inline size_t kf_record_bytes(const struct kf_record *record)
{
    return (size_t)record->words * 8;
}

#define KF_RECORD_TIMED 0x8000u /* in the mark */

static inline bool kf_record_is_timed(const struct kf_record *record)
{
    return record->mark & KF_RECORD_TIMED;
}

static inline size_t kf_record_key(const struct kf_record *record)
{
    return record->mark & ~KF_RECORD_TIMED;
}

/* How many words a record of this kind, of this count and with this mark has; 0: there is no such record. */
uint64_t kf_record_words(unsigned kind, uint64_t count, unsigned mark);
/* Puts length and checksum into a record that is otherwise complete. */
void kf_record_seal(struct kf_record *record, uint64_t salt);

/* Whether a whole record that this library may have written lies at `at`, with `available` bytes up to the end: its length, its
 * checksum and its contents (finite numbers, ascending indices). */
bool kf_record_sound(const struct kf_record *at, size_t available, uint64_t salt);

/* Adds what a record of names says to what is known. KEEPFIT_CORRUPT: it makes no sense. */
keepfit_status kf_record_names(const struct kf_record *record, struct kf_schema *known);

/* What it has besides row, target and weight; lives as long as the record. */
struct kf_mark kf_record_mark(const struct kf_record *record);
/* The point as it was pushed: without the lead. `index` has room for count numbers (needed for sparse rows with a lead only). */
keepfit_point kf_record_point(const struct kf_record *record, const struct kf_lead *lead, uint32_t *index);

#endif
