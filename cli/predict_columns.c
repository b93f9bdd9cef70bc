#define _POSIX_C_SOURCE 200809L /* strdup */
#include "predict_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "explained.h"
#include "toolkit/output.h"
#include "stored.h"

/* ---- a model at work ---- */

bool predictor_make(struct predictor *predictor, keepfit_model *model)
{
    struct predictor made = {.model = model};
    keepfit_model_describe(model, &made.about);
    keepfit_model_schema(model, &made.schema);
    made.scores = calloc(made.about.outputs, sizeof *made.scores);
    made.probabilities = calloc(made.about.classes + 1, sizeof *made.probabilities);
    if (made.scores && made.probabilities) {
        *predictor = made;
        return true;
    }
    free(made.scores);
    free(made.probabilities);
    return false;
}

void predictor_free(struct predictor *predictor)
{
    keepfit_model_free(predictor->model);
    free(predictor->scores);
    free(predictor->probabilities);
    *predictor = (struct predictor){.model = NULL};
}

keepfit_status predictor_run(struct predictor *predictor, const keepfit_row *row)
{
    keepfit_status status = keepfit_model_predict(predictor->model, row, &predictor->prediction, predictor->scores);
    if (status == KEEPFIT_OK &&
        keepfit_model_probabilities(predictor->model, predictor->scores, predictor->probabilities) != KEEPFIT_OK)
        predictor->probabilities[0] = NAN; /* the loss has none */
    return status;
}

size_t predictor_class(const struct predictor *predictor, const char *name)
{
    char room[32], *end;
    double label = strtod(name, &end);
    for (size_t k = 0; k < predictor->about.classes; k++) {
        double here = predictor->about.labels[k];
        bool number = *name && !*end && label == here && !keepfit_schema_class(&predictor->schema, here);
        if (number || strcmp(stored_class(&predictor->schema, here, room), name) == 0)
            return k;
    }
    return predictor->about.classes;
}

static bool has_probabilities(const keepfit_description *model)
{
    return model->classification && strcmp(model->loss, "hinge") != 0;
}

/* ---- the columns ---- */

static int add_kind(struct predict_columns *columns, const char *word, size_t length)
{
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {{"label", COLUMN_LABEL},
                 {"value", COLUMN_LABEL},
                 {"probability", COLUMN_PROBABILITY},
                 {"scores", COLUMN_SCORES},
                 {"margin", COLUMN_MARGIN}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strlen(kinds[k].name) == length && strncmp(kinds[k].name, word, length) == 0) {
            if (columns->kind_count == COLUMN_KINDS_MOST)
                return fail(EXIT_USAGE, "--output: more than %d columns", COLUMN_KINDS_MOST);
            columns->kinds[columns->kind_count++] = kinds[k].kind;
            return EXIT_DONE;
        }
    char value[64];
    snprintf(value, sizeof value, "%.*s", (int)length, word);
    return fail_choice("--output", value, "label|value|probability|scores|margin");
}

static int read_list(struct predict_columns *columns, const char *list)
{
    for (;; list++) {
        size_t length = strcspn(list, ",");
        int code = add_kind(columns, list, length);
        list += length;
        if (code != EXIT_DONE || !*list)
            return code;
    }
}

static bool has_kind(const struct predict_columns *columns, int kind)
{
    for (size_t k = 0; k < columns->kind_count; k++)
        if ((int)columns->kinds[k] == kind)
            return true;
    return false;
}

static int fail_class(const struct predictor *predictor, const char *name)
{
    char known[300] = "", room[32];
    for (size_t k = 0, used = 0; k < predictor->about.classes && used + 50 < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.40s", k ? ", " : "",
                                 stored_class(&predictor->schema, predictor->about.labels[k], room));
    return fail(EXIT_USAGE, "--class: the model has no class '%s', only %s", name, *known ? known : "none at all");
}

static int choose_classes(struct predict_columns *columns, const char *class_name, const struct predictor *predictor)
{
    const keepfit_description *about = &predictor->about;
    char room[32];
    size_t only = class_name ? predictor_class(predictor, class_name) : 0;
    if (class_name && only == about->classes)
        return fail_class(predictor, class_name);
    columns->class_count = about->classes;
    columns->classes = calloc(about->classes + 1, sizeof *columns->classes);
    columns->place = calloc(about->classes + 1, sizeof *columns->place);
    if (!columns->classes || !columns->place)
        return fail(EXIT_FAILED, "out of memory");
    columns->one = class_name != NULL;
    for (size_t k = 0; k < columns->class_count; k++) {
        /* the one that was asked for comes first */
        size_t place = !columns->one ? k : k == 0 ? only : k - (k <= only);
        columns->place[k] = place;
        columns->classes[k] = strdup(stored_class(&predictor->schema, about->labels[place], room));
        if (!columns->classes[k])
            return fail(EXIT_FAILED, "out of memory");
    }
    return EXIT_DONE;
}

int predict_columns_make(struct predict_columns *columns, const char *list, const char *class_name,
                         const struct predictor *predictor)
{
    const keepfit_description *about = &predictor->about;
    *columns = (struct predict_columns){.outputs = about->outputs, .names = predictor->schema.classes > 0};
    int code = read_list(columns, list ? list : class_name ? "probability" : "label");
    if (code != EXIT_DONE)
        return code;
    bool probability = has_kind(columns, COLUMN_PROBABILITY);
    if (class_name && !probability)
        return fail(EXIT_USAGE, "--class is for --output probability");
    if (probability && !has_probabilities(about))
        return fail(EXIT_USAGE, "--output: a model with loss %s has no probabilities", about->loss);
    return choose_classes(columns, class_name, predictor);
}

