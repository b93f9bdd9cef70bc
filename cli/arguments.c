#define _GNU_SOURCE /* getopt_long, getline */
#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolkit/output.h"

#define AT(field) offsetof(struct arguments, field)
#define ALL                                                                                                            \
    (TRAIN | PREDICT | COMPARE | INSPECT | GENERATE | LIST | HELP | REPRODUCE | VERIFY | EXPORT | COMPACT | SERVE |    \
     PUSH | ASK)

static const struct own_option table[] = {
    {"model", 'm', "FILE", "", KEEPFIT_TEXT, AT(model), TRAIN, "Save the model there at the end (atomically)."},
    {"save-every", 0, "N", "", KEEPFIT_COUNT, AT(save_every), TRAIN, "Also save the model after every N points."},
    {"resume", 0, "check|append", "check", KEEPFIT_TEXT, AT(resume), TRAIN,
     "With --journal, what to do with the stream's first points when the journal already has some: check that they are "
     "the same "
     "and skip them, or append all."},
    {"acknowledge", 0, "", "false", KEEPFIT_FLAG, AT(acknowledge), TRAIN,
     "With --journal, print the number of points that are safe, a line each time it grows."},
    {"repair", 0, "", "false", KEEPFIT_FLAG, AT(repair), VERIFY,
     "Cut off the torn tail that a crash has left, and remove checkpoints that are damaged. Whole records are never "
     "touched."},
    {"to", 0, "libsvm|csv|npy|json|liblinear", "", KEEPFIT_TEXT, AT(to), EXPORT,
     "Points (of a journal) as libsvm, csv or npy; a model as json, npy or liblinear; that of a journal as json or "
     "liblinear. "
     "Default: libsvm of a journal, json of a model."},
    {"trace", 0, "FILE", "", KEEPFIT_TEXT, AT(trace), TRAIN | COMPARE,
     "Write CSV, one line for each traced stage: method,run,stage,fo,steps,seconds,objective,optimum,gap,bound."},
    {"trace-stages", 0, "N|all", "50", KEEPFIT_TEXT, AT(trace_stages), TRAIN | COMPARE,
     "How many stages to trace, spaced geometrically, always with the last (a pipe is taken to be a million points "
     "long, or as long as --limit says)."},
    {"gap", 0, "", "false", KEEPFIT_FLAG, AT(gap), TRAIN,
     "Measure the true gap at the traced stages, by solving them to near machine precision (slow)."},
    {"gap", 0, "", "false", KEEPFIT_FLAG, AT(gap), COMPARE,
     "Measure the true gap at the traced stages, which compare does anyway."},
    {"methods", 0, "LIST", "auto,csvrg,sgd,sgd-sparse,svrg,katyusha", KEEPFIT_TEXT, AT(methods), COMPARE,
     "The methods to compare, separated by commas; each may carry options of its own: csvrg:setting=paper:inner=50."},
    {"runs", 0, "N", "3", KEEPFIT_COUNT, AT(runs), COMPARE, "How many seeds, counted up from --seed."},
    {"out", 'o', "DIR", "keepfit-report", KEEPFIT_TEXT, AT(out), COMPARE,
     "Folder for trace.csv, the plots and report.html."},
    {"out", 'o', "DIR", "keepfit-reproduction", KEEPFIT_TEXT, AT(out), REPRODUCE,
     "Folder for report.html, the figures, and the numbers as CSV; what is there already is not computed again."},
    {"data", 0, "DIR", "", KEEPFIT_TEXT, AT(data), REPRODUCE,
     "Folder with the data sets, plain or gzip (docs/reproduction.md lists them). Default: made-up data of the same "
     "shape."},
    {"quick", 0, "", "false", KEEPFIT_FLAG, AT(quick), REPRODUCE,
     "Smaller streams, fewer seeds: a minute instead of half an hour."},
    {"score", 0, "", "false", KEEPFIT_FLAG, AT(score), PREDICT,
     "Report accuracy and log-loss, or root mean squared error, on standard error."},
    {"output", 0, "LIST", "", KEEPFIT_TEXT, AT(output), PREDICT,
     "What to print for each row, separated by commas: label (or value: the label or number), probability (of each "
     "class), scores (one a "
     "class; for two classes one number, above 0 for the second), margin (of the label). Several columns have a line "
     "of their names "
     "first. Default: label."},
    {"class", 0, "NAME", "", KEEPFIT_TEXT, AT(class_name), PREDICT, "Print the probability of this class only."},
    {"follow-model", 0, "", "false", KEEPFIT_FLAG, AT(follow_model), PREDICT,
     "Read the model again when its file has been replaced; the rows behind are predicted with it. While the new one "
     "cannot be read "
     "the old one stays."},
    {"explain", 0, "N", "", KEEPFIT_COUNT, AT(explain), PREDICT,
     "Print the N largest contributions of features to the prediction as well, with the intercept and the sum of the "
     "rest: to the number, to the score of the second of two classes, or to that of the predicted one of more, less "
     "the mean of all."},
    {"weights", 0, "", "false", KEEPFIT_FLAG, AT(weights), INSPECT,
     "Print every weight, of a journal, too, with standard errors where the model has them."},
    {"standard-errors", 0, "", "false", KEEPFIT_FLAG, AT(standard_errors), TRAIN,
     "Compute standard errors of the weights, from the Hessian and robust ones, for --model; inspect --weights shows "
     "them."},
    {"standard-errors", 0, "", "false", KEEPFIT_FLAG, AT(standard_errors), INSPECT,
     "Compute standard errors of the weights of a journal's model."},
    {"influence", 0, "KEY|NUMBER", "", KEEPFIT_TEXT, AT(influence), INSPECT,
     "What the model of a journal would be without the point that has this key, or came as that one, from 1."},
    {"csv", 0, "", "false", KEEPFIT_FLAG, AT(csv), INSPECT,
     "Print the weights as CSV: name,class,weight,error,robust_error."},
    {"log", 0, "", "false", KEEPFIT_FLAG, AT(log), GENERATE,
     "An event log instead: payments with times, categories, blanks, notes, and a label (ok, fraud; with --loss "
     "softmax "
     "disputed, too), as CSV with names. --rows, --seed, --noise and --drift count."},
    {"rows", 0, "N", "1000", KEEPFIT_COUNT, AT(rows), GENERATE, "Number of points."},
    {"features", 0, "N", "20", KEEPFIT_COUNT, AT(features), GENERATE, "Number of features."},
    {"nnz", 0, "N", "", KEEPFIT_COUNT, AT(nnz), GENERATE, "Non-zeros a row (default: all features)."},
    {"classes", 0, "N", "3", KEEPFIT_COUNT, AT(classes), GENERATE,
     "Number of classes, for --loss softmax and network."},
    {"noise", 0, "S", "0.1", KEEPFIT_REAL, AT(noise), GENERATE,
     "Numbers: standard deviation of the noise. Classes: share of labels drawn at random."},
    {"drift", 0, "D", "0", KEEPFIT_REAL, AT(drift), GENERATE,
     "How far the hidden model moves along the stream, as a share of its size."},
    {"order", 0, "iid|sorted", "iid", KEEPFIT_TEXT, AT(order), GENERATE, "sorted: by target, smallest first."},
    {"json", 0, "", "false", KEEPFIT_FLAG, AT(json), TRAIN | COMPARE | INSPECT | LIST, "Print the result as JSON."},
    {"quiet", 'q', "", "false", KEEPFIT_FLAG, AT(quiet),
     TRAIN | PREDICT | COMPARE | REPRODUCE | GENERATE | EXPORT | PUSH | ASK, "No progress, no summary, no warnings."},
    {"config", 0, "FILE", "", KEEPFIT_TEXT, AT(config), TRAIN | PREDICT | COMPARE | GENERATE | SERVE,
     "Read options from lines 'key = value'; the command line and the environment (KEEPFIT_LAMBDA=...) take "
     "precedence."},
    {"listen", 0, "HOST:PORT", "", KEEPFIT_TEXT, AT(listen), SERVE,
     "Where to listen, such as 127.0.0.1:8377. What others can reach needs --tokens."},
    {"unix", 0, "PATH", "", KEEPFIT_TEXT, AT(unix_path), SERVE, "Listen on a socket of this name, too or instead."},
    {"tokens", 0, "FILE", "", KEEPFIT_TEXT, AT(tokens), SERVE,
     "Lines of a token and what it is for: read, write, forget, admin. SIGHUP reads it again."},
    {"log", 0, "FILE", "", KEEPFIT_TEXT, AT(log_file), SERVE,
     "Where log lines go. Default: standard error. SIGHUP opens it anew."},
    {"max-body", 0, "BYTES", "33554432", KEEPFIT_COUNT, AT(max_body), SERVE, "The largest body of a request."},
    {"max-points", 0, "N", "100000", KEEPFIT_COUNT, AT(max_points), SERVE, "The most points a request."},
    {"max-queue", 0, "N", "1024", KEEPFIT_COUNT, AT(max_queue), SERVE,
     "How many requests may wait for the learner; more are told to come back (429)."},
    {"max-connections", 0, "N", "1000", KEEPFIT_COUNT, AT(max_connections), SERVE, "Connections at once."},
    {"max-connections-address", 0, "N", "800", KEEPFIT_COUNT, AT(max_connections_address), SERVE,
     "Connections at once from one address."},
    {"max-listeners", 0, "N", "64", KEEPFIT_COUNT, AT(max_listeners), SERVE, "Listeners to events at once."},
    {"max-waiting", 0, "N", "100000", KEEPFIT_COUNT, AT(max_waiting), SERVE,
     "Predicted rows that may wait for their labels; beyond it the oldest goes."},
    {"waiting-seconds", 0, "S", "604800", KEEPFIT_COUNT, AT(waiting_seconds), SERVE,
     "How long a predicted row waits for its label."},
    {"keep-keys", 0, "N", "100000", KEEPFIT_COUNT, AT(keep_keys), SERVE,
     "How many requests with an Idempotency-Key are remembered."},
    {"header-seconds", 0, "S", "10", KEEPFIT_COUNT, AT(header_seconds), SERVE,
     "How long a request's header may take, and its body before --body-rate counts."},
    {"idle-seconds", 0, "S", "60", KEEPFIT_COUNT, AT(idle_seconds), SERVE, "How long a connection may be idle."},
    {"body-rate", 0, "BYTES", "1000", KEEPFIT_COUNT, AT(body_rate), SERVE, "Bytes a second that a body has to bring."},
    {"token", 0, "FILE", "", KEEPFIT_TEXT, AT(token), PUSH | ASK, "A file whose first word is the token to send."},
    {"batch", 0, "N", "1000", KEEPFIT_COUNT, AT(batch), PUSH | ASK, "Rows a request."},
    {"retries", 0, "N", "8", KEEPFIT_COUNT, AT(retries), PUSH | ASK,
     "How often a request that did not get through is sent again, after ever longer waits."},
    {"man", 0, "", "false", KEEPFIT_FLAG, AT(man), HELP, "Print the man page."},
    {"completion", 0, "bash|zsh", "", KEEPFIT_TEXT, AT(completion), HELP, "Print a completion script."},
    {"help", 'h', "", "false", KEEPFIT_FLAG, AT(help), ALL, "Help on the command."},
    {"version", 'V', "", "false", KEEPFIT_FLAG, AT(version), ALL, "The version."},
};

