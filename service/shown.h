/* What the live page shows besides the report (service/page/events.md): standard errors of the weights, and a row to begin with. */
#ifndef KEEPFIT_SERVICE_SHOWN_H
#define KEEPFIT_SERVICE_SHOWN_H

#include <stdint.h>

#include "keepfit.h"
#include "service/text.h"

#define SHOWN_EXAMPLE 64 /* entries of a row */

/* The newest row, as it was kept. */
struct shown_row {
    size_t count; /* 0: it is too long, or there is none */
    uint32_t index[SHOWN_EXAMPLE];
    double value[SHOWN_EXAMPLE];
};

struct current;
struct trained;

/* The learner's: what there is to show goes with the model that is about to be published. */
void shown_publish(struct trained *trained, struct current *made);

/* Members of a JSON object, each with a comma before it. */
void shown_errors(struct text *text, const struct current *current, size_t feature, size_t output);
void shown_errors_stage(struct text *text, const struct current *current);
void shown_example(struct text *text, const struct current *current);

#endif
