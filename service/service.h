/* The service: points come in over HTTP, one learner thread owns the fits, predictions are made from immutable copies of the models.
 *
 *   transport.c   connections: HTTP by libmicrohttpd, limits, time outs; makes an exchange of each request
 *   routes.c      the table of routes, from which the OpenAPI document comes, too
 *   request.c        bodies to rows, apart from all else
 *   answers.c     answers from a model, in the transport's threads
 *   learner.c     the thread that owns the fits: takes what is queued, makes it durable together, publishes the models, answers
 *   learn.c       what it does with a request
 *   remembered.c    what it has to know again after a restart: notes in the journal
 *   current.c     the models as they are now, by reference count
 */
#ifndef KEEPFIT_SERVICE_SERVICE_H
#define KEEPFIT_SERVICE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/request.h"
#include "service/shown.h"

#define MODELS_MOST 16
#define NAME_MOST 64
#define KEY_MOST 128
#define PARTS_MOST 32

/* ---- models as they are now ---- */

struct validation { /* of predictions that were given before their labels came */
    uint64_t count, wrong;
    double square_sum; /* where the loss is for numbers */
};

/* Never changed once it is there; the last user frees it. */
struct current {
    atomic_uint users;
    keepfit_model *model; /* NULL: there are no points yet */
    keepfit_description about;
    keepfit_schema schema;
    keepfit_report report;
    uint64_t safe; /* points that no power cut can take */
    keepfit_validation validation;
    uint64_t calibration_count[PARTS_MOST]; /* what its pointers lead to */
    double predicted[PARTS_MOST], happened[PARTS_MOST];
    struct validation late;
    struct shown_row shown;
    struct current *measured; /* whose model has the newest standard errors; NULL: there are none */
};

enum format { FORMAT_JSON = -2, FORMAT_LINES = -1, FORMAT_LIBSVM = 0, FORMAT_CSV, FORMAT_JSONL, FORMATS };

struct trained {
    char name[NAME_MOST];
    keepfit_options *options;
    keepfit_options *reading[FORMATS]; /* the same, for the streams that read requests */
    keepfit_fit *fit;                  /* the learner's alone */
    bool timed;                        /* weights fade, or points leave, with time */
    double latest;                     /* the newest point's time */
    struct validation late;            /* the learner's alone */
    pthread_mutex_t lock;              /* of the next: held for a few instructions only */
    struct current *current;
    struct current *measured; /* as above; the learner's alone */
};

/* One more user; NULL: nothing has been published yet. */
struct current *current_take(struct trained *trained);
void current_leave(struct current *current);
/* The learner's: what it has now takes the place of what was there. */
keepfit_status current_publish(struct trained *trained);

/* ---- a request and its answer ---- */

struct answer {
    unsigned status;
    const char *type;
    struct text text;
    unsigned retry_after; /* seconds; 0: not said */
    const char *allow;    /* for 405; NULL: not said */
    const char *policy;   /* of a page */
    const char *shown;    /* what a file would be called; NULL: no file */
};

struct service;
struct route;

struct exchange {
    struct service *service;
    const struct route *route;
    struct trained *trained; /* the model that is asked */
    char tail[256];          /* what stands for {...} in the route's path */
    struct text body;
    char type[80], key[KEY_MOST + 1];
    const char *(*argument)(const struct exchange *exchange,
                            const char *name); /* behind the ?; the transport's threads only */
    void *transport;

    struct rows rows;
    bool streamed; /* rows are in a text, as files of this format have them; otherwise they are in `rows` */
    enum format format;
    struct text *stream; /* that text */
    uint64_t from, most; /* of a page of points */
    struct trouble trouble;
    struct answer answer;

    bool goes_on; /* the learner has something to do */
    bool learnt;  /* it has learnt or forgotten something, which the answer's end says, once that is durable: */
    uint64_t first, last, stage;
    bool removed;
    double bound;

    struct exchange *next; /* in the queue */
    void (*ready)(struct exchange *exchange);
};

void exchange_free(struct exchange *exchange); /* what is in it */
/* The error of `trouble` becomes the answer. */
void exchange_refuse(struct exchange *exchange);

/* ---- routes ---- */

enum scope { SCOPE_NONE = 0, SCOPE_READ = 1, SCOPE_WRITE = 2, SCOPE_FORGET = 4, SCOPE_ADMIN = 8 };
enum place { PLACE_HERE, PLACE_LEARNER, PLACE_EVENTS };

struct route {
    const char *method, *path; /* "{name}" at the end stands for the rest */
    enum scope scope;
    enum place place;
    bool early; /* answers also before the journal has been taken over */
    /* In the transport's threads. For the learner's routes it makes ready what the learner needs. False: refused. */
    bool (*here)(struct exchange *exchange);
    bool (*learner)(struct exchange *exchange);
    const char *summary, *body, *answer; /* for the OpenAPI document: names of its schemas; NULL: none */
    const char *parameters;              /* likewise, in JSON; NULL: it has none */
};

const struct route *route_entry(size_t k); /* NULL past the last */
/* The route of a request, with exchange->tail; NULL: refused. */
const struct route *route_find(struct exchange *exchange, const char *method, const char *path);
bool route_openapi(struct exchange *exchange);

/* ---- what was counted ---- */

struct counters {
    atomic_uint_least64_t requests[6]; /* by the first digit of the status */
    atomic_uint_least64_t points, predictions, removals, labels, syncs, groups, refused_full, bad_points;
    atomic_uint_least64_t connections, listeners, waiting;
    atomic_uint_least64_t predict_nanoseconds, learn_nanoseconds;
};

/* ---- the learner ---- */

struct memory;
struct past;

struct limits {
    uint64_t body, points, queue, queue_bytes, connections, connections_address, listeners, waiting;
    uint64_t header_seconds, idle_seconds, body_rate, waiting_seconds, keys;
};