#define ROWS (sizeof table / sizeof table[0])
#define OPTIONS_MOST 128
#define PREFIX "KEEPFIT_"
#define VARIABLE_SIZE 80
#define LONG_OPTION 1000 /* above every letter */

const struct own_option *own_option_entry(size_t k)
{
    return k < ROWS ? &table[k] : NULL;
}

static int assign_own(struct arguments *arguments, const struct own_option *option, const char *value)
{
    void *field = (char *)arguments + option->offset;
    char *end = NULL;
    errno = 0;
    switch (option->type) {
    case KEEPFIT_FLAG:
        *(bool *)field = strcmp(value, "true") == 0;
        if (!*(bool *)field && strcmp(value, "false") != 0)
            return fail(EXIT_USAGE, "--%s: '%s' is neither true nor false", option->key, value);
        return EXIT_DONE;
    case KEEPFIT_COUNT:
        *(uint64_t *)field = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || *end || errno || *(uint64_t *)field == 0)
            return fail(EXIT_USAGE, "--%s: '%s' is not a whole number above 0", option->key, value);
        return EXIT_DONE;
    case KEEPFIT_REAL:
        *(double *)field = strtod(value, &end);
        if (!*value || *end || errno || !(*(double *)field >= 0) || *(double *)field > 1e300)
            return fail(EXIT_USAGE, "--%s: '%s' is not a number of at least 0", option->key, value);
        return EXIT_DONE;
    default:
        *(const char **)field = value;
        return EXIT_DONE;
    }
}