void predict_columns_free(struct predict_columns *columns)
{
    for (size_t k = 0; columns->classes && k < columns->class_count; k++)
        free(columns->classes[k]);
    free(columns->classes);
    free(columns->place);
    *columns = (struct predict_columns){.kind_count = 0};
}

bool predict_columns_fit(const struct predict_columns *columns, const struct predictor *predictor)
{
    bool single = predictor->about.outputs == 1, was_single = columns->outputs == 1;
    return predictor->about.classification == (columns->class_count > 0) &&
           (!has_kind(columns, COLUMN_SCORES) || single == was_single) &&
           (!has_kind(columns, COLUMN_PROBABILITY) || has_probabilities(&predictor->about));
}

static size_t probability_columns(const struct predict_columns *columns)
{
    return columns->one ? 1 : columns->class_count;
}

bool predict_columns_suit(struct predict_columns *columns, const struct predictor *predictor)
{
    size_t count = probability_columns(columns), found = 0;
    for (size_t k = 0; k < columns->class_count; k++) {
        columns->place[k] = predictor_class(predictor, columns->classes[k]);
        found += k < count && columns->place[k] < predictor->about.classes;
    }
    bool each = has_kind(columns, COLUMN_PROBABILITY) || (has_kind(columns, COLUMN_SCORES) && columns->outputs > 1);
    return !each || (found == count && (columns->one || count == predictor->about.classes));
}

/* ---- printing ---- */

static void separate(size_t *printed)
{
    if ((*printed)++)
        putchar(',');
}

static void print_names(const struct predict_columns *columns, const char *kind, size_t count, size_t *printed)
{
    for (size_t k = 0; k < count; k++) {
        size_t room = strlen(kind) + strlen(columns->classes[k]) + 2;
        char *name = malloc(room);
        separate(printed);
        if (name) {
            snprintf(name, room, "%s_%s", kind, columns->classes[k]);
            csv_text(stdout, name);
        }
        free(name);
    }
}

/* One column of its own, asked for alone, needs no name. */
static bool is_bare(const struct predict_columns *columns)
{
    if (columns->kind_count > 1 || columns->explain)
        return false;
    return columns->kinds[0] == COLUMN_PROBABILITY ? columns->one
           : columns->kinds[0] == COLUMN_SCORES    ? columns->outputs == 1
                                                   : true;
}

void predict_columns_head(const struct predict_columns *columns)
{
    size_t printed = 0;
    if (is_bare(columns))
        return;
    for (size_t k = 0; k < columns->kind_count; k++)
        if (columns->kinds[k] == COLUMN_PROBABILITY) {
            print_names(columns, "probability", probability_columns(columns), &printed);
        } else if (columns->kinds[k] == COLUMN_SCORES && columns->outputs > 1) {
            print_names(columns, "score", columns->class_count, &printed);
        } else {
            separate(&printed);
            fputs(columns->kinds[k] == COLUMN_LABEL    ? "label"
                  : columns->kinds[k] == COLUMN_SCORES ? "score"
                                                       : "margin",
                  stdout);
        }
    if (columns->explain)
        explained_head(columns->explain);
    putchar('\n');
}

static void print_number(double number, size_t *printed)
{
    separate(printed);
    if (isnan(number))
        fputs("nan", stdout); /* whatever its sign */
    else
        printf("%.17g", number);
}

static void print_label(const struct predict_columns *columns, const struct predictor *predictor, size_t *printed)
{
    char room[32];
    if (predictor && predictor->about.classification) {
        const char *name = stored_class(&predictor->schema, predictor->prediction.value, room);
        separate(printed);
        if (is_bare(columns) && !strpbrk(name, "\r\n"))
            fputs(name, stdout);
        else
            csv_text(stdout, name);
    } else if (predictor || !columns->names) {
        print_number(predictor ? predictor->prediction.value : NAN, printed);
    } else {
        separate(printed); /* nothing: a label that is no name of a class */
    }
}

/* Of each class that has a column, what the model says; NAN of one that it does not have, or of a row that was skipped. */
static void print_each(const struct predict_columns *columns, const struct predictor *predictor, size_t count,
                       const double *numbers, size_t *printed)
{
    for (size_t k = 0; k < count; k++) {
        bool there = predictor && columns->place[k] < predictor->about.classes;
        print_number(there ? numbers[columns->place[k]] : NAN, printed);
    }
}

void predict_columns_row(const struct predict_columns *columns, const struct predictor *predictor,
                         const keepfit_row *row)
{
    size_t printed = 0;
    for (size_t k = 0; k < columns->kind_count; k++)
        switch (columns->kinds[k]) {
        case COLUMN_LABEL:
            print_label(columns, predictor, &printed);
            break;
        case COLUMN_PROBABILITY:
            print_each(columns, predictor, probability_columns(columns), predictor ? predictor->probabilities : NULL,
                       &printed);
            break;
        case COLUMN_SCORES:
            if (columns->outputs == 1)
                print_number(predictor ? predictor->scores[0] : NAN, &printed);
            else
                print_each(columns, predictor, columns->class_count, predictor ? predictor->scores : NULL, &printed);
            break;
        case COLUMN_MARGIN:
            print_number(predictor ? predictor->prediction.margin : NAN, &printed);
            break;
        }
    if (columns->explain)
        explained_row(predictor, row, columns->explain);
    putchar('\n');
}