enum state { STATE_STARTING, STATE_READY, STATE_STOPPING, STATE_FAILED };

struct service {
    struct limits limits;
    struct trained models[MODELS_MOST];
    size_t model_count;
    struct counters counters;
    atomic_int state; /* enum state */
    struct guard *guard;
    struct log *log;
    keepfit_stop *stop; /* of the takeover of a journal */
    bool always;        /* each answer waits for a sync, which many share */

    pthread_t learner;
    pthread_mutex_t lock; /* of the queue */
    pthread_cond_t wake;
    struct exchange *first, *last;
    atomic_size_t queued; /* changed under the lock */
    size_t queued_bytes;
    bool ending;
    struct memory *memory;
    struct past *past;
    keepfit_error failure; /* why the journal could not be taken over, or why learning ended */

    pthread_mutex_t events_lock;
    uint64_t event_number;
    struct text event;   /* the newest, as it is sent */
    uint64_t event_made; /* when; the learner's */
    pthread_t main_thread;
    double began;
};

int learner_start(struct service *service);
/* No more requests are taken; what is queued is answered, a checkpoint is written. */
void learner_end(struct service *service);
/* False: the queue is full, or the service is about to end (the trouble says which). */
bool learner_submit(struct exchange *exchange);

/* learn.c and listing.c: in the learner's thread. */
bool learn_refuse(struct exchange *exchange, keepfit_status status);
uint64_t learn_stage(const keepfit_fit *fit);
/* The answer tells of these points, and of the fit as it is now. */
void learn_done(struct exchange *exchange, uint64_t first, uint64_t last);
bool learn_prepare_points(struct exchange *exchange);
bool learn_points(struct exchange *exchange);
bool learn_prepare_labels(struct exchange *exchange);
bool learn_labels(struct exchange *exchange);
bool learn_prepare_removal(struct exchange *exchange);
bool learn_removal(struct exchange *exchange);
bool learn_prepare_page(struct exchange *exchange);
bool learn_page(struct exchange *exchange);

/* answers.c: in the transport's threads; a row with an id waits, by the learner, for its label. */
bool predict_rows(struct exchange *exchange);
bool predict_wait(struct exchange *exchange);
/* For others' protocols: the exchange's rows, which are there. */
enum answer_kind { ANSWER_OWN, ANSWER_INFERENCE, ANSWER_INVOCATION };
bool predict_as(struct exchange *exchange, enum answer_kind kind);
/* neighbours.c */
bool neighbour_infer(struct exchange *exchange);
bool neighbour_invoke(struct exchange *exchange);
bool neighbour_metadata(struct exchange *exchange);
bool neighbour_server(struct exchange *exchange);
/* body.c: the rows of a body. First as far as they can be read without knowing what they are for; */
bool body_read(struct exchange *exchange, bool targets);
/* then, where they are streamed, for a fit or for a model. The stream, which knows the names, is the caller's to close. */
bool body_stream(struct exchange *exchange, const keepfit_fit *fit, const keepfit_model *model, struct rows *rows,
                 keepfit_stream **stream);
/* A row of a list is as wide as the model takes. */
bool body_check_width(struct exchange *exchange, const struct current *current);

/* tell.c */
bool tell_model(struct exchange *exchange);
bool tell_report(struct exchange *exchange);
bool tell_metrics(struct exchange *exchange);
bool tell_live(struct exchange *exchange);
bool tell_ready(struct exchange *exchange);
bool tell_page(struct exchange *exchange);
void tell_report_of(struct text *text, const struct service *service, const struct current *current, bool all);

/* remembered.c: what has to be known again after a restart, kept as notes in the journal. */
struct remembered { /* a request with a key, or a label */
    char *key;
    uint64_t digest, count, done; /* of its points; done: how many are in */
    uint64_t first, last;         /* their numbers, as far as they are in */
    struct remembered *older, *newer, *chain;
};

struct waiting { /* a row that was predicted, and waits for its label */
    char *id;
    char *row;        /* its features, as the request had them */
    char *prediction; /* that was given then: JSON */
    uint64_t since;   /* seconds of the clock */
    struct waiting *older, *newer, *chain;
};

struct memory *memory_create(const struct limits *limits);
void memory_free(struct memory *memory);
/* Takes over the notes of a fit that has been created on its journal. */
keepfit_status memory_recall(struct memory *memory, keepfit_fit *fit);
/* Writes all that is still needed as one note instead of all earlier ones, if they have become many, or `now`. */
keepfit_status memory_gather(struct memory *memory, keepfit_fit *fit, bool now);
struct remembered *memory_find(struct memory *memory, const char *key);
/* The points of a request come now; what is known of its key already goes on. `then` (or NULL) is the validation once they are in.
 * NULL: it failed, *status says how. */
struct remembered *memory_announce(struct memory *memory, keepfit_fit *fit, const char *key, uint64_t digest,
                                   uint64_t count, const struct validation *then, keepfit_status *status);
/* A row waits again under the id of a label that has come: that label is forgotten. */
void memory_again(struct memory *memory, const char *key, uint64_t digest);
struct waiting *memory_waiting(struct memory *memory, const char *id);
keepfit_status memory_wait(struct memory *memory, keepfit_fit *fit, const char *id, const char *row, size_t row_count,
                           const char *prediction, size_t prediction_count);
void memory_labelled(struct memory *memory, struct waiting *waiting);
void memory_expire(struct memory *memory);
size_t memory_waiting_count(const struct memory *memory);
struct validation *memory_validation(struct memory *memory);

/* clock.c */
uint64_t clock_nanoseconds(void); /* goes on evenly */
uint64_t clock_seconds(void);     /* since 1970 */

#endif
