/* The records behind the table in loss.c. */
#ifndef KF_LOSS_RECORDS_H
#define KF_LOSS_RECORDS_H

#include "objective/loss.h"

extern const struct kf_loss kf_loss_squared, kf_loss_huber, kf_loss_logcosh;        /* loss_numbers.c */
extern const struct kf_loss kf_loss_logistic, kf_loss_hinge, kf_loss_squared_hinge; /* loss_two_classes.c */
extern const struct kf_loss kf_loss_softmax, kf_loss_network;                       /* loss_many_classes.c */

#endif
