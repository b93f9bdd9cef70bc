/* The team that a training is run by; NULL: this process is alone. */
#ifndef KEEPFIT_CLI_TEAM_H
#define KEEPFIT_CLI_TEAM_H

#include "keepfit-team.h"

extern const keepfit_team *cli_team;

/* Whether this process writes files: of a team rank 0 does. */
bool team_writes(void);

#endif
