/* Several processes, on one machine or many, that keep one model together: a team. Each of them, a rank, runs the same program on the
 * same stream, and so comes to the same model with the same bits; but it keeps a share of the rows only, and of a pass over all points
 * it computes a share, after which the sums of the others are fetched.
 *
 * This is for those who bring an engine, such as MPI. They fill in a table of functions; the library has no engine inside. All ranks
 * have to make the same calls in the same order, with the same options and points. What only one of them is to do (write files) is
 * up to the program. This header may still change. */
#ifndef KEEPFIT_TEAM_H
#define KEEPFIT_TEAM_H

#include "keepfit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions are called by all ranks at once, and return when what they do is done. None of them may fail: an engine that loses a
 * rank ends the process, as `fail` does. */
typedef struct keepfit_team {
    size_t struct_size; /* sizeof(keepfit_team) */
    void *context;      /* the first argument of all functions */
    size_t rank, size;  /* this rank, of so many: 0 .. size-1 */
    /* All get the bytes that rank `from` has; counts are multiples of 8. */
    void (*broadcast)(void *context, size_t from, void *bytes, size_t count);
    /* All get what each has: counts[r] bytes, a multiple of 8, of rank r, one behind the other in the order of ranks. */
    void (*gather)(void *context, const void *own, const size_t *counts, void *all);
    /* Ends all ranks, with a message for people. Does not return. */
    void (*fail)(void *context, const char *message);
    /* A share is 2^block_bits rows or a multiple of that; from 10 to 30, 0 for the usual 12. Fewer serve small data, more very wide
     * rows: with over 2^(block_bits + 4) coordinates passes are not shared. It changes no bit of the model. */
    unsigned block_bits;
} keepfit_team;

/* Fits made with the options are kept by the team, which is not copied and has to outlive them; NULL: by this process alone. A
 * team keeps linear models. Rank 0 writes the journal, if any; all ranks read it when the fit is created, and so have to see its
 * folder. Any number of ranks may go on with it, or one process. */
KEEPFIT_API keepfit_status keepfit_options_team(keepfit_options *options, const keepfit_team *team,
                                                keepfit_error *error);

#ifdef __cplusplus
}
#endif

#endif
