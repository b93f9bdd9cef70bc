#include "base/error.h"
#include "base/options.h"

keepfit_status keepfit_options_team(keepfit_options *options, const keepfit_team *team, keepfit_error *error)
{
    if (team && team->struct_size < sizeof *team)
        return kf_fail(error, KEEPFIT_USAGE, "the team's table has %zu bytes: it lacks functions", team->struct_size);
    if (team && (team->size < 1 || team->size > KF_RANKS_MOST || team->rank >= team->size))
        return kf_fail(error, KEEPFIT_USAGE, "rank %zu of %zu: a team has 1 to %d ranks, from 0 on", team->rank,
                       team->size, KF_RANKS_MOST);
    if (team && team->block_bits && (team->block_bits < 10 || team->block_bits > 30))
        return kf_fail(error, KEEPFIT_USAGE, "shares of 2^%u rows: 10 to 30 are possible", team->block_bits);
    options->team = team;
    return KEEPFIT_OK;
}
