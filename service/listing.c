/* Points that leave, and points that are shown. */
#include <stdlib.h>
#include <string.h>

#include "service/service.h"

static bool read_number(struct exchange *exchange, const char *text, const char *what, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return (*text >= '1' && *text <= '9' && !*end && strlen(text) < 20) ||
           trouble_set(&exchange->trouble, 400, "bad_number", "%s is a whole number from 1 on, not '%.40s'", what,
                       text);
}

/* What begins with a digit is a number, unless by=key says that it is none. */
bool learn_prepare_removal(struct exchange *exchange)
{
    const char *by = exchange->argument(exchange, "by");
    bool key = by ? strcmp(by, "key") == 0 : exchange->tail[0] < '0' || exchange->tail[0] > '9';
    if (key)
        return true;
    return read_number(exchange, exchange->tail, "a point's number", &exchange->first);
}

bool learn_removal(struct exchange *exchange)
{
    keepfit_fit *fit = exchange->trained->fit;
    uint64_t index, number = exchange->first;
    bool there = number ? keepfit_fit_find(fit, number, &index) : keepfit_fit_find_key(fit, exchange->tail, &index);
    if (!there)
        return trouble_set(&exchange->trouble, 404, "no_point", "point '%.80s' has left, or has not come",
                           exchange->tail);
    keepfit_status status = keepfit_fit_remove(fit, index);
    if (status != KEEPFIT_OK)
        return learn_refuse(exchange, status);
    atomic_fetch_add(&exchange->service->counters.removals, 1);
    exchange->removed = true;
    learn_done(exchange, 0, learn_stage(fit));
    return true;
}

#define PAGE_MOST 1000

bool learn_prepare_page(struct exchange *exchange)
{
    const char *from = exchange->argument(exchange, "from"), *most = exchange->argument(exchange, "limit");
    exchange->from = 1;
    exchange->most = 100;
    bool good = (!from || read_number(exchange, from, "from", &exchange->from)) &&
                (!most || read_number(exchange, most, "limit", &exchange->most));
    return good && (exchange->most <= PAGE_MOST ||
                    trouble_set(&exchange->trouble, 400, "bad_number", "a page has at most %d points", PAGE_MOST));
}

static void write_features(struct text *text, const keepfit_row *row, const keepfit_schema *schema)
{
    bool names = row->index || schema->feature;
    text_put(text, names ? "{" : "[");
    for (size_t k = 0; k < row->count; k++) {
        size_t feature = row->index ? row->index[k] : k;
        if (k)
            text_put(text, ",");
        if (names && schema->feature && feature < schema->features)
            text_string(text, schema->feature[feature]);
        else if (names)
            text_printf(text, "\"%zu\"", feature + 1);
        text_put(text, names ? ":" : "");
        text_number(text, row->value[k]);
    }
    text_put(text, names ? "}" : "]");
}

/* Which came at least that late, and is there. */
static uint64_t first_from(keepfit_fit *fit, uint64_t number)
{
    uint64_t index, stage = learn_stage(fit);
    while (number <= stage && !keepfit_fit_find(fit, number, &index))
        number++;
    return number <= stage ? number : 0;
}

bool learn_page(struct exchange *exchange)
{
    keepfit_fit *fit = exchange->trained->fit;
    struct text *text = &exchange->answer.text;
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_fit_schema(fit, &schema);
    uint64_t number = exchange->from, index;
    text_put(text, "{\"points\":[");
    for (uint64_t k = 0; k < exchange->most && (number = first_from(fit, number)); k++, number++) {
        keepfit_point point;
        if (!keepfit_fit_find(fit, number, &index) || keepfit_fit_point(fit, index, &point) != KEEPFIT_OK)
            return learn_refuse(exchange, KEEPFIT_NO_MEMORY);
        keepfit_mark mark = {.struct_size = sizeof mark};
        text_printf(text, "%s\n{\"number\":%llu,", k ? "," : "", (unsigned long long)number);
        if (keepfit_fit_mark(fit, index, &mark) == KEEPFIT_OK && mark.key) {
            text_put(text, "\"id\":");
            text_string(text, mark.key);
            text_put(text, ",");
        }
        text_put(text, "\"features\":");
        write_features(text, &point.row, &schema);
        text_put(text, ",\"target\":");
        const char *name = keepfit_schema_class(&schema, point.target);
        if (name)
            text_string(text, name);
        else
            text_number(text, point.target);
        text_put(text, ",\"weight\":");
        text_number(text, point.weight);
        text_put(text, "}");
    }
    number = number ? first_from(fit, number) : 0;
    text_put(text, "],\"next\":");
    if (number)
        text_count(text, number);
    else
        text_put(text, "null");
    text_put(text, "}\n");
    exchange->answer.status = 200;
    exchange->answer.type = "application/json";
    return true;
}
