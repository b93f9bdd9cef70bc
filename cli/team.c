#include "team.h"

const keepfit_team *cli_team;

bool team_writes(void)
{
    return !cli_team || cli_team->rank == 0;
}