/* An option of either table, looked up for one command. */
struct found {
    const struct own_option *own;
    keepfit_option library;
    bool is_library;
};

static bool find_option(const struct command *command, const char *key, struct found *found)
{
    for (size_t k = 0; k < ROWS; k++)
        if (table[k].commands & command->id && strcmp(table[k].key, key) == 0) {
            *found = (struct found){.own = &table[k]};
            return true;
        }
    *found = (struct found){.library = {.struct_size = sizeof found->library}};
    found->is_library = keepfit_option_find(key, &found->library) && command_takes(command, &found->library);
    return found->is_library;
}

static int assign(struct arguments *arguments, const struct found *found, const char *value)
{
    if (!found->is_library)
        return assign_own(arguments, found->own, value);
    keepfit_error error = {.struct_size = sizeof error};
    if (keepfit_options_set(arguments->options, found->library.key, value, &error) != KEEPFIT_OK)
        return fail(EXIT_USAGE, "%s", message_of(&error).text);
    return EXIT_DONE;
}

/* Which keys have been set so far: whoever comes first wins. */
struct seen {
    const char *keys[OPTIONS_MOST];
    size_t count;
};

static bool is_seen(const struct seen *seen, const char *key)
{
    for (size_t k = 0; k < seen->count; k++)
        if (strcmp(seen->keys[k], key) == 0)
            return true;
    return false;
}

