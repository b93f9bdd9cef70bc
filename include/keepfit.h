/* keepfit.h - keep a model fitted to all the data seen so far, while the data keeps arriving.
 *
 * Points arrive one at a time. Point i brings a function f_i; after it has arrived the model x_i is to satisfy
 * g_i(x_i) - min g_i <= epsilon, where g_i is the mean of f_1 .. f_i: the weighted mean loss over the points so far plus
 * lambda*|x|^2.
 *
 * The header is ordered by audience:
 *
 *   1. what everybody needs       status, errors, options, version
 *   2. one-call use               a file in, a model out
 *   3. your own loop              push points, read the model, its bound, its cost
 *   4. models                     predict, save, load
 *   5. streams                    read points from files
 *   6. durability                 journals and checkpoints
 *   7. what this build offers     tables of methods, losses, ... for help texts and bindings
 *   8. what may still change      your own objective, your own disk, a fit's state as bytes
 *
 * Rules that hold throughout:
 *   - What lives is an opaque handle, made by *_create, *_copy, *_open, *_load or *_read, or as an output of a call, and given
 *     back to *_free, or to *_close where it reads a file or folder; both accept NULL. What is configured or reported is a plain
 *     struct that you own.
 *   - Such a struct begins with struct_size: {.struct_size = sizeof report}, all else 0 or yours. The library reads and writes
 *     no more of it than that, and ignores what it does not know, so program and library may be of different versions. 0
 *     stands for the size in 1.0. Without it are only keepfit_row and keepfit_point, which come in arrays and never change.
 *   - Pointers passed in are only read during the call, and copied where needed, unless it says that they must last longer;
 *     strings and arrays handed out belong to the handle and live until the handle is next changed or freed. (To keep an
 *     error that a handle shows, copy its message: the struct may be larger than yours.)
 *   - A function that can fail returns a keepfit_status. On failure its outputs are untouched unless it says otherwise, and
 *     the detail is in the keepfit_error passed in (which may be NULL) or in the handle, where there is one. One that returns
 *     false leaves its outputs untouched, too.
 *   - The library keeps no global state, never prints, never exits. Different handles may be used from different threads at
 *     once; one handle by one thread at a time, but for what says to stop.
 *   - The same seed, options and data give the same bits, on any number of threads.
 *   - Numbers of enums stay what they are. Unknown ones may come from a newer library.
 */
#ifndef KEEPFIT_H
#define KEEPFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KEEPFIT_API __attribute__((visibility("default")))
#else
#define KEEPFIT_API
#endif

/* ---- 1. What everybody needs ---- */

#define KEEPFIT_VERSION_MAJOR 1
#define KEEPFIT_VERSION_MINOR 0
#define KEEPFIT_VERSION_PATCH 0
#define KEEPFIT_VERSION_STRING "1.0.0"

/* The version of the library that is running, e.g. "1.0.0"; compare with KEEPFIT_VERSION_STRING. */
KEEPFIT_API const char *keepfit_version(void);

/* What a call returns: X(name, number, sentence). The numbers stay what they are. Those below KEEPFIT_FAILURES are no
 * failures: the call did what it should, and says that there is nothing more, or not all of it. */
#define KEEPFIT_FAILURES 16
#define KEEPFIT_STATUS_LIST(X)                                                                                         \
    X(OK, 0, "done")                                                                                                   \
    X(END, 1, "the stream has no more points")                                                                         \
    X(STOPPED, 2, "stopped on request")                                                                                \
    X(UNSOLVED, 3, "the optimum could not be computed to the precision asked for")                                     \
    X(DIFFERENT, 4, "the point is another one")                                                                        \
    X(NO_MEMORY, 16, "out of memory")                                                                                  \
    X(USAGE, 17, "an option or argument is wrong")                                                                     \
    X(DATA, 18, "the input data is bad")                                                                               \
    X(IO, 19, "reading or writing failed")                                                                             \
    X(CORRUPT, 20, "the file is damaged or not of this kind")                                                          \
    X(DIVERGED, 21, "the iterate is no longer finite")                                                                 \
    X(CALLBACK, 22, "a user-written objective reported a failure")

typedef enum keepfit_status {
#define KEEPFIT_STATUS_ENUM(name, number, sentence) KEEPFIT_##name = number,
    KEEPFIT_STATUS_LIST(KEEPFIT_STATUS_ENUM)
#undef KEEPFIT_STATUS_ENUM
} keepfit_status;

/* Whether the call failed. What is no status of this version (a newer library may have more) is a failure from
 * KEEPFIT_FAILURES on, like those that are known. */
KEEPFIT_API bool keepfit_failed(keepfit_status status);
/* "DATA" and "the input data is bad"; for a number that is no status, "UNKNOWN" and a sentence saying so. */
KEEPFIT_API const char *keepfit_status_name(keepfit_status status);
KEEPFIT_API const char *keepfit_status_sentence(keepfit_status status);

/* Why a call failed, in words that name the file, line, column and what was expected. The message names options by their
 * keys: "lambda", or "method=csvrg" where a value belongs to it. `option` says where, so that a program in which options are
 * called otherwise ("--lambda") can put its own name there. */
#define KEEPFIT_ERROR_OPTIONS 8
typedef struct keepfit_error {
    size_t struct_size;
    keepfit_status status;
    uint32_t options; /* that the message names */
    uint64_t line;    /* from 1; 0 where there is none (npy and idx: the row) */
    uint64_t column;  /* from 1, in bytes; 0 where there is none */
    char message[512];
    struct {
        uint16_t at, length, key; /* bytes of the message; key: how many of them are the key */
    } option[KEEPFIT_ERROR_OPTIONS];
} keepfit_error;

/* All settings, each with a default. Keys and values are text, the same as on the command line without the
 * dashes: keepfit_options_set(o, "lambda", "1e-3", &error). Flags take "true" or "false". An empty text makes an option absent
 * where that is its default. */
typedef struct keepfit_options keepfit_options;

KEEPFIT_API keepfit_options *keepfit_options_create(void); /* NULL: out of memory */
KEEPFIT_API keepfit_options *keepfit_options_copy(const keepfit_options *options);
KEEPFIT_API void keepfit_options_free(keepfit_options *options);
KEEPFIT_API keepfit_status keepfit_options_set(keepfit_options *options, const char *key, const char *value,
                                               keepfit_error *error);
/* The same without a text, for options of the type REAL, COUNT or FLAG. KEEPFIT_USAGE: there is no such option, it is of another
 * type, or the value is out of its bounds (keepfit_option_find has them). */
KEEPFIT_API keepfit_status keepfit_options_set_number(keepfit_options *options, const char *key, double value,
                                                      keepfit_error *error);
KEEPFIT_API keepfit_status keepfit_options_set_integer(keepfit_options *options, const char *key, uint64_t value,
                                                       keepfit_error *error);
