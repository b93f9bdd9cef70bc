#define _POSIX_C_SOURCE 200809L
#include "service/late.h"

#include <stdlib.h>
#include <string.h>

static bool read_label(struct json *json, struct label *label)
{
    json_open(json, '{');
    while (json_member(json)) {
        bool id = json_name_is(json, "id"), target = json_name_is(json, "target");
        const char *at = json->at;
        if (!id && !target)
            return json_wrong(json, at, "a label has no '%.40s' (id, target)", json->string.at);
        if (id ? label->id[0] != 0 : label->target != NULL)
            return json_wrong(json, at, "'%s' stands twice", json->string.at);
        char sign = json_next(json);
        at = json->at;
        if (id) {
            if (!json_string(json))
                return false;
            if (json->string.count == 0 || json->string.count > ROWS_ID_MOST || strpbrk(json->string.at, "\r\n"))
                return json_wrong(json, at, "an id has 1 to %d bytes, on one line", ROWS_ID_MOST);
            memcpy(label->id, "l:", 2);
            memcpy(label->id + 2, json->string.at, json->string.count + 1);
        } else {
            if ((sign != '"' && sign != '0') || !json_skip(json))
                return json_wrong(json, at, "a target is a number or a string");
            label->target = strndup(at, (size_t)(json->at - at));
            if (!label->target)
                return json_wrong(json, at, "out of memory");
        }
    }
    if (json->wrong[0])
        return false;
    return (label->id[0] && label->target) || json_wrong(json, json->at, "a label needs 'id' and 'target'");
}

void labels_free(struct labels *labels)
{
    for (size_t k = 0; k < labels->count; k++)
        free(labels->label[k].target);
    free(labels->label);
    *labels = (struct labels){0};
}

static struct label *add(struct json *json, struct labels *labels, size_t most)
{
    if (labels->count == most) {
        json_wrong(json, json->at, "a request has at most %zu labels", most);
        return NULL;
    }
    if (labels->count == labels->capacity) {
        size_t capacity = labels->capacity ? 2 * labels->capacity : 1;
        struct label *grown = realloc(labels->label, capacity * sizeof *grown);
        if (!grown) {
            json_wrong(json, json->at, "out of memory");
            return NULL;
        }
        labels->label = grown;
        labels->capacity = capacity;
    }
    struct label *label = &labels->label[labels->count++];
    *label = (struct label){.target = NULL};
    return label;
}

bool labels_read(struct labels *labels, const char *bytes, size_t count, size_t most, struct trouble *trouble)
{
    struct json json = {0};
    json_begin(&json, bytes, count);
    bool single = json_next(&json) != '[', good = true;
    if (!single)
        json_open(&json, '[');
    while (good && (single ? labels->count == 0 : json_element(&json))) {
        struct label *label = add(&json, labels, most);
        good = label && read_label(&json, label);
    }
    good = good && json_end(&json);
    if (!good)
        trouble_json(trouble, &json);
    json_free(&json);
    if (good && labels->count == 0)
        return trouble_set(trouble, 422, "empty", "the request has no labels");
    return good;
}
