/* experiment.h - the parts of the paper's evaluation, and the work they are made of.
 *
 * An experiment plans units of work (one method on one stream with one seed), each of which fills a frame of numbers from
 * nothing but its own parameters. units.c does them on threads and keeps the frames as files, so that what is there already is
 * not done again. When all are done the experiment writes its part of the article from the frames alone: figures, tables, and
 * findings, whose verdicts are computed from the numbers. So the same seed gives the same report, on any number of threads and
 * after any number of interruptions. */
#ifndef KEEPFIT_EXPERIMENT_H
#define KEEPFIT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct article;
struct data_folder;

/* What the command line asked for. */
struct setting {
    const struct data_folder *data;
    const char *out; /* folder of everything that is written */
    bool quick, quiet;
    uint64_t seed;
    size_t threads;
};

struct unit {
    char name[80];       /* "ridge-german.numer-csvrg-3": also its file's name */
    char key[640];       /* all that its numbers depend on */
    const char *columns; /* of its frame */
    double cost;         /* expected work, in any measure that all units share: long ones go first */
    void *parameters;    /* the experiment's own struct: what the work is */
    uint64_t seed;
    int (*run)(struct unit *unit); /* fills the frame; returns an exit code */
    struct frame frame;
    double share; /* done so far, 0 .. 1; see unit_tick */
};

struct plan {
    const struct setting *setting;
    struct unit *units;
    size_t count, room;
};

/* A new unit at the end, with the setting's seed plus `run` and a copy of the parameters; the caller fills in the rest. Valid until
 * the next one. */
struct unit *plan_unit(struct plan *plan, uint64_t run, const void *parameters, size_t size);
void plan_free(struct plan *plan);

/* Called by a unit now and then with the share of its work that is done; false: the user wants to stop, give up. */
bool unit_tick(struct unit *unit, double share);

struct experiment {
    const char *name;    /* as on the command line */
    const char *title;   /* of its part of the report */
    const char *summary; /* one line */
    bool needs_data;     /* of the paper's sets */
    /* Adds the units; returns an exit code. */
    int (*plan)(struct plan *plan);
    /* units: those that plan added, in that order, all done. */
    void (*report)(const struct setting *setting, const struct unit *units, struct article *article);
};

const struct experiment *experiment_entry(size_t k); /* NULL past the last */

/* units.c: does what is not yet done. Returns an exit code. */
int units_run(struct plan *plan);

#endif