KEEPFIT_API keepfit_status keepfit_options_set_flag(keepfit_options *options, const char *key, bool value,
                                                    keepfit_error *error);
/* The value as text that reads back exactly; NULL for an unknown key. Lives until the option is set again. */
KEEPFIT_API const char *keepfit_options_get(const keepfit_options *options, const char *key);
/* The value itself. An option of the type that is absent, and one that is unknown or of another type, is NaN, 0 or false. */
KEEPFIT_API double keepfit_options_get_number(const keepfit_options *options, const char *key);
KEEPFIT_API uint64_t keepfit_options_get_integer(const keepfit_options *options, const char *key);
KEEPFIT_API bool keepfit_options_get_flag(const keepfit_options *options, const char *key);
/* Whether the value was set, rather than left at its default. */
KEEPFIT_API bool keepfit_options_given(const keepfit_options *options, const char *key);

/* Says to what reads that it should stop. keepfit_stop_raise and keepfit_stop_lower may be called by a signal handler, and
 * from any thread at any time. (A fit has keepfit_fit_stop for its stages.) */
typedef struct keepfit_stop keepfit_stop;

KEEPFIT_API keepfit_stop *keepfit_stop_create(void); /* NULL: out of memory */
KEEPFIT_API void keepfit_stop_raise(keepfit_stop *stop);
KEEPFIT_API void keepfit_stop_lower(keepfit_stop *stop);
KEEPFIT_API bool keepfit_stop_is_raised(const keepfit_stop *stop);
/* Options and streams that have it keep it as long as they need it. */
KEEPFIT_API void keepfit_stop_free(keepfit_stop *stop);
/* While it is raised, streams opened with these options end a wait for input and the reading of files, by a thread of their own,
 * too, and a journal is no longer taken over: the call returns KEEPFIT_STOPPED, and such a stream gives no more points. The
 * stages of a fit go on. NULL: nothing stops them. */
KEEPFIT_API void keepfit_options_stop(keepfit_options *options, keepfit_stop *stop);

/* What people call the numbers. Inside, features are counted from 0 and classes are numbers; fits, models, journals and streams
 * know the names besides, where the data have any. What is handed out belongs to the handle, as always. */
typedef struct keepfit_schema {
    size_t struct_size;
    size_t features;             /* as many as a row of the table has; 0: not known */
    const char *const *feature;  /* [features] their names; NULL: they have none */
    size_t target_at;            /* the target's column, from 1, the weights' not counted; 0: it has none */
    const char *target, *weight; /* what the columns of target and weights are called; NULL: nothing */
    size_t classes;              /* that have names; 0: they are numbers */
    const double *label;         /* [classes] the number that stands for the class in points, models and predictions */
    const char *const *class_name; /* [classes] */
    /* A table whose columns have types (docs/data.md): its features are made of the cells, and become more as categories come. */
    size_t columns;            /* 0: there are no types, and each column is a feature */
    const char *const *column; /* [columns] what they are called */
    const char *const *type;   /* [columns] "number", "category", "text:2", ...; "cross"; "ignore": left out */
    const uint32_t *origin;    /* [features] the column that each comes from */
} keepfit_schema;

/* The name of the class that a label stands for; NULL: it has none. */
KEEPFIT_API const char *keepfit_schema_class(const keepfit_schema *schema, double label);
/* And the other way round; false: no class has that name. */
KEEPFIT_API bool keepfit_schema_label(const keepfit_schema *schema, const char *name, double *label);

/* ---- 2. One-call use ---- */

typedef struct keepfit_model keepfit_model;

/* Reads the file ("-": standard input) to its end, one stage a point, and gives the last stage's model. A last line without
 * a newline counts in a regular file, and is left out of a pipe (option strict-end: refused). */
KEEPFIT_API keepfit_status keepfit_train_file(const char *path, const keepfit_options *options, keepfit_model **model,
                                              keepfit_error *error);

/* ---- 3. Your own loop ---- */

/* One row. index == NULL: the entries are features 0 .. count-1. Otherwise index ascends strictly, from 0. */
typedef struct keepfit_row {
    size_t count;
    const uint32_t *index;
    const double *value;
} keepfit_row;

/* One datum. target: a number, or a class label (any finite number; mapped inside, mapped back in predictions).
 * weight: 1 for an ordinary point; a point of weight 2 counts as two equal points. It has to be given: 0, which is what an
 * initialiser without .weight leaves there, is refused (KEEPFIT_DATA) unless `weightless` says that it is meant.
 * weightless: the weight is 0 on purpose; the point is kept, and may leave again, but counts for nothing. Streams, journals
 * and keepfit_fit_point set it for the points of weight 0 that they hand out. (The arrays of a keepfit_block may hold
 * zeros as they are: nobody leaves them out by mistake.) */
typedef struct keepfit_point {
    keepfit_row row;
    double target;
    double weight;
    bool weightless;
} keepfit_point;

/* What a point may have besides. Begin with {.struct_size = sizeof mark}. */
#define KEEPFIT_KEY_MOST 255
typedef struct keepfit_mark {
    size_t struct_size;
    const char *key; /* what the point is known by, 1 to KEEPFIT_KEY_MOST bytes; NULL: it has none */
    /* Of a stream's row (keepfit_stream_mark): it is no point, but says that the one with this key leaves. */
    bool removes;
    /* When it came, in seconds since 1970 or any other time; NaN: not known. It is kept where the options half-life or window are
     * spans of time, and then each point has to have one, none before that of the point before. */
    double time;
} keepfit_mark;

typedef struct keepfit_fit keepfit_fit;

KEEPFIT_API keepfit_status keepfit_fit_create(const keepfit_options *options, keepfit_fit **fit, keepfit_error *error);
KEEPFIT_API void keepfit_fit_free(keepfit_fit *fit);

/* One stage: the point joins the history and the model is made good for everything so far. A point that is refused
 * (KEEPFIT_DATA) leaves the fit as it was; after any other failure the fit refuses further points but can still be read. */
KEEPFIT_API keepfit_status keepfit_fit_push(keepfit_fit *fit, const keepfit_point *point);

/* The same for a point with a time, or with a key, say the number of an order whose truth comes late, or twice: a point that is present with the
 * same key leaves, this one comes, and both are one stage. A journal keeps the keys. */
KEEPFIT_API keepfit_status keepfit_fit_push_marked(keepfit_fit *fit, const keepfit_point *point,
                                                   const keepfit_mark *mark);

/* The same as pushing the points one by one, bit for bit. *pushed (may be NULL) says how many went in, also on failure. */
KEEPFIT_API keepfit_status keepfit_fit_push_block(keepfit_fit *fit, const keepfit_point *points, size_t count,
                                                  size_t *pushed);

