/* A fit with a journal: every point and removal is recorded before the fit takes it, checkpoints are written now and then, and a fit that
 * is created on a journal takes everything over: the newest checkpoint, and then the records behind it, run again. */
#ifndef KF_DURABLE_H
#define KF_DURABLE_H

#include "base/settings.h"
#include "fit/fit.h"
#include "history/journal.h"

struct kf_durable {
    struct kf_journal journal;
    struct kf_notes notes; /* those that stand */
    keepfit_durability told;
    bool replaying;
    uint64_t
        base; /* a compacted journal is of no use without a checkpoint of this record, or a later one; 0: not compacted */
    uint64_t in_memory;    /* the first arrival whose row lies in memory and in the segment that is being written */
    uint64_t checkpointed; /* the last record that is in a checkpoint */
    uint64_t checkpoint_fo;
    double checkpoint_seconds, checkpoint_cost; /* the fit's seconds when it was written, and how many that took */
};

/* Opens the journal that the options name, if any, and takes over what it remembers of them. */
keepfit_status kf_durable_open(struct kf_durable **durable, keepfit_options *options, keepfit_error *error);
/* The same by all ranks of a team, if there is one (durable_team.c): rank 0 opens it, the others look at it, or have none where it is
 * new. */
keepfit_status kf_durable_open_together(struct kf_durable **durable, keepfit_options *options, keepfit_error *error);
/* Whether another rank writes what this one does. */
bool kf_durable_follows(const keepfit_fit *fit);
void kf_durable_close(struct kf_durable *durable);

/* Takes over what the journal holds into a fit that is as created, or makes the journal. *unusable: the failure lies in the checkpoint, and
 * another attempt with a new fit will do without it. */
keepfit_status kf_durable_resume(keepfit_fit *fit, bool *unusable, keepfit_error *error);

/* To be called before the fit changes; they do nothing for a fit without a journal, or while its records are run again. A failure is
 * in fit->error, and is the fit's death: nobody knows what the disk holds. */
keepfit_status kf_durable_point(keepfit_fit *fit, const keepfit_point *point, const struct kf_mark *mark);
keepfit_status kf_durable_removals(keepfit_fit *fit, const uint64_t *indices, size_t count);
keepfit_status kf_durable_expected(keepfit_fit *fit, double label);
keepfit_status kf_durable_room(keepfit_fit *fit, size_t features, size_t classes);
keepfit_status kf_durable_names(keepfit_fit *fit, struct kf_schema *news);
keepfit_status kf_durable_block(keepfit_fit *fit, size_t count); /* the next so many points are one stage */
/* Before a call returns `status`: what it recorded becomes as safe as the options say, and a checkpoint is written if it is time. Returns
 * the status, or what has failed now. */
keepfit_status kf_durable_acknowledge(keepfit_fit *fit, keepfit_status status);

/* Between durable.c and resume.c. */
const char *kf_durable_objective(const keepfit_fit *fit); /* its name, as the settings have it */
keepfit_status kf_durable_settings(const struct kf_durable *durable, struct kf_settings *settings,
                                   keepfit_error *error);
keepfit_status kf_durable_create(keepfit_fit *fit, keepfit_error *error); /* makes the journal */
void kf_durable_start_segment(keepfit_fit *fit);                          /* new rows lie in memory until it is full */
struct kf_place kf_durable_place(const struct kf_record *record); /* its row where it lies, its target as it came */

/* The records behind the checkpoint are being run again. */
static inline bool kf_durable_replays(const keepfit_fit *fit)
{
    return fit->durable && fit->durable->replaying;
}

/* When point j came. */
uint64_t kf_fit_arrival(const keepfit_fit *fit, size_t j);

#endif
