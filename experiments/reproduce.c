/* reproduce.c - which experiments, the work, the report. */
#define _POSIX_C_SOURCE 200809L
#include "reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "article.h"
#include "data.h"
#include "experiment.h"
#include "must.h"
#include "toolkit/exit_code.h"
#include "toolkit/output.h"
#include "toolkit/stop.h"

static bool is_chosen(const char *word, const struct experiment *experiment)
{
    return strcmp(word, "all") == 0 || strcmp(word, experiment->name) == 0;
}

static bool needs_data(const char *word)
{
    for (size_t k = 0; experiment_entry(k); k++)
        if (is_chosen(word, experiment_entry(k)) && experiment_entry(k)->needs_data)
            return true;
    return false;
}

static int check_word(const char *word)
{
    char names[256] = "";
    for (size_t k = 0; experiment_entry(k); k++) {
        if (is_chosen(word, experiment_entry(k)))
            return EXIT_DONE;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s|", experiment_entry(k)->name);
    }
    strncat(names, "all", sizeof names - strlen(names) - 1);
    return fail_choice("reproduce", word, names);
}

/* Units are found again by where each experiment's begin. */
static int plan_all(struct plan *plan, const char *word, size_t *begins)
{
    int code = EXIT_DONE;
    for (size_t k = 0; experiment_entry(k) && code == EXIT_DONE; k++) {
        begins[k] = plan->count;
        if (is_chosen(word, experiment_entry(k)))
            code = experiment_entry(k)->plan(plan);
    }
    return code;
}

static int write_report(const struct plan *plan, const char *word, const size_t *begins)
{
    const struct setting *setting = plan->setting;
    struct article article;
    char subject[512];
    article_start(&article, setting->out, setting->quick);
    for (size_t k = 0; experiment_entry(k); k++) {
        const struct experiment *experiment = experiment_entry(k);
        if (!is_chosen(word, experiment))
            continue;
        article_experiment(&article, experiment->name, experiment->title);
        experiment->report(setting, plan->units + begins[k], &article);
    }
    snprintf(
        subject, sizeof subject,
        "The evaluation of \"Efficient Continual Finite-Sum Minimization\" (ICLR 2024), computed anew%s, with seeds "
        "from "
        "%llu on%s. Each finding sets the paper's claim beside what was measured; the verdict is computed from the "
        "figures by the rule that the finding states.",
        setting->data->path || !needs_data(word) ? "" : " on made-up data", (unsigned long long)setting->seed,
        setting->quick ? ", at a reduced size (--quick)" : "");
    return article_finish(&article, "The paper's evaluation, reproduced", subject);
}

static int run_plan(struct plan *plan, const char *word)
{
    size_t experiments = 0;
    while (experiment_entry(experiments))
        experiments++;
    size_t *begins = must_allocate(experiments * sizeof *begins);
    int code = make_folder(plan->setting->out);
    if (code == EXIT_DONE)
        code = plan_all(plan, word, begins);
    if (code == EXIT_DONE)
        code = units_run(plan);
    if (code == EXIT_DONE)
        code = write_report(plan, word, begins);
    free(begins);
    plan_free(plan);
    return code;
}

int reproduce(const struct reproduction *wanted)
{
    int code = check_word(wanted->word);
    if (code != EXIT_DONE)
        return code;
    struct data_folder data = {.path = wanted->data, .out = wanted->out, .seed = wanted->seed};
    struct setting setting = {.data = &data,
                              .out = wanted->out,
                              .quick = wanted->quick,
                              .quiet = wanted->quiet,
                              .seed = wanted->seed,
                              .threads = wanted->threads};
    if (setting.threads == 0)
        setting.threads = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (!data.path && needs_data(wanted->word))
        warn("no --data folder (or KEEPFIT_DATA): made-up data of the same shape takes the place of the real sets");
    stop_watch();
    struct plan plan = {.setting = &setting};
    code = run_plan(&plan, wanted->word);
    if (code == EXIT_DONE && !setting.quiet)
        fprintf(stderr, "keepfit: report in %s/report.html\n", setting.out);
    return code;
}