/* Whether these would all be taken, one after the other: nothing changes. key and time are as in keepfit_mark, one for each point;
 * NULL: none has one. KEEPFIT_DATA: one would be refused; the error's line is then which, from 1. */
KEEPFIT_API keepfit_status keepfit_fit_foresee(keepfit_fit *fit, const keepfit_point *points, const char *const *key,
                                               const double *time, size_t count);

/* Many points in arrays that others may own. Rows in full: row k has `features` values from value + k*stride on. Compressed
 * rows (start != NULL): row k has the entries start[k] .. start[k+1]-1 of index and value. */
typedef struct keepfit_block {
    size_t struct_size;
    size_t count;
    size_t features, stride;
    const uint64_t *start; /* [count + 1] */
    const uint32_t *index;
    const double *value;
    const double *target;   /* [count] */
    const double *weight;   /* [count]; NULL: all 1 */
    const char *const *key; /* [count] as in keepfit_mark; NULL: none has one */
    const double *time;     /* [count] likewise */
} keepfit_block;

/* All points of the block as one stage: they join the history, and then the model is made good once, for everything so far.
 * That costs far less than one stage each, which is how methods that promise nothing (and have nothing to make good) still see
 * them. A block with a point that is refused changes nothing; the error's line is then the row, from 1. *pushed (may be
 * NULL) says how many points went in, also on failure. */
KEEPFIT_API keepfit_status keepfit_fit_extend(keepfit_fit *fit, const keepfit_block *block, size_t *pushed);

/* A class that may come later: it has its place in the model from now on. Refuses a third one where the loss is for two. */
KEEPFIT_API keepfit_status keepfit_fit_expect(keepfit_fit *fit, double label);

/* What features, target and classes are called. It may be said at any time, also bit by bit; what is known already is not said
 * again, and KEEPFIT_DATA is what contradicts it. A journal remembers it, and models have it. */
KEEPFIT_API keepfit_status keepfit_fit_name(keepfit_fit *fit, const keepfit_schema *schema);
KEEPFIT_API void keepfit_fit_schema(const keepfit_fit *fit, keepfit_schema *schema);

/* Takes a point out again: `index` counts the points that are present, the oldest being 0. The model is then good for those
 * that remain, as after a push. With the option window the oldest leaves by itself when a point beyond that number comes. */
KEEPFIT_API keepfit_status keepfit_fit_remove(keepfit_fit *fit, uint64_t index);
/* The same for several at once, as one stage: indices ascend strictly, and are those from before the first one leaves. */
KEEPFIT_API keepfit_status keepfit_fit_remove_block(keepfit_fit *fit, const uint64_t *indices, size_t count);

/* A point that is present, as it was pushed, and what it has besides; the key lives as long as the point is present. */
KEEPFIT_API keepfit_status keepfit_fit_point(keepfit_fit *fit, uint64_t index, keepfit_point *point);
KEEPFIT_API keepfit_status keepfit_fit_mark(keepfit_fit *fit, uint64_t index, keepfit_mark *mark);

/* The index of the point that is present with this key; false: there is none. */
KEEPFIT_API bool keepfit_fit_find_key(const keepfit_fit *fit, const char *key, uint64_t *index);
/* Takes it out, as keepfit_fit_remove. KEEPFIT_END: there is none, and nothing has changed. */
KEEPFIT_API keepfit_status keepfit_fit_remove_key(keepfit_fit *fit, const char *key);

/* May be called by a signal handler, and from any thread, while the fit lives. The stage at work ends early, and so do later ones
 * until keepfit_fit_resume: what went in stays in, the report's outcome is KEEPFIT_STAGE_STOPPED where the target was not met for
 * it, its bound says how good the model is, and a later stage goes on from there. Points that have not gone in by then stay
 * outside, and their call returns KEEPFIT_STOPPED. (With a journal a checkpoint is written then, since the stage would not
 * stop at the same place again.) */
KEEPFIT_API void keepfit_fit_stop(keepfit_fit *fit);
KEEPFIT_API void keepfit_fit_resume(keepfit_fit *fit);

/* The index of the point that came as the arrival-th (from 1); false when it is not present. */
KEEPFIT_API bool keepfit_fit_find(const keepfit_fit *fit, uint64_t arrival, uint64_t *index);

/* The detail of the last failure on this handle. */
KEEPFIT_API const keepfit_error *keepfit_fit_error(const keepfit_fit *fit);

/* What came of a stage. A call that ran one did not fail for it. */
typedef enum keepfit_outcome {
    KEEPFIT_STAGE_NONE = 0,     /* there was none yet, or it promised nothing */
    KEEPFIT_STAGE_PROVED = 1,   /* bound <= target */
    KEEPFIT_STAGE_MISSED = 2,   /* a finite bound above the target: a budget, say, was not enough */
    KEEPFIT_STAGE_UNPROVED = 3, /* no finite bound, or only an estimate that is met */
    /* The target was not met, and that is why: */
    KEEPFIT_STAGE_WAITING = 4,  /* there is no optimum to be near yet (see `waiting` below) */
    KEEPFIT_STAGE_GIVEN_UP = 5, /* more work than a stage may take */
    KEEPFIT_STAGE_STOPPED = 6   /* keepfit_fit_stop */
} keepfit_outcome;

/* What is known at no cost. */
typedef struct keepfit_report {
    size_t struct_size;
    const char *method; /* the method at work; for auto, the one it chose */
    const char *reason; /* for auto, why; otherwise "" */
    uint64_t stage;     /* points so far, those that have left included */
    uint64_t points;    /* points present: what the model is fitted to */
    uint64_t features;  /* highest feature so far, bias not counted */
    uint64_t classes;   /* classes so far; 0 for a regression */
    uint64_t fo;        /* gradients of single points computed so far (first-order oracle calls) */
    uint64_t steps;     /* inner steps so far */
    double lambda;      /* the regulariser's factor at this stage */
    double bound;       /* proved bound on the gap at this stage if the method keeps one, otherwise NaN */
    double worst_bound; /* the largest such bound over all stages, otherwise NaN */
    double target;      /* what epsilon demands of the bound at this stage, otherwise NaN: the stage promises nothing */
    /* Stages so far that had a target (a block is one, and so are points that leave), each counted as one of three: */
    uint64_t proved;   /* bound <= target */
    uint64_t missed;   /* a finite bound above the target; with guarantee "estimate", an estimate above it */
    uint64_t unproved; /* no finite bound; with guarantee "estimate", every stage that is not missed */
    /* of the unproved: with no optimum to be near yet, since beside a free intercept (logistic, softmax) some class had no
     * points of a weight above 0 */
    uint64_t waiting;
    /* of the missed and the unproved: ended since more work than a stage may take (docs/guarantee.md) would have been needed,
     * or because it was for a stage not long before */
    uint64_t given_up;
    double smoothness; /* largest curvature of one point's function so far (L) */
    double seconds;    /* spent inside the fit */
    /* Progressive validation: each point predicted before it is learnt. */
    uint64_t validated;      /* points that could be predicted */
    double validation_loss;  /* mean loss of those predictions; NaN before the first */
    double validation_error; /* classification: share of wrong labels; regression: root mean squared error */
    keepfit_outcome outcome; /* of the last stage */
    uint64_t improvements;   /* stages so far at which the model was moved; at the others it was held as it was */
    uint64_t products;       /* so far, of single points' Hessians with vectors; they are no gradients */
} keepfit_report;
KEEPFIT_API void keepfit_fit_report(const keepfit_fit *fit, keepfit_report *report);

