/* The command line: one table of commands, one table of the command line's own options beside the library's, and what
 * they came to. Help, man page and completion read the same tables. */
#ifndef KEEPFIT_CLI_ARGUMENTS_H
#define KEEPFIT_CLI_ARGUMENTS_H

#include "keepfit.h"
#include "toolkit/exit_code.h"

enum command_id {
    TRAIN = 1,
    PREDICT = 2,
    COMPARE = 4,
    INSPECT = 8,
    GENERATE = 16,
    LIST = 32,
    HELP = 64,
    REPRODUCE = 128,
    VERIFY = 256,
    EXPORT = 512,
    COMPACT = 1024,
    SERVE = 2048,
    PUSH = 4096,
    ASK = 8192
};

struct arguments;

struct command {
    const char *name;
    enum command_id id;
    const char *positional; /* "FILE|-" */
    int least, most;        /* positional arguments */
    const char *summary;
    const char *description; /* for its help */
    const char *example;
    const char *groups; /* the library's option groups it takes, or single keys */
    int (*run)(struct arguments *arguments);
};

/* The values of the command line's own options. */
struct arguments {
    const struct command *command;
    keepfit_options *options;
    char **positional;
    int positional_count;
    char *owned[64]; /* texts read from --config that the fields below point to */
    size_t owned_count;
    char **words; /* the whole command line, for reports */
    int word_count;

    const char *model, *trace, *trace_stages, *out, *methods, *output, *config, *order, *completion, *data, *resume,
        *to, *class_name, *influence;
    bool follow_model, acknowledge, repair, gap, json, quiet, score, weights, man, help, version, quick,
        standard_errors, csv, log;
    uint64_t save_every, runs, rows, features, nnz, classes, explain;
    const char *listen, *unix_path, *tokens, *token, *log_file;
    uint64_t max_body, max_points, max_queue, max_connections, max_connections_address, max_listeners, max_waiting,
        header_seconds, idle_seconds, body_rate, waiting_seconds, keep_keys, batch, retries;
    double noise, drift;
};

/* One of the command line's own options. `initial` is "" where there is no default. */
struct own_option {
    const char *key;
    char letter; /* short form, or 0 */
    const char *value;
    const char *initial;
    keepfit_option_type type;
    size_t offset;
    unsigned commands; /* command_id bits */
    const char *help;
};

const struct command *command_entry(size_t k); /* NULL past the last */
const struct command *command_find(const char *name);
int command_refuse(const char *name); /* says that there is no such command; EXIT_USAGE */
const struct own_option *own_option_entry(size_t k);
/* Whether the command takes this option of the library. */
bool command_takes(const struct command *command, const keepfit_option *option);

/* Reads the command line, the environment (KEEPFIT_LAMBDA=...) and --config FILE, in this order of precedence. Returns an
 * exit code; EXIT_DONE: go on. */
int arguments_read(struct arguments *arguments, int count, char **words);
void arguments_free(struct arguments *arguments);
/* Whether the loss is that of a network, which is not convex. */
bool is_network(keepfit_options *options);
/* Refuses --gap where there is none. Returns an exit code. */
int check_gap(const struct arguments *arguments);

/* help.c */
void help_overview(void);
void help_command(const struct command *command);
int run_help(struct arguments *arguments);

/* The commands, one file each. */
int run_train(struct arguments *arguments);
int run_predict(struct arguments *arguments);
int run_compare(struct arguments *arguments);
int run_inspect(struct arguments *arguments);
int run_verify(struct arguments *arguments);
int run_export(struct arguments *arguments);
int run_compact(struct arguments *arguments);
int run_generate(struct arguments *arguments);
int run_list(struct arguments *arguments);
int run_reproduce(struct arguments *arguments);
int run_serve(struct arguments *arguments);
int run_push(struct arguments *arguments);
int run_ask(struct arguments *arguments);

#endif
