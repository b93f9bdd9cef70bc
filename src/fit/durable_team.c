/* A team's journal is that of one process: rank 0 writes it, and what it has can be gone on with by any number of ranks, or by one process.
 * When a fit is created all ranks read it, and run again together what its checkpoint does not have. */
#include <assert.h>

#include "base/error.h"
#include "fit/durable.h"

/* All come here before any goes on. Returns what rank 0 has, and whether all have come with `well`. */
struct meeting {
    double first;
    bool well;
};

static struct meeting meet(const keepfit_team *team, double value, bool well)
{
    double own[2] = {value, well}, all[2 * KF_RANKS_MOST];
    size_t counts[KF_RANKS_MOST];
    struct meeting meeting = {.well = true};
    for (size_t r = 0; r < team->size; r++)
        counts[r] = sizeof own;
    team->gather(team->context, own, counts, all);
    for (size_t r = 0; r < team->size; r++)
        meeting.well &= all[2 * r + 1] == 1;
    assert(team->size <= KF_RANKS_MOST && all[2 * team->rank] == value);
    meeting.first = all[0];
    return meeting;
}

bool kf_durable_follows(const keepfit_fit *fit)
{
    return fit->options->team && fit->options->team->rank > 0;
}

keepfit_status kf_durable_open_together(struct kf_durable **out, keepfit_options *options, keepfit_error *error)
{
    const keepfit_team *team = options->team;
    if (!team || !options->journal)
        return kf_durable_open(out, options, error);
    keepfit_status status = KEEPFIT_OK;
    bool leads = team->rank == 0;
    *out = NULL;
    assert(!options->looking);
    meet(team, 0, true); /* whoever wants to know whether there is a journal has looked */
    if (leads)           /* it mends what a crash has left */
        status = kf_durable_open(out, options, error);
    struct meeting found = meet(team, (double)status, !leads || (status == KEEPFIT_OK && (*out)->journal.home));
    options->looking = !leads;
    if (!leads && found.first != KEEPFIT_OK)
        status = kf_fail(error, (keepfit_status)found.first, "%s: rank 0 cannot open the journal", options->journal);
    else if (!leads && found.well)
        status = kf_durable_open(out, options, error);
    if (!meet(team, 0, status == KEEPFIT_OK).well && status == KEEPFIT_OK) {
        kf_durable_close(*out);
        *out = NULL;
        status = kf_fail(error, KEEPFIT_IO, "%s: not all ranks can read the journal", options->journal);
    }
    return status;
}