/* What progressive validation has found besides: the newest predictions by themselves, AUC, calibration, drift. */
typedef enum keepfit_drift {
    KEEPFIT_DRIFT_NONE = 0,
    KEEPFIT_DRIFT_WORSE = 1, /* losses had risen */
    KEEPFIT_DRIFT_BETTER = 2 /* losses had fallen */
} keepfit_drift;

typedef struct keepfit_validation {
    size_t struct_size;
    uint64_t judged;                      /* predictions so far */
    double loss, error;                   /* of these: as in the report */
    uint64_t window;                      /* of the newest 1000: how many there are, and */
    double windowed_loss, windowed_error; /* the same of them; NaN before the first */
    /* Two classes: the share of pairs of a point of each in which that of the upper class had the higher score, where
     * equal ones count half; and how far off that is at most, since scores are counted in bins. Otherwise NaN. */
    double auc, auc_off;
    /* Where the loss has probabilities, in equal parts of 0 to 1: how many predictions had one in that part, their mean, and the share
     * that came true. Two classes: of the upper class. More: of the class that was predicted. */
    size_t calibration; /* parts; 0: there are none */
    const uint64_t *calibration_count;
    const double *predicted, *happened; /* NaN in a part without predictions */
    /* An alarm when the losses of predictions are no longer as they were, upwards or downwards (docs/explained.md says how, and
     * bench/drift.md how often it is wrong). */
    double drift_level;               /* 0: as they were; 1: an alarm, after which it begins anew */
    uint64_t drift_alarms;            /* so far */
    uint64_t drift_last;              /* the stage of the newest; 0: none */
    keepfit_drift drift;              /* which way it went, and */
    double drift_before, drift_after; /* the mean losses that were compared */
    uint64_t drift_blocks;            /* of points that newer ones are compared with */
} keepfit_validation;
KEEPFIT_API void keepfit_fit_validation(keepfit_fit *fit, keepfit_validation *validation);

/* Why nothing is proved of this fit, whatever points come. */
typedef enum keepfit_no_proof {
    KEEPFIT_PROVES = 0,     /* it is, as far as the report says */
    KEEPFIT_NOT_CONVEX = 1, /* a network */
    KEEPFIT_NO_LAMBDA = 2,  /* lambda is 0 */
    KEEPFIT_NO_PROMISE = 3, /* the method promises nothing */
    KEEPFIT_ESTIMATES = 4   /* guarantee "estimate" */
} keepfit_no_proof;

/* *reason (may be NULL) is what follows "nothing is proved: ", or "". */
KEEPFIT_API keepfit_no_proof keepfit_fit_no_proof(const keepfit_fit *fit, const char **reason);

/* What costs a pass over the history (not counted as FOs: measuring is not optimising). */
typedef enum keepfit_measure {
    KEEPFIT_MEASURE_OBJECTIVE = 1, /* one pass of values */
    KEEPFIT_MEASURE_BOUND = 2,     /* one pass of gradients */
    KEEPFIT_MEASURE_OPTIMUM = 4    /* solves the stage's problem to near machine precision; gives gap too */
} keepfit_measure;

typedef struct keepfit_measurement {
    size_t struct_size; /* NaN: not measured, or not to be had */
    double objective;   /* g_i(x_i) */
    double bound;       /* proved: never below the gap */
    double optimum;     /* min g_i over the domain */
    double gap;         /* objective - optimum */
} keepfit_measurement;
/* KEEPFIT_UNSOLVED, which is no failure: the optimum cannot be computed, and *result holds what else was asked for. */
KEEPFIT_API keepfit_status keepfit_fit_measure(keepfit_fit *fit, unsigned what, keepfit_measurement *result);

/* x itself, in the units of the rows as they came: dimension numbers (for built-in losses bias first, then [feature][output]; for a network bias first, then
 * [feature][unit], and behind these [unit, then bias][class]). */
KEEPFIT_API const double *keepfit_fit_iterate(keepfit_fit *fit, size_t *dimension);

/* With the option standardise: the scales in force, powers of two near the spreads of the columns 0 .. count-1; those of columns
 * behind are 1. The regulariser is lambda times the sum of (scale*x)^2. NULL, and 0: all are 1. */
KEEPFIT_API const double *keepfit_fit_scales(const keepfit_fit *fit, size_t *count);

/* The model as it is now, a copy that outlives the fit. */
KEEPFIT_API keepfit_status keepfit_fit_model(keepfit_fit *fit, keepfit_model **model);

/* What the curvature at the model says besides. All of it costs a pass over the points and a factor of a matrix of as many rows as there
 * are coordinates, at most 1500, changes nothing, and is KEEPFIT_USAGE for networks, in domains, and where that matrix is singular. */

/* Gives a model that keepfit_fit_model has just made the standard errors of its weights (docs/explained.md); its file keeps them. */
KEEPFIT_API keepfit_status keepfit_fit_standard_errors(keepfit_fit *fit, keepfit_model *model);

/* What the model would be without one of the points that are present: one step of Newton's from it on the objective of the others, which is
 * exact for squared loss. */
typedef struct keepfit_influence {
    size_t struct_size;
    uint64_t arrival; /* of the point */
    size_t features, outputs;
    const double *intercepts, *weights;    /* [outputs], [features][outputs]: how they would change */
    const double *scores, *scores_without; /* [outputs]: of the point's own row */
    double loss, loss_without;             /* of its own row and target */
    double leverage; /* the share of the point's own score that it decides itself: from 0 to outputs */
    double
        distance; /* how far the model would go, in standard errors: the root of d'Hd, H the Hessian of the sum of all */
} keepfit_influence;
/* index: as in keepfit_fit_remove. */
KEEPFIT_API keepfit_status keepfit_fit_influence(keepfit_fit *fit, uint64_t index, keepfit_influence *influence);

/* ---- 4. Models ---- */

