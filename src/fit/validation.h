/* What progressive validation has found: how good the predictions were, each made before its point was learnt. The newest by
 * themselves, the order that scores give (AUC), how often what was called probable came true, and drift (drift.h). All in O(1) a
 * point, and part of a snapshot.
 *
 * AUC is counted from scores in bins whose edges depend on nothing: KF_AUC_PARTS to an octave, from 2^-KF_AUC_BELOW to
 * 2^KF_AUC_ABOVE and either sign. Two scores in one bin count as equal, so what comes out is off by at most half the share of pairs of
 * a point of each class that lie in one bin, which is counted as well. */
#ifndef KF_VALIDATION_H
#define KF_VALIDATION_H

#include "fit/drift.h"

#define KF_RECENT 1000    /* safety: a size: an error of 10% is known to 1% */
#define KF_CALIBRATION 10 /* safety: a size: tenths */
#define KF_AUC_BELOW 10   /* safety: scores below 1/1024 are 0 */
#define KF_AUC_ABOVE 10   /* safety: scores above 1024 are sure */
#define KF_AUC_PARTS 64   /* safety: 1 to 2% of a score */
#define KF_AUC_SIDE (KF_AUC_PARTS * (KF_AUC_BELOW + KF_AUC_ABOVE) + 1) /* safety: a size */
#define KF_AUC_BINS (2 * KF_AUC_SIDE + 1)                              /* safety: a size */

/* A prediction that was judged. */
struct kf_judged {
    uint64_t arrival;
    double loss, miss;  /* miss: the square of what it was off by, or 1 where the class was wrong */
    double score;       /* of two classes */
    double probability; /* of the upper class, of many of the one that was predicted; NaN: the loss has none */
    bool has_classes;   /* there are two of them, so that score and probability mean something */
    bool happened;      /* the point was of that class */
    bool learns;        /* the model is too young for falling losses to mean anything */
};

struct kf_validation {
    struct {
        size_t count, next; /* a ring */
        double loss[KF_RECENT], miss[KF_RECENT];
    } recent;
    struct {
        uint64_t count[KF_CALIBRATION], happened[KF_CALIBRATION];
        double sum[KF_CALIBRATION];
        double predicted[KF_CALIBRATION], share[KF_CALIBRATION]; /* as they were last given out */
    } calibration;
    uint64_t scored[2][KF_AUC_BINS]; /* points of the lower and the upper class */
    struct kf_drift drift;
};

void kf_validation_take(struct kf_validation *validation, const struct kf_judged *judged);
/* NaN before there is a point of each class. */
double kf_validation_auc(const struct kf_validation *validation, double *off);
void kf_validation_archive(struct kf_validation *validation, struct kf_archive *archive);

#endif