static void mark(struct seen *seen, const char *key)
{
    if (seen->count < OPTIONS_MOST && !is_seen(seen, key))
        seen->keys[seen->count++] = key;
}

static const char *key_of(const struct found *found)
{
    return found->is_library ? found->library.key : found->own->key;
}

static bool is_flag(const struct found *found)
{
    return (found->is_library ? found->library.type : found->own->type) == KEEPFIT_FLAG;
}

/* getopt's tables for one command. */
struct long_options {
    struct option items[OPTIONS_MOST];
    size_t count;
    char letters[64];
};

static void add_long(struct long_options *list, const char *key, keepfit_option_type type, char letter)
{
    /* Each needs a value of its own, or getopt takes ambiguous abbreviations for the first that fits. */
    list->items[list->count] = (struct option){.name = key,
                                               .has_arg = type == KEEPFIT_FLAG ? no_argument : required_argument,
                                               .val = LONG_OPTION + (int)list->count};
    list->count++;
    if (letter) {
        size_t used = strlen(list->letters);
        snprintf(list->letters + used, sizeof list->letters - used, "%c%s", letter, type == KEEPFIT_FLAG ? "" : ":");
    }
}

static void make_long(const struct command *command, struct long_options *list)
{
    keepfit_option option = {.struct_size = sizeof option};
    strcpy(list->letters, ":"); /* getopt tells a missing value apart */
    for (size_t k = 0; k < ROWS; k++)
        if (table[k].commands & command->id)
            add_long(list, table[k].key, table[k].type, table[k].letter);
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (command_takes(command, &option))
            add_long(list, option.key, option.type, strcmp(option.key, "threads") == 0 ? 'j' : 0);
}

static const char *key_of_letter(int letter)
{
    for (size_t k = 0; k < ROWS; k++)
        if (table[k].letter == letter)
            return table[k].key;
    return "threads";
}

static int refuse_option(const struct command *command, const struct long_options *list, const char *word)
{
    size_t length = strcspn(word, "="), fitting = 0;
    for (size_t k = 0; k < list->count && length > 2; k++)
        fitting += strncmp(list->items[k].name, word + 2, length - 2) == 0;
    if (optopt > 0 && optopt < LONG_OPTION)
        return fail(EXIT_USAGE, "%s does not take the option -%c ('keepfit help %s' lists them)", command->name, optopt,
                    command->name);
    char name[64];
    snprintf(name, sizeof name, "%.*s", length > 2 ? (int)length - 2 : 0, word + (length > 2 ? 2 : 0));
    keepfit_guess guess = {.word = name};
    for (size_t k = 0; k < list->count && fitting <= 1; k++)
        keepfit_guess_offer(&guess, list->items[k].name);
    return fail(EXIT_USAGE, "%s %s the option %s ('keepfit help %s' lists them)%s", command->name,
                fitting > 1 ? "cannot tell which is" : "does not take", word, command->name,
                keepfit_guess_hint(&guess, "--"));
}

