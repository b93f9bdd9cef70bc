#include "objective/labels.h"

#include "base/memory.h"

static double sign_alone(double label)
{
    return label > 0 ? 1 : -1;
}

bool kf_labels_find(const struct kf_labels *labels, double label, double *target)
{
    for (size_t k = 0; k < labels->count; k++)
        if (labels->label[k] == label) {
            if (labels->kind == KF_MANY_CLASSES)
                *target = (double)k;
            else
                *target = labels->count == 1 ? sign_alone(label) : k == 0 ? -1 : 1;
            return true;
        }
    return false;
}

enum kf_label_news kf_labels_foresee(const struct kf_labels *labels, double label)
{
    double target;
    if (labels->kind == KF_NUMBERS || kf_labels_find(labels, label, &target))
        return KF_LABEL_KNOWN;
    if (labels->kind == KF_MANY_CLASSES || labels->count == 0)
        return KF_LABEL_NEW;
    if (labels->count == 2)
        return KF_LABEL_THIRD;
    double first = labels->label[0], sign = label > first ? -1 : 1;
    return sign_alone(first) == sign ? KF_LABEL_NEW : KF_LABEL_FLIPPED;
}

enum kf_label_news kf_labels_take(struct kf_labels *labels, double label, double *target)
{
    enum kf_label_news news = kf_labels_foresee(labels, label);
    *target = label;
    if (labels->kind == KF_NUMBERS || news == KF_LABEL_THIRD)
        return news;
    if (news != KF_LABEL_KNOWN) {
        if (!KF_RESERVE(labels->label, labels->capacity, labels->count + 1))
            return KF_LABEL_MEMORY;
        labels->label[labels->count++] = label;
        if (labels->kind == KF_TWO_CLASSES && labels->count == 2 && labels->label[0] > label) {
            labels->label[1] = labels->label[0];
            labels->label[0] = label;
        }
    }
    kf_labels_find(labels, label, target);
    return news;
}
