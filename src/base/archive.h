/* State to bytes and back, by one description: each owner of state has one function that names its parts in order, and the
 * archive's direction says whether they are written or read. So the two cannot disagree.
 *
 * Numbers are little-endian, reals as their 64 bits: what is read is bit for bit what was written. The first thing that goes
 * wrong is kept in `status`, and from then on nothing is written or read any more, so that only the end has to be checked.
 * Bytes to be read may be anything: what does not fit together is refused (kf_archive_require), before memory is asked for. */
#ifndef KF_ARCHIVE_H
#define KF_ARCHIVE_H

#include "keepfit.h"

/* From this version on, bounds on what rounding has done are there. */
#define KF_VERSION_WITH_ROUNDING 4
/* And what proofs of several classes with free intercepts have found. */
#define KF_VERSION_WITH_CLASSES 5
/* And what came of the last stage, in a word. */
#define KF_VERSION_WITH_OUTCOME 6
/* And how often x was improved, and by how many products. */
#define KF_VERSION_WITH_IMPROVEMENTS 7
/* And the keys of points. */
#define KF_VERSION_WITH_KEYS 9
/* And what the predictions of progressive validation were like. */
#define KF_VERSION_WITH_VALIDATION 10
/* And the inverse that several classes share. */
#define KF_VERSION_WITH_SHARED 11
/* And weights that fade. */
#define KF_VERSION_WITH_FADING 12
/* And what products have taken since a Hessian was made. */
#define KF_VERSION_WITH_RENT 13
/* And what steps with few points are made of, and what a trial has cost before it began. */
#define KF_VERSION_WITH_FEW_POINTS 14

struct kf_archive {
    bool reading;
    keepfit_status status; /* KEEPFIT_NO_MEMORY, or, reading, KEEPFIT_CORRUPT */
    unsigned char *bytes;  /* writing: to be freed */
    size_t count, capacity;
    size_t at;      /* reading */
    size_t version; /* of the description, for parts that older ones do not have */
};

/* Zeroed, an archive is one to write to. */
struct kf_archive kf_archive_to_read(const void *bytes, size_t count);
void kf_archive_free(struct kf_archive *archive);

/* Reading: the bytes are not what they should be, unless so. */
void kf_archive_require(struct kf_archive *archive, bool so);

void kf_archive_number(struct kf_archive *archive, uint64_t *number);
/* A count, which cannot be more than `most`. */
void kf_archive_count(struct kf_archive *archive, size_t *count, size_t most);
void kf_archive_flag(struct kf_archive *archive, bool *flag);
void kf_archive_real(struct kf_archive *archive, double *real);
void kf_archive_reals(struct kf_archive *archive, double *reals, size_t count);
/* An array that grows by KF_RESERVE, with `count` numbers in use: reading makes the room. */
void kf_archive_array(struct kf_archive *archive, double **array, size_t *capacity, size_t count);
/* Text of less than `room` bytes. */
void kf_archive_text(struct kf_archive *archive, char *text, size_t room);

/* Bytes as they are. */
void kf_archive_bytes(struct kf_archive *archive, void *bytes, size_t count);

/* Reading: whether so many numbers can still come. */
bool kf_archive_holds(const struct kf_archive *archive, size_t numbers);

#endif