static int read_flags(struct arguments *arguments, struct seen *seen, int count, char **words)
{
    struct long_options list = {.count = 0};
    make_long(arguments->command, &list);
    opterr = 0;
    for (;;) {
        int got = getopt_long(count, words, list.letters, list.items, NULL);
        if (got == -1)
            break;
        if (got == ':')
            return fail(EXIT_USAGE, "%s needs a value", words[optind - 1]);
        if (got == '?')
            return refuse_option(arguments->command, &list, words[optind - 1]);
        struct found found = {0};
        find_option(arguments->command, got < LONG_OPTION ? key_of_letter(got) : list.items[got - LONG_OPTION].name,
                    &found);
        int code = assign(arguments, &found, is_flag(&found) ? "true" : optarg);
        if (code != EXIT_DONE)
            return code;
        mark(seen, key_of(&found));
    }
    arguments->positional = words + optind;
    arguments->positional_count = count - optind;
    return EXIT_DONE;
}

/* KEEPFIT_MAX_FEATURES for max-features. */
static const char *variable_of(char name[VARIABLE_SIZE], const char *key)
{
    size_t used = (size_t)snprintf(name, VARIABLE_SIZE, PREFIX);
    for (const char *at = key; *at && used + 1 < VARIABLE_SIZE; at++)
        name[used++] = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    name[used] = '\0';
    return name;
}

static int read_one_variable(struct arguments *arguments, struct seen *seen, const char *key)
{
    char name[VARIABLE_SIZE];
    const char *value = getenv(variable_of(name, key));
    struct found found = {0};
    if (!value || is_seen(seen, key) || !find_option(arguments->command, key, &found))
        return EXIT_DONE;
    if (!found.is_library && found.own->commands == ALL)
        return EXIT_DONE; /* help and version are requests, not settings */
    mark(seen, key_of(&found));
    return assign(arguments, &found, value);
}

static int read_environment(struct arguments *arguments, struct seen *seen)
{
    keepfit_option option = {.struct_size = sizeof option};
    int code = EXIT_DONE;
    for (size_t k = 0; k < ROWS && code == EXIT_DONE; k++)
        code = read_one_variable(arguments, seen, table[k].key);
    for (size_t k = 0; keepfit_option_entry(k, &option) && code == EXIT_DONE; k++)
        code = read_one_variable(arguments, seen, option.key);
    return code;
}

/* What other programs of the project, its tests and its scripts read. */
static bool is_of_project(const char *name)
{
    return strcmp(name, "KEEPFIT_COMMAND") == 0 || strncmp(name, "KEEPFIT_TEST_", 13) == 0 ||
           strncmp(name, "KEEPFIT_MPI_", 12) == 0;
}

/* Whether some command has an option for this variable; otherwise the guess is offered all of them. */
static bool is_setting(const char *name, keepfit_guess *guess)
{
    char variable[VARIABLE_SIZE];
    keepfit_option option = {.struct_size = sizeof option};
    for (size_t k = 0; k < ROWS; k++)
        if (strcmp(name, variable_of(variable, table[k].key)) == 0)
            return true;
        else
            keepfit_guess_offer(guess, variable + strlen(PREFIX));
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        if (strcmp(name, variable_of(variable, option.key)) == 0)
            return true;
        else
            keepfit_guess_offer(guess, variable + strlen(PREFIX));
    return false;
}

