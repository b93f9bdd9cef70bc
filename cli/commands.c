/* The table of commands. */
#include <string.h>

#include "arguments.h"
#include "toolkit/output.h"

static const struct command commands[] = {
    {"train", TRAIN, "[FILE|-]", 0, 1, "keep a model fitted to a stream, within epsilon at every stage",
     "Reads points one at a time. After each one the model is within epsilon of the best model for everything so far. "
     "A pipe is followed line by line, so 'tail -n +1 -f log | keepfit train -' works. The summary goes to standard "
     "output, "
     "progress to standard error. With --journal everything is kept on disk as well: started again, it goes on where "
     "it was, and "
     "skips what it already has; without a FILE, or with one that has nothing, --model gets the journal's model.",
     "keepfit train --loss logistic --lambda 1e-4 --epsilon 1e-3 --model a.kf --trace a.csv --gap data.svm",
     "problem method data journal", run_train},
    {"predict", PREDICT, "MODEL|DIR FILE|-", 2, 2, "one prediction a line, from a model that train saved",
     "Predicts each row of the file with the model, or with that of a journal's folder. Labels are those of the "
     "training data. "
     "Columns find their features by name, in any order, and the target may be missing; a file that lacks features, or "
     "has others, is refused. Each row has its line: one that --on-error skip passes over has an empty one, or 'nan' "
     "for numbers. From a pipe each line is answered as it comes. With --score the accuracy and log-loss (or root mean "
     "squared error) against the file's own targets go to standard error.",
     "keepfit predict --score a.kf test.svm > predictions.txt", "data predict seed threads", run_predict},
    {"compare", COMPARE, "FILE|-", 1, 1, "several methods on the same stream: table, trace, plots, report",
     "Runs each method on the same stream with several seeds, measures the true gap at chosen stages, prints a table "
     "and "
     "writes trace.csv, two SVG plots and a self-contained report.html into the folder --out.",
     "keepfit compare --methods auto,csvrg:setting=paper,sgd:step=capped --runs 3 --out report data.svm",
     "problem method data", run_compare},
    {"reproduce", REPRODUCE, "ridge|network|lower-bound|complexity|regime|theorems|all", 1, 1,
     "the evaluation of the CSVRG paper: every table and figure, with verdicts",
     "Runs the experiments of the paper and writes report.html into the folder --out: each figure beside what the "
     "paper claims, "
     "with a verdict computed from the numbers. A run that is stopped goes on where it was. The same seed gives the "
     "same "
     "report, on any number of threads.",
     "keepfit reproduce all --data DIR --out reproduction", "seed threads", run_reproduce},
    {"inspect", INSPECT, "MODEL|DIR|CHECKPOINT", 1, 1, "what a model file, a journal or a checkpoint holds",
     "Prints what a model file, a journal's folder or a checkpoint holds; --weights prints every weight of a model, "
     "--influence what a journal's model would be without one of its points.",
     "keepfit inspect --json --weights a.kf", "", run_inspect},
    {"verify", VERIFY, "DIR|MODEL|CHECKPOINT", 1, 1, "check every byte of a journal, a model or a checkpoint",
     "Reads everything and checks it. What is damaged is named with its place, and the exit code is 4. Nothing is "
     "changed "
     "without --repair.",
     "keepfit verify --repair journal", "", run_verify},
    {"export", EXPORT, "DIR|MODEL [FILE|-]", 1, 2, "a journal's points, or a model, in another format",
     "Writes the points that a journal holds, without those that have left, or a model, which may be a journal's (--to "
     "json, --to "
     "liblinear), to the file or to standard output. npy points have the target in the last column; an npy model has a "
     "row for "
     "each output, the weights and then the intercept. Of a damaged journal the points before the damage are written, "
     "and the "
     "exit code is 4.",
     "keepfit export --to liblinear a.kf a.liblinear", "", run_export},
    {"compact", COMPACT, "DIR", 1, 1, "rewrite a journal without the points that have left",
     "Writes the journal anew without the points that were removed or have left the window. Until that is complete the "
     "old one "
     "stays, and a fit on the new one goes on as on the old.",
     "keepfit compact journal", "", run_compact},
    {"generate", GENERATE, "", 0, 0, "a synthetic stream on standard output, as LIBSVM text or an event log",
     "Draws rows with normal entries and targets that follow a hidden linear model under the chosen loss; or, with "
     "--log, a table as people have them.",
     "keepfit generate --rows 1000 --features 50 --loss logistic --noise 0.05 --seed 7 > data.svm", "loss seed",
     run_generate},
    {"serve", SERVE, "", 0, 0, "learn, predict and show over HTTP",
     "Keeps a model fitted to the points that come in over HTTP, and predicts meanwhile. Points are kept in the "
     "journal's "
     "folder; started again, it goes on where it was. SIGTERM ends it in order. docs/service.md has the requests.",
     "keepfit serve --listen 127.0.0.1:8377 --journal points --loss logistic", "problem method data journal",
     run_serve},
    {"push", PUSH, "URL FILE|-", 2, 2, "send a file's points to a service",
     "Sends the rows of the file (LIBSVM, CSV with names in its first line, JSON lines) to a service that learns them, "
     "some at a time. What does not get through is sent again with the same key, so nothing is learnt twice.",
     "keepfit push http://127.0.0.1:8377 data.svm", "format", run_push},
    {"ask", ASK, "URL FILE|-", 2, 2, "have a service predict a file's rows",
     "Sends the rows of the file to a service and prints one prediction a line.",
     "keepfit ask http://127.0.0.1:8377 rows.csv", "format", run_ask},
    {"list", LIST, "methods|losses|domains|formats|options|features", 1, 1, "what this build offers",
     "Lists the members of a family with a line on each.", "keepfit list methods", "", run_list},
    {"help", HELP, "[COMMAND]", 0, 1, "help on a command",
     "Prints help on a command, the man page, or a completion script.", "keepfit help train", "", run_help},
};

const struct command *command_entry(size_t k)
{
    return k < sizeof commands / sizeof commands[0] ? &commands[k] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t k = 0; command_entry(k); k++)
        if (strcmp(commands[k].name, name) == 0)
            return &commands[k];
    return NULL;
}

int command_refuse(const char *name)
{
    keepfit_guess guess = {.word = name};
    for (size_t k = 0; command_entry(k); k++)
        keepfit_guess_offer(&guess, commands[k].name);
    return fail(EXIT_USAGE, "there is no command '%s' ('keepfit --help' lists them)%s", name,
                keepfit_guess_hint(&guess, ""));
}

/* Whether `word` stands in the blank-separated list. */
static bool listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

bool command_takes(const struct command *command, const keepfit_option *option)
{
    return listed(command->groups, option->group) || listed(command->groups, option->key);
}
