/* A team (keepfit-team.h) whose ranks are those of MPI. */
#ifndef KEEPFIT_MPI_H
#define KEEPFIT_MPI_H

#include "keepfit-team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The process joins those that mpirun has started with it, before it does anything else; both may be NULL, as for MPI_Init. The
 * team lives until keepfit_mpi_leave. Who waits for an exchange longer than KEEPFIT_MPI_TIMEOUT says (seconds; 300) ends the job,
 * and so does a rank that leaves while others wait for it. KEEPFIT_MPI_BLOCK is block_bits. */
KEEPFIT_API const keepfit_team *keepfit_mpi_join(int *count, char ***words);

/* All ranks have done their work, each with an exit code of its own. Returns rank 0's, or, where others have another one, theirs.
 * Where a rank ends alone, or with another code than others, it calls `say`, if that is not NULL: it may have kept to itself why. */
KEEPFIT_API int keepfit_mpi_leave(int code, void (*say)(void));

#ifdef __cplusplus
}
#endif

#endif