/* A variable that is nearly a setting would be one that has no effect; others may be somebody else's. */
static int check_environment(const struct arguments *arguments)
{
    for (char **at = environ; *at; at++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || is_of_project(name))
            continue;
        keepfit_guess guess = {.word = name + strlen(PREFIX)};
        if (is_setting(name, &guess))
            continue;
        if (*guess.nearest)
            return fail(EXIT_USAGE, "the environment's %s is no setting%s", name, keepfit_guess_hint(&guess, PREFIX));
        if (!arguments->quiet)
            warn("the environment's %s is no setting of keepfit, and has no effect", name);
    }
    return EXIT_DONE;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static int refuse_key(const struct arguments *arguments, unsigned long number, const char *key)
{
    struct long_options list = {.count = 0};
    keepfit_guess guess = {.word = key};
    make_long(arguments->command, &list);
    for (size_t k = 0; k < list.count; k++)
        keepfit_guess_offer(&guess, list.items[k].name);
    return fail(EXIT_USAGE, "%s:%lu:1: %s does not take the option '%s'%s", arguments->config, number,
                arguments->command->name, key, keepfit_guess_hint(&guess, ""));
}

static int read_config_line(struct arguments *arguments, const struct seen *seen, unsigned long number, char *line)
{
    char *text = trim(line), *equals = strchr(text, '=');
    if (*text == '#' || !*text)
        return EXIT_DONE;
    if (!equals)
        return fail(EXIT_USAGE, "%s:%lu:1: expected 'key = value'", arguments->config, number);
    *equals = '\0';
    char *key = trim(text), *value = trim(equals + 1);
    struct found found = {0};
    if (!find_option(arguments->command, key, &found))
        return refuse_key(arguments, number, key);
    if (is_seen(seen, key))
        return EXIT_DONE;
    if (found.is_library || found.own->type != KEEPFIT_TEXT)
        return assign(arguments, &found, value);
    char *kept = strdup(value); /* own text options keep the pointer */
    if (!kept || arguments->owned_count == sizeof arguments->owned / sizeof arguments->owned[0]) {
        free(kept);
        return fail(EXIT_FAILED, "%s:%lu:1: too many options", arguments->config, number);
    }
    arguments->owned[arguments->owned_count++] = kept;
    return assign(arguments, &found, kept);
}

static int read_config(struct arguments *arguments, const struct seen *seen)
{
    if (!arguments->config)
        return EXIT_DONE;
    FILE *file = fopen(arguments->config, "r");
    if (!file)
        return fail(EXIT_USAGE, "%s: %s", arguments->config, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    unsigned long number = 0;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && getline(&line, &room, file) >= 0)
        code = read_config_line(arguments, seen, ++number, line);
    if (code == EXIT_DONE && ferror(file))
        code = fail(EXIT_USAGE, "%s: %s", arguments->config, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

static int check_positional(const struct arguments *arguments)
{
    const struct command *command = arguments->command;
    int count = arguments->positional_count;
    if (count < command->least)
        return fail(EXIT_USAGE, "%s needs %s ('keepfit help %s')", command->name, command->positional, command->name);
    if (count > command->most)
        return fail(EXIT_USAGE, "%s: unexpected argument '%s' ('keepfit help %s')", command->name,
                    arguments->positional[command->most], command->name);
    return EXIT_DONE;
}

int arguments_read(struct arguments *arguments, int count, char **words)
{
    struct seen seen = {.count = 0};
    arguments->options = keepfit_options_create();
    if (!arguments->options)
        return fail(EXIT_FAILED, "out of memory");
    for (size_t k = 0; k < ROWS; k++)
        if (table[k].commands & arguments->command->id && *table[k].initial)
            assign_own(arguments, &table[k], table[k].initial);
    int code = read_flags(arguments, &seen, count, words);
    if (code == EXIT_DONE && (arguments->help || arguments->version))
        return EXIT_DONE;
    if (code == EXIT_DONE)
        code = read_environment(arguments, &seen);
    if (code == EXIT_DONE)
        code = read_config(arguments, &seen);
    if (code == EXIT_DONE)
        code = check_environment(arguments);
    return code == EXIT_DONE ? check_positional(arguments) : code;
}

void arguments_free(struct arguments *arguments)
{
    keepfit_options_free(arguments->options);
    for (size_t k = 0; k < arguments->owned_count; k++)
        free(arguments->owned[k]);
}

bool is_network(keepfit_options *options)
{
    return strncmp(keepfit_options_get(options, "loss"), "network:", 8) == 0;
}

int check_gap(const struct arguments *arguments)
{
    if (!arguments->gap || !is_network(arguments->options))
        return EXIT_DONE;
    return fail(EXIT_USAGE, "--gap: a network is not convex, so its optimum, and with it the gap, cannot be computed");
}