typedef struct keepfit_prediction {
    size_t struct_size;
    double value;       /* regression: the predicted number; classification: the label, as in the data */
    double margin;      /* the score (softmax, network: of the chosen class) */
    double probability; /* of that label; NaN where the loss has no probabilities */
    size_t outputs;     /* how many scores there are: 1, or the number of classes for softmax and networks */
} keepfit_prediction;
/* scores (may be NULL) takes the scores, keepfit_model_describe().outputs numbers. */
KEEPFIT_API keepfit_status keepfit_model_predict(const keepfit_model *model, const keepfit_row *row,
                                                 keepfit_prediction *prediction, double *scores);

typedef struct keepfit_description {
    size_t struct_size;
    const char *loss, *method, *domain, *scale, *version;
    double lambda, epsilon, bias, delta;
    bool classification;
    uint64_t stages, fo, features;
    size_t outputs;           /* scores a row */
    size_t classes;           /* known labels; 0 for a regression */
    const double *labels;     /* [classes], in the order of the scores; binary: the second is the positive one */
    const double *intercepts; /* [outputs], the bias feature's constant already multiplied in */
    const double *weights;    /* [features][outputs]; of a network [hidden][outputs] */
    /* A network (loss "network") computes its scores from max(0, hidden_intercepts + row . hidden_weights). */
    size_t hidden;                   /* units of the hidden layer; 0 for linear models */
    const double *hidden_intercepts; /* [hidden]; NULL for linear models, like the next */
    const double *hidden_weights;    /* [features][hidden] */
} keepfit_description;
KEEPFIT_API void keepfit_model_describe(const keepfit_model *model, keepfit_description *description);
KEEPFIT_API void keepfit_model_schema(const keepfit_model *model, keepfit_schema *schema);

/* The standard error of a weight, or of the intercept of an output; robust: without the assumption that the loss says how the
 * targets are distributed. NaN: there is none of that kind. False: the model has none at all, or no such weight. */
#define KEEPFIT_INTERCEPT UINT64_MAX
KEEPFIT_API bool keepfit_model_standard_errors(const keepfit_model *model, bool robust, uint64_t feature, size_t output,
                                               double *error);

/* What a score is made of: contribution = weight * value. Of several outputs, weights less their mean over the outputs, since only the
 * differences of scores count. */
typedef struct keepfit_contribution {
    uint32_t feature;
    double value, weight, contribution;
} keepfit_contribution;

/* The `most` largest contributions of a row to the score of an output, largest first, into an array with room for them; *count of them
 * are there. The score (of several outputs: less the mean of all) is *intercept + the contributions + *rest. KEEPFIT_USAGE for a network. */
KEEPFIT_API keepfit_status keepfit_model_explain(const keepfit_model *model, const keepfit_row *row, size_t output,
                                                 size_t most, keepfit_contribution *contributions, size_t *count,
                                                 double *intercept, double *rest);

/* The probability of each class, description.classes numbers, in the order of description.labels, from a row's scores;
 * KEEPFIT_USAGE where the loss has none. */
KEEPFIT_API keepfit_status keepfit_model_probabilities(const keepfit_model *model, const double *scores,
                                                       double *probabilities);

/* The model's file as bytes, to be freed with free(), and a model from such bytes; `name` is what messages call them. */
KEEPFIT_API keepfit_status keepfit_model_write(const keepfit_model *model, unsigned char **bytes, size_t *count,
                                               keepfit_error *error);
KEEPFIT_API keepfit_status keepfit_model_read(const unsigned char *bytes, size_t count, const char *name,
                                              keepfit_model **model, keepfit_error *error);

/* Writes a temporary file beside path, syncs it and renames it over path, so path always holds a whole model.
 * Refuses to replace anything but a regular file. */
KEEPFIT_API keepfit_status keepfit_model_save(const keepfit_model *model, const char *path, keepfit_error *error);
KEEPFIT_API keepfit_status keepfit_model_load(const char *path, keepfit_model **model, keepfit_error *error);
KEEPFIT_API void keepfit_model_free(keepfit_model *model);

/* ---- 5. Streams ---- */

typedef struct keepfit_stream keepfit_stream;

/* Opens a file ("-": standard input), plain or gzip, in the format given or recognised. The options shuffle,
 * limit and scale are honoured here (shuffle and scale read everything first). */
KEEPFIT_API keepfit_status keepfit_stream_open(const char *path, const keepfit_options *options,
                                               keepfit_stream **stream, keepfit_error *error);
/* The same for the points of a fit that knows what its features are called: columns with names find their places whatever their
 * order, and classes keep their numbers. KEEPFIT_DATA: columns are missing, or are too many. */
KEEPFIT_API keepfit_status keepfit_stream_open_for_fit(const char *path, const keepfit_options *options,
                                                       const keepfit_fit *fit, keepfit_stream **stream,
                                                       keepfit_error *error);
/* And for rows that a model is to predict: they must have its features, no more and no fewer; the targets may be missing.
 * targets: points have those that the file has; otherwise nobody looks at them, and they are 0. The numbers of classes that are
 * texts are the stream's own (keepfit_stream_schema), not the model's. */
KEEPFIT_API keepfit_status keepfit_stream_open_for_model(const char *path, const keepfit_options *options,
                                                         const keepfit_model *model, bool targets,
                                                         keepfit_stream **stream, keepfit_error *error);
/* Another model takes the place of that one. KEEPFIT_DATA: the stream's columns are not its features; the first one stays. */
KEEPFIT_API keepfit_status keepfit_stream_suit_model(keepfit_stream *stream, const keepfit_model *model,
                                                     keepfit_error *error);

/* The same for what lies in memory, as long as the stream does: for a fit, or a model (which may have targets), or neither; `name` is
 * what messages call it, and tells the format by its extension where the options do not. */
KEEPFIT_API keepfit_status keepfit_stream_open_bytes(const void *bytes, size_t count, const char *name,
                                                     const keepfit_options *options, const keepfit_fit *fit,
                                                     const keepfit_model *model, bool targets, keepfit_stream **stream,
                                                     keepfit_error *error);

/* The next point, valid until the next call; KEEPFIT_END after the last. With on-error skip, bad rows are passed
 * over and counted. */
KEEPFIT_API keepfit_status keepfit_stream_next(keepfit_stream *stream, keepfit_point *point);
/* The same row by row: *skipped says that a bad one stood there, and then there is no point; it is
 * false also at the end and on failure. (A stream that has been read into
 * memory has no bad rows any more.) */
KEEPFIT_API keepfit_status keepfit_stream_next_row(keepfit_stream *stream, keepfit_point *point, bool *skipped);
/* What the last point has besides, where the options key or time name a column of a table; valid as long as the point. */
KEEPFIT_API void keepfit_stream_mark(const keepfit_stream *stream, keepfit_mark *mark);
/* Calls `call` each time before the stream waits for input that is not there yet: the time to flush what was made of the rows so far.
 * Never for regular files. NULL: nothing. The context must last as long as the stream. */
