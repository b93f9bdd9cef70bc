/* Class labels, mapped from whatever numbers the data uses.
 *
 * Two classes: the smaller label is -1, the larger +1, whichever comes first. While only one is known its sign is
 * guessed (+1 for labels above zero); a second label may prove the guess wrong, and then everything flips.
 * Many classes: numbered by first appearance. */
#ifndef KF_LABELS_H
#define KF_LABELS_H

#include "objective/loss.h"

struct kf_labels {
    enum kf_targets kind;
    size_t count;
    size_t capacity;
    double *label; /* two classes: label[0] is -1 and label[1] is +1 once both are known */
};

enum kf_label_news {
    KF_LABEL_KNOWN,
    KF_LABEL_NEW,     /* a class that was not there before */
    KF_LABEL_FLIPPED, /* a new class, and the first one changes its sign */
    KF_LABEL_THIRD,   /* one class too many: nothing was changed */
    KF_LABEL_MEMORY
};

/* What would happen if this label came; changes nothing. */
enum kf_label_news kf_labels_foresee(const struct kf_labels *labels, double label);
/* Takes the label in and gives the mapped target. */
enum kf_label_news kf_labels_take(struct kf_labels *labels, double label, double *target);
/* The mapped target of a known label; false for an unknown one. */
bool kf_labels_find(const struct kf_labels *labels, double label, double *target);

#endif