KEEPFIT_API void keepfit_stream_before_waiting(keepfit_stream *stream, void (*call)(void *context), void *context);
/* What the columns are called, and the classes of the points so far. */
KEEPFIT_API void keepfit_stream_schema(const keepfit_stream *stream, keepfit_schema *schema);
KEEPFIT_API const keepfit_error *keepfit_stream_error(const keepfit_stream *stream);

typedef struct keepfit_stream_info {
    size_t struct_size;
    const char *name;       /* as messages call it: the path, or "<stdin>" */
    const char *format;     /* the format in use */
    const char *targets;    /* the file that has the targets, where they stand in one of their own; otherwise NULL */
    uint64_t target_column; /* their column in the rows' file, from 1 (keepfit_stream_schema has its name); 0: none */
    uint64_t points;        /* given out so far */
    uint64_t skipped;       /* bad rows passed over */
    uint64_t total;         /* points in all, where that is known beforehand; otherwise 0 */
    uint64_t bytes_read;    /* of the file, as stored */
    uint64_t bytes;         /* size of the file, where known; otherwise 0 */
    uint64_t line;          /* where the last point stood */
    uint64_t cut;           /* a last line without a newline, which may have been cut; 0: none so far */
    bool cut_taken;         /* it was taken (from a regular file); otherwise it was left out (of a pipe) */
    bool empty;             /* it ended without a point, which is why it failed with KEEPFIT_DATA */
    bool labelled;          /* the points have targets */
    /* Of a table with types: cells that hold what the model does not know, and which count as 0; where the first of them stood, and
     * what it was (NULL: none); and numbers that more than one text has been hashed to in this stream. */
    uint64_t unseen;
    const char *unseen_column, *unseen_text;
    uint64_t collisions;
} keepfit_stream_info;
KEEPFIT_API void keepfit_stream_describe(const keepfit_stream *stream, keepfit_stream_info *info);
/* Reads all that is left into memory; afterwards total is known and keepfit_stream_rewind works. */
KEEPFIT_API keepfit_status keepfit_stream_read_all(keepfit_stream *stream);
/* Another stream over the same points (after read_all), in the order that another seed's shuffle gives. The
 * original must outlive it. */
KEEPFIT_API keepfit_status keepfit_stream_reorder(const keepfit_stream *stream, uint64_t seed, keepfit_stream **other,
                                                  keepfit_error *error);
KEEPFIT_API keepfit_status keepfit_stream_rewind(keepfit_stream *stream);
KEEPFIT_API void keepfit_stream_close(keepfit_stream *stream);

/* Rewrites a model that was fitted to this stream's scaled points so that it predicts unscaled ones. */
KEEPFIT_API keepfit_status keepfit_model_unscale(keepfit_model *model, const keepfit_stream *stream,
                                                 keepfit_error *error);

/* Rows with types that come from a program, cell by cell, rather than from a file: the same types, guesses and features as of a file
 * with these cells (docs/data.md). The options type, ignore, columns, missing, hash and cross count. */
typedef struct keepfit_table keepfit_table;

/* A column of some rows. */
typedef struct keepfit_cells {
    const char *const *text; /* [rows] NULL: the value is missing; the array is NULL: there are numbers */
    const double *number;    /* [rows] NaN: the value is missing */
    /* Where nothing else is known of the type: "number", "boolean", "category", "time", "text" or "ignore"; NULL: it is guessed from
     * the first rows. */
    const char *type;
} keepfit_cells;

/* cells: a column each, with `rows` first rows to guess from. known: the schema of a fit that goes on, or of a model; NULL: of
 * nothing. Columns find their places in it by name; KEEPFIT_DATA: some are missing, or not known. fixed: it is a model's, whose
 * target may be among the columns. The schema of a table that is all numbers has no columns, and then there are no rows to be made
 * here: each column is a feature. */
KEEPFIT_API keepfit_status keepfit_table_open(const char *const *names, const keepfit_cells *cells, size_t columns,
                                              size_t rows, const keepfit_schema *known, bool fixed,
                                              const keepfit_options *options, keepfit_table **table,
                                              keepfit_error *error);
/* Makes rows of the same columns; *block, which begins with its struct_size, gets them, compressed and without targets. It lives until
 * the next call. grow: categories that are new become features; otherwise they count as 0. A row that is refused (KEEPFIT_DATA; the
 * error's line is the row, from 1) leaves the table as it was. */
KEEPFIT_API keepfit_status keepfit_table_rows(keepfit_table *table, const keepfit_cells *cells, size_t rows, bool grow,
                                              keepfit_block *block);
/* Its columns, with their types, and the features so far. */
KEEPFIT_API void keepfit_table_schema(const keepfit_table *table, keepfit_schema *schema);
KEEPFIT_API const keepfit_error *keepfit_table_error(const keepfit_table *table);
KEEPFIT_API void keepfit_table_close(keepfit_table *table);

/* ---- 6. Durability ---- */

/* With the option journal, a fit keeps every point in a folder: what was acknowledged survives the process and, as far as the
 * option sync says, the machine. keepfit_fit_create then takes over what the folder holds, and the fit goes on bit for bit as it
 * would have without the break. A folder is used by one fit at a time. docs/reliability.md states the promises.
 *
 * When the disk fails, the call fails with KEEPFIT_IO: what it pushed is not acknowledged, though the model may know it, and the
 * fit refuses further points but can still be read. A fit that is created again says what has come through. */
typedef struct keepfit_durability {
    size_t struct_size;
    uint64_t resumed;      /* points that the journal held when the fit was created, those that have left included */
    uint64_t replayed;     /* of those, points whose stages were run again, since no checkpoint had them */
    uint64_t cut;          /* bytes of a torn tail that were cut off: what was never acknowledged */
    uint64_t spoilt;       /* checkpoints that could not be used */
    uint64_t safe;         /* points so far that no power cut can take */
    uint64_t checkpointed; /* points in the newest checkpoint */
    uint64_t failed_checkpoints; /* that could not be written; the points are safe without them */
} keepfit_durability;

/* All 0 for a fit without a journal. */
KEEPFIT_API void keepfit_fit_durability(const keepfit_fit *fit, keepfit_durability *durability);
/* Everything pushed so far becomes safe, whatever the option sync says. */
KEEPFIT_API keepfit_status keepfit_fit_sync(keepfit_fit *fit);
/* The same, and the fit's state is written, so that nothing has to be run again. It changes nothing in the fit. */
KEEPFIT_API keepfit_status keepfit_fit_checkpoint(keepfit_fit *fit);
/* Writes the journal anew without the points that have left; at every instant the old or the new one is there. */
KEEPFIT_API keepfit_status keepfit_fit_compact(keepfit_fit *fit);

/* Notes: what a program records among the points of a journal, opaque to the library and as safe as the points: where its input
 * stood, which requests it has answered. They come back in order when the fit is created again, each with the number of points
 * that had come before it, and compacting keeps them. One that stands instead of all earlier ones says that those are no longer needed: a
 * program that notes much notes now and then all that it still has to know, and the rest goes. KEEPFIT_USAGE: the fit has no
 * journal. */
KEEPFIT_API keepfit_status keepfit_fit_note(keepfit_fit *fit, const void *bytes, size_t count);
KEEPFIT_API keepfit_status keepfit_fit_note_instead(keepfit_fit *fit, const void *bytes, size_t count);

typedef struct keepfit_note {
    size_t struct_size;
    const unsigned char *bytes; /* the fit's, until the next note */
    size_t count;
    uint64_t points; /* that had come when it was made, those that have left included */
} keepfit_note;

/* Note k, from 0, of those that stand; false past the last. */
KEEPFIT_API bool keepfit_fit_noted(const keepfit_fit *fit, size_t k, keepfit_note *note);

/* The options of a fit: those it was given, and what its journal remembered. */
KEEPFIT_API const keepfit_options *keepfit_fit_options(const keepfit_fit *fit);
/* Compares with the point that came as the arrival-th (from 1). KEEPFIT_OK: it is the same; KEEPFIT_DIFFERENT: it is another one;
 * KEEPFIT_END: it has left, or has not come. */
KEEPFIT_API keepfit_status keepfit_fit_compare(keepfit_fit *fit, uint64_t arrival, const keepfit_point *point);

/* A journal, looked at without a fit. Nothing is changed, and nothing needs to be writable. */
typedef struct keepfit_journal keepfit_journal;

typedef struct keepfit_journal_info {
    size_t struct_size;
    const char *settings; /* a line "set KEY VALUE" or "default KEY VALUE" for each option that it remembers */
    uint64_t generation;  /* 1, and one more for each time it was compacted */
    uint64_t segments, records, bytes;
    uint64_t points, removals; /* recorded */
    uint64_t present;          /* points that have not left */
    uint64_t arrived;          /* points ever, those that compacting has left out included */
    uint64_t checkpoint;       /* the record that the newest sound checkpoint stands at; 0: none */
    uint64_t spoilt;           /* checkpoints that are not sound */
    uint64_t torn;             /* bytes behind the last record that a crash has left: never acknowledged */
    const char *damage; /* what is wrong besides, with its place; NULL: nothing. The records before it are whole */
    uint64_t notes;     /* recorded that stand */
} keepfit_journal_info;

/* The options may be NULL (they name the disk). */
KEEPFIT_API keepfit_status keepfit_journal_open(const char *folder, const keepfit_options *options,
                                                keepfit_journal **journal, keepfit_error *error);
KEEPFIT_API void keepfit_journal_describe(const keepfit_journal *journal, keepfit_journal_info *info);
/* The next point that is present, as it was pushed, with its arrival (may be NULL); valid until the next call. KEEPFIT_END
 * after the last. */
KEEPFIT_API keepfit_status keepfit_journal_next(keepfit_journal *journal, keepfit_point *point, uint64_t *arrival);
/* What the point that keepfit_journal_next gave last has besides; lives as long as that point. */
KEEPFIT_API void keepfit_journal_mark(const keepfit_journal *journal, keepfit_mark *mark);
/* What its features and classes are called. */
KEEPFIT_API void keepfit_journal_schema(const keepfit_journal *journal, keepfit_schema *schema);
KEEPFIT_API void keepfit_journal_close(keepfit_journal *journal);

/* The model of the points that a journal holds, bit for bit that of the fit that wrote it: what follows the newest checkpoint is
 * run again. Nothing is changed, no lock is taken, nothing needs to be writable. The options may be NULL (they name the disk,
 * what stops it, and the threads). A journal of rows that were scaled by columns has no model of its own (KEEPFIT_USAGE):
 * the factors are not in it. */
KEEPFIT_API keepfit_status keepfit_journal_model(const char *folder, const keepfit_options *options,
                                                 keepfit_model **model, keepfit_error *error);

/* The fit itself, to be looked at: it takes no points, and loses none (KEEPFIT_USAGE). */
KEEPFIT_API keepfit_status keepfit_journal_fit(const char *folder, const keepfit_options *options, keepfit_fit **fit,
                                               keepfit_error *error);

/* Cuts off a torn tail and removes spoilt checkpoints. Never touches a sound record, and refuses a journal that is damaged
 * otherwise. */
KEEPFIT_API keepfit_status keepfit_journal_repair(const char *folder, const keepfit_options *options,
                                                  keepfit_error *error);
/* Checks a checkpoint file by itself; *record is the last record that is in it. */
KEEPFIT_API keepfit_status keepfit_checkpoint_check(const char *path, const keepfit_options *options, uint64_t *record,
                                                    keepfit_error *error);

/* ---- 7. What this build offers ---- */

typedef enum keepfit_family {
    KEEPFIT_METHODS = 0,
    KEEPFIT_LOSSES = 1,
    KEEPFIT_DOMAINS = 2,
    KEEPFIT_FORMATS = 3,
    KEEPFIT_FEATURES = 4
} keepfit_family;

typedef struct keepfit_entry {
    size_t struct_size;
    const char *name;    /* as given to the option */
    const char *summary; /* one line */
} keepfit_entry;

/* Entry k of a family, from 0; false past the last. */
KEEPFIT_API bool keepfit_family_entry(keepfit_family family, size_t k, keepfit_entry *entry);

/* What a loss predicts, and whether its scores make probabilities. */
typedef enum keepfit_loss_trait {
    KEEPFIT_LOSS_NUMBERS = 1,
    KEEPFIT_LOSS_TWO_CLASSES = 2,
    KEEPFIT_LOSS_MANY_CLASSES = 4,
    KEEPFIT_LOSS_PROBABILITIES = 8
} keepfit_loss_trait;

/* The sum of the traits of a loss, named as the option "loss" has it ("network:5", too); 0 where there is none of this name. */
KEEPFIT_API unsigned keepfit_loss_traits(const char *name);

typedef enum keepfit_option_type {
    KEEPFIT_REAL = 0,
    KEEPFIT_COUNT = 1,
    KEEPFIT_CHOICE = 2,
    KEEPFIT_TEXT = 3,
    KEEPFIT_FLAG = 4
} keepfit_option_type;

typedef struct keepfit_option {
    size_t struct_size;
    const char *key;     /* "lambda" */
    const char *value;   /* what stands for the value in help: "L"; "" for a flag */
    const char *initial; /* the default, as text; "" where there is none */
    const char *group;   /* "problem", "method", "data", "predict" or "journal" */
    const char *help;    /* one or two sentences */
    const char *choices; /* CHOICE: "squared|logistic|..."; otherwise NULL */
    keepfit_option_type type;
    bool above;         /* the value is above `least`, never equal to it */
    double least, most; /* REAL and COUNT: the bounds; CHOICE: those of the number behind a colon; otherwise 0 */
} keepfit_option;
/* Option k, from 0; false past the last. */
KEEPFIT_API bool keepfit_option_entry(size_t k, keepfit_option *option);
/* The option of that key; false: there is none. */
KEEPFIT_API bool keepfit_option_find(const char *key, keepfit_option *option);

/* "Did you mean": of the names that are offered, the one that a misspelt word is nearest to, if any is near enough. Capital
 * letters, and _ for -, do not count; a word that is the beginning of a name is near. Begin with {.struct_size = sizeof guess,
 * .word = word}; the word must last as long as the guess. */
typedef struct keepfit_guess {
    size_t struct_size;
    const char *word;
    char nearest[64]; /* "": none is near enough */
    size_t distance;  /* to it, in letters */
    char hint[96];
} keepfit_guess;

/* One name, or several separated by | as in keepfit_option.choices. What follows a colon (network:H) is not compared. */
KEEPFIT_API void keepfit_guess_offer(keepfit_guess *guess, const char *names);
/* "; did you mean PREFIXname?", to end a message with, or "". Lives as long as the guess. */
KEEPFIT_API const char *keepfit_guess_hint(keepfit_guess *guess, const char *prefix);

/* ---- 8. What may still change ---- */

/* Everything above stays as it is in all versions 1.x, and what is compiled for one of them runs with every later one. What follows
 * may change with each minor version: a program that uses it says so, with #define KEEPFIT_UNSTABLE 1 before it includes this
 * file, and is compiled anew for each. */
#ifdef KEEPFIT_UNSTABLE

/* f_j(x) = weight_j * value(x, point_j) + lambda*|x|^2, where value is convex and differentiable in x. Each callback
 * returns 0, or anything else to stop the fit with KEEPFIT_CALLBACK. dimension is fixed, and the context must last as long as the fit. The points reach the
 * callbacks as they were pushed, except that a row of features 0 .. count-1 comes without indices. */
typedef struct keepfit_objective {
    size_t struct_size;
    const char *name; /* copied; NULL: none */
    size_t dimension;
    void *context; /* handed to every callback */
    int (*value)(void *context, const double *x, const keepfit_point *point, double *value);
    int (*gradient)(void *context, const double *x, const keepfit_point *point, double *gradient);
    /* May be NULL: an upper bound on the curvature (largest Hessian eigenvalue) of value(., point) anywhere. Without
     * it the option smoothness must be given. */
    int (*curvature)(void *context, const keepfit_point *point, double *curvature);
} keepfit_objective;
KEEPFIT_API keepfit_status keepfit_fit_create_custom(const keepfit_options *options, const keepfit_objective *objective,
                                                     keepfit_fit **fit, keepfit_error *error);

/* All access to files that have to last (models, journals, checkpoints) goes through one table of functions. The system's
 * own is used unless another is given: a test that cuts the power, or a store that is no file system.
 *
 * Every function gets `context`, and returns a number >= 0, or -errno. What `write` has written may be lost until `sync`
 * has returned 0; names made by open, rename, remove or make_folder until sync_folder has. A sync that failed must not be
 * taken for good later, whatever a second one returns. */
typedef enum keepfit_disk_access {
    KEEPFIT_DISK_READ = 0,
    KEEPFIT_DISK_WRITE = 1,    /* reading and writing, both by offset */
    KEEPFIT_DISK_CREATE = 2,   /* made if it is not there */
    KEEPFIT_DISK_EXCLUSIVE = 4 /* with CREATE: -EEXIST if it is there */
} keepfit_disk_access;

typedef enum keepfit_disk_kind {
    KEEPFIT_DISK_FILE = 0,
    KEEPFIT_DISK_FOLDER = 1,
    KEEPFIT_DISK_OTHER = 2
} keepfit_disk_kind;

typedef struct keepfit_disk {
    size_t struct_size;
    bool concurrent; /* write and sync may be called by a thread of its own, while other calls go on */
    void *context;
    /* A handle >= 0. permissions: those of a file that is made; 0 for the usual ones. */
    int (*open)(void *context, const char *path, unsigned access, unsigned permissions);
    int (*close)(void *context, int file);
    int64_t (*read)(void *context, int file, void *bytes, size_t count, uint64_t offset); /* may be short; 0: end */
    int64_t (*write)(void *context, int file, const void *bytes, size_t count, uint64_t offset); /* may be short */
    int64_t (*size)(void *context, int file);
    int (*truncate)(void *context, int file, uint64_t size);
    int (*sync)(void *context, int file);
    /* The file's first `size` bytes in memory, for reading. */
    int (*map)(void *context, int file, size_t size, const void **bytes);
    int (*unmap)(void *context, const void *bytes, size_t size);
    /* -EWOULDBLOCK: another handle has it. It ends with the handle, or with the process. */
    int (*lock)(void *context, int file);

    int (*rename)(void *context, const char *from, const char *to);
    int (*remove)(void *context, const char *path); /* a file, or an empty folder */
    int (*make_folder)(void *context, const char *path);
    int (*sync_folder)(void *context, const char *path);
    /* Calls visit for each name in the folder, in any order, until it returns other than 0, and returns that. */
    int (*list)(void *context, const char *path, int (*visit)(void *argument, const char *name), void *argument);
    /* What is there, links followed; -ENOENT if nothing is. permissions may be NULL. */
    int (*examine)(void *context, const char *path, keepfit_disk_kind *kind, unsigned *permissions);
    /* What the path leads to through links, as a text to be freed with free(). */
    int (*resolve)(void *context, const char *path, char **place);
} keepfit_disk;

/* The system's own. */
KEEPFIT_API const keepfit_disk *keepfit_disk_system(void);
/* Fits made with these options, and their journals, use this disk. NULL: the system's. It must outlive them. */
KEEPFIT_API void keepfit_options_disk(keepfit_options *options, const keepfit_disk *disk);

/* The whole state of a fit as bytes, but for its options and its points (keepfit_fit_point has them). Taking it changes
 * nothing. The bytes belong to the fit, and live until the next call on it. */
KEEPFIT_API keepfit_status keepfit_fit_snapshot(keepfit_fit *fit, const unsigned char **bytes, size_t *count);
/* Into a fit that has the same options and no points yet, with the points that were present then: it goes on bit for bit as
 * the other one would have. KEEPFIT_CORRUPT: these bytes are no snapshot of such a fit. After a failure it is only good to
 * be freed. */
KEEPFIT_API keepfit_status keepfit_fit_restore(keepfit_fit *fit, const keepfit_block *points,
                                               const unsigned char *bytes, size_t count);

#endif /* KEEPFIT_UNSTABLE */

#ifdef __cplusplus
}
#endif
#endif
