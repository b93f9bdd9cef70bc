/* The table of routes. What a service answers, who may ask, and the OpenAPI document come from here. */
#include <stdio.h>
#include <string.h>

#include "service/service.h"

static const struct route routes[] = {
    {.method = "POST",
     .path = "/v1/points",
     .scope = SCOPE_WRITE,
     .place = PLACE_LEARNER,
     .here = learn_prepare_points,
     .learner = learn_points,
     .summary = "Learn from one point or many; all of them or none.",
     .body = "Points",
     .answer = "Learnt"},
    {.method = "GET",
     .path = "/v1/points",
     .scope = SCOPE_READ,
     .place = PLACE_LEARNER,
     .here = learn_prepare_page,
     .learner = learn_page,
     .summary = "Points that are present, from a number on.",
     .answer = "Page"},
    {.method = "DELETE",
     .path = "/v1/points/{number}",
     .scope = SCOPE_FORGET,
     .place = PLACE_LEARNER,
     .here = learn_prepare_removal,
     .learner = learn_removal,
     .summary = "Forget a point: the model is as if it had never come.",
     .parameters = "[{\"name\":\"number\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}]",
     .answer = "Forgotten"},
    {.method = "POST",
     .path = "/v1/predict",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = predict_rows,
     .learner = predict_wait,
     .summary = "Predict one row or many; a row with an id waits for its label.",
     .body = "Rows",
     .answer = "Predictions"},
    {.method = "POST",
     .path = "/v1/labels",
     .scope = SCOPE_WRITE,
     .place = PLACE_LEARNER,
     .here = learn_prepare_labels,
     .learner = learn_labels,
     .summary = "The targets of rows that were predicted with an id.",
     .body = "Labels",
     .answer = "Learnt"},
    {.method = "GET",
     .path = "/v1/model",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = tell_model,
     .summary = "The model, as keepfit's file, as JSON, or as liblinear's file.",
     .parameters =
         "[{\"name\":\"format\",\"in\":\"query\",\"schema\":{\"type\":\"string\",\"enum\":[\"keepfit\",\"json\","
         "\"liblinear\"],\"default\":\"keepfit\"}}]",
     .answer = "Model"},
    {.method = "GET",
     .path = "/v1/report",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = tell_report,
     .summary = "Stage, proved bound, progressive validation.",
     .answer = "Report"},
    {.method = "GET",
     .path = "/v1/events",
     .scope = SCOPE_READ,
     .place = PLACE_EVENTS,
     .summary = "The report as server-sent events, when it changes."},
    {.method = "GET",
     .path = "/v1/openapi.json",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = route_openapi,
     .summary = "This document."},
    {.method = "GET",
     .path = "/metrics",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_metrics,
     .summary = "Metrics as Prometheus reads them."},
    {.method = "GET",
     .path = "/livez",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_live,
     .summary = "Whether the process answers."},
    {.method = "GET",
     .path = "/readyz",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_ready,
     .summary = "Whether points are taken: not while the journal is taken over."},
    {.method = "GET",
     .path = "/",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_page,
     .summary = "The page that shows it."},
    {.method = "POST",
     .path = "/v2/models/default/infer",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = neighbour_infer,
     .summary = "Open Inference Protocol: one matrix of numbers.",
     .body = "Inference",
     .answer = "Inferred"},
    {.method = "GET",
     .path = "/v2/models/default",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = neighbour_metadata,
     .summary = "Open Inference Protocol: what the model takes."},
    {.method = "GET",
     .path = "/v2/models/default/ready",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_ready,
     .summary = "Open Inference Protocol: whether it is ready."},
    {.method = "GET",
     .path = "/v2",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = neighbour_server,
     .summary = "Open Inference Protocol: which server it is."},
    {.method = "GET",
     .path = "/v2/health/live",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_live,
     .summary = "Open Inference Protocol: whether the process answers."},
    {.method = "GET",
     .path = "/v2/health/ready",
     .scope = SCOPE_NONE,
     .place = PLACE_HERE,
     .early = true,
     .here = tell_ready,
     .summary = "Open Inference Protocol: whether points are taken."},
    {.method = "POST",
     .path = "/invocations",
     .scope = SCOPE_READ,
     .place = PLACE_HERE,
     .here = neighbour_invoke,
     .summary = "As MLflow asks: inputs, instances, dataframe_split or dataframe_records.",
     .body = "Invocation",
     .answer = "Invoked"},
};

const struct route *route_entry(size_t k)
{
    return k < sizeof routes / sizeof routes[0] ? &routes[k] : NULL;
}

/* Whether the path is this route's; *tail is what stands for its last part, or "". */
static bool matches(const struct route *route, const char *path, const char **tail)
{
    const char *brace = strchr(route->path, '{');
    size_t length = brace ? (size_t)(brace - route->path) : strlen(route->path);
    if (strncmp(path, route->path, length) != 0)
        return false;
    *tail = path + length;
    return brace ? **tail && !strchr(*tail, '/') : !**tail;
}

static bool same_method(const struct route *route, const char *method)
{
    return strcmp(route->method, method) == 0 || (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

/* The methods that the path has, for the header Allow. */
static const char *allowed(const char *path)
{
    static const char *const texts[] = {"", "GET, HEAD", "POST", "GET, HEAD, POST", "DELETE"};
    const char *tail;
    unsigned which = 0;
    for (size_t k = 0; route_entry(k); k++)
        if (matches(&routes[k], path, &tail))
            which |= strcmp(routes[k].method, "GET") == 0 ? 1u : strcmp(routes[k].method, "POST") == 0 ? 2u : 4u;
    return which <= 4 ? texts[which] : "GET, HEAD, POST, DELETE";
}

const struct route *route_find(struct exchange *exchange, const char *method, const char *path)
{
    const char *tail = "";
    for (size_t k = 0; route_entry(k); k++)
        if (matches(&routes[k], path, &tail) && same_method(&routes[k], method)) {
            if (strlen(tail) >= sizeof exchange->tail)
                break;
            strcpy(exchange->tail, tail);
            return &routes[k];
        }
    if (*allowed(path)) {
        exchange->answer.allow = allowed(path);
        trouble_set(&exchange->trouble, 405, "method", "%.10s is not for %.80s", method, path);
    } else {
        trouble_set(&exchange->trouble, 404, "no_route",
                    "there is nothing at %.80s (GET /v1/openapi.json says what is)", path);
    }
    return NULL;
}

/* ---- the OpenAPI document ---- */

static const struct {
    const char *name, *schema;
} schemas[] = {
    {"Point",
     "{\"type\":\"object\",\"required\":[\"features\",\"target\"],\"additionalProperties\":false,\"properties\":{"
     "\"features\":{\"$ref\":\"#/components/schemas/Features\"},\"target\":{\"type\":[\"number\",\"string\"]},"
     "\"weight\":{\"type\":\"number\",\"minimum\":0,\"default\":1},"
     "\"id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200}}}"},
    {"Features", "{\"oneOf\":[{\"type\":\"array\",\"items\":{\"type\":\"number\"}},{\"type\":\"object\","
                 "\"additionalProperties\":{\"type\":[\"number\",\"string\",\"boolean\",\"null\"]}}]}"},
    {"Points", "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Point\"},{\"type\":\"array\",\"items\":{\"$ref\":"
               "\"#/components/schemas/Point\"}}]}"},
    {"Row",
     "{\"type\":\"object\",\"required\":[\"features\"],\"additionalProperties\":false,\"properties\":{\"features\":"
     "{\"$ref\":\"#/components/schemas/Features\"},\"weight\":{\"type\":\"number\"},\"id\":{\"type\":\"string\"}}}"},
    {"Rows", "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Row\"},{\"type\":\"array\",\"items\":{\"$ref\":"
             "\"#/components/schemas/Row\"}}]}"},
    {"Learnt",
     "{\"type\":\"object\",\"required\":[\"stage\",\"first\",\"last\",\"bound\",\"safe\"],\"properties\":{\"stage\":"
     "{\"type\":\"integer\"},\"first\":{\"type\":\"integer\"},\"last\":{\"type\":\"integer\"},\"bound\":{\"type\":"
     "[\"number\",\"null\"]},\"safe\":{\"type\":\"boolean\"}}}"},
    {"Forgotten",
     "{\"type\":\"object\",\"required\":[\"stage\",\"removed\",\"bound\",\"safe\"],\"properties\":{\"stage\":"
     "{\"type\":\"integer\"},\"removed\":{\"type\":[\"integer\",\"string\"]},\"bound\":{\"type\":[\"number\",\"null\"]}"
     ","
     "\"safe\":{\"type\":\"boolean\"}}}"},
    {"Prediction",
     "{\"type\":\"object\",\"required\":[\"prediction\",\"stage\",\"bound\"],\"properties\":{\"prediction\":"
     "{\"type\":[\"number\",\"string\"]},\"probabilities\":{\"type\":\"object\",\"additionalProperties\":"
     "{\"type\":\"number\"}},\"scores\":{\"type\":\"object\"},\"explanation\":{\"type\":\"object\"},\"stage\":{"
     "\"type\":"
     "\"integer\"},\"bound\":{\"type\":[\"number\",\"null\"]},\"id\":{\"type\":\"string\"}}}"},
    {"Predictions",
     "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Prediction\"},{\"type\":\"array\",\"items\":{\"$ref\":"
     "\"#/components/schemas/Prediction\"}}]}"},
    {"Label",
     "{\"type\":\"object\",\"required\":[\"id\",\"target\"],\"additionalProperties\":false,\"properties\":{\"id\":"
     "{\"type\":\"string\"},\"target\":{\"type\":[\"number\",\"string\"]}}}"},
    {"Labels", "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Label\"},{\"type\":\"array\",\"items\":{\"$ref\":"
               "\"#/components/schemas/Label\"}}]}"},
    {"Page",
     "{\"type\":\"object\",\"required\":[\"points\",\"next\"],\"properties\":{\"points\":{\"type\":\"array\"},\"next\":"
     "{\"type\":[\"integer\",\"null\"]}}}"},
    {"Model", "{\"type\":\"object\"}"},
    {"Report",
     "{\"type\":\"object\",\"required\":[\"stage\",\"points\",\"bound\",\"late\"],\"properties\":{\"late\":{\"type\":"
     "\"object\",\"required\":[\"count\",\"error\"],\"additionalProperties\":false,\"properties\":{\"count\":{"
     "\"type\":\"integer\"},\"error\":{\"type\":[\"number\",\"null\"]}}}}}"},
    {"Inference", "{\"type\":\"object\",\"required\":[\"inputs\"]}"},
    {"Inferred", "{\"type\":\"object\",\"required\":[\"model_name\",\"outputs\"]}"},
    {"Invocation",
     "{\"type\":\"object\",\"oneOf\":[{\"required\":[\"inputs\"]},{\"required\":[\"instances\"]},{\"required\":["
     "\"dataframe_split\"]},{\"required\":[\"dataframe_records\"]}]}"},
    {"Invoked", "{\"type\":\"object\",\"required\":[\"predictions\"]}"},
    {"Error",
     "{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\",\"required\":["
     "\"code\","
     "\"message\",\"at\"],\"properties\":{\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},\"at\":"
     "{\"type\":\"string\"}}}}}"},
};

static void write_content(struct text *text, const char *schema)
{
    text_printf(text, "\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}", schema);
}

static void write_operation(struct text *text, const struct route *route)
{
    text_put(text, strcmp(route->method, "POST") == 0  ? "\"post\":{"
                   : strcmp(route->method, "GET") == 0 ? "\"get\":{"
                                                       : "\"delete\":{");
    text_put(text, "\"summary\":");
    text_string(text, route->summary);
    if (route->parameters)
        text_printf(text, ",\"parameters\":%s", route->parameters);
    text_put(text, route->scope == SCOPE_NONE ? ",\"security\":[]" : ",\"security\":[{\"token\":[]}]");
    if (route->body) {
        text_put(text, ",\"requestBody\":{\"required\":true,");
        write_content(text, route->body);
        text_put(text, "}");
    }
    text_put(text, ",\"responses\":{\"200\":{\"description\":\"done\"");
    if (route->answer) {
        text_put(text, ",");
        write_content(text, route->answer);
    }
    text_put(text, "},\"default\":{\"description\":\"refused\",");
    write_content(text, "Error");
    text_put(text, "}}}");
}

bool route_openapi(struct exchange *exchange)
{
    struct text *text = &exchange->answer.text;
    text_printf(text, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"keepfit\",\"version\":\"%s\"},\n\"paths\":{",
                keepfit_version());
    for (size_t k = 0; route_entry(k); k++) {
        bool again = false, first = true;
        for (size_t other = 0; other < k; other++)
            again = again || strcmp(routes[other].path, routes[k].path) == 0;
        if (again)
            continue;
        text_printf(text, "%s\n\"%s\":{", k ? "," : "", routes[k].path);
        for (size_t other = k; route_entry(other); other++)
            if (strcmp(routes[other].path, routes[k].path) == 0) {
                text_put(text, first ? "" : ",");
                write_operation(text, &routes[other]);
                first = false;
            }
        text_put(text, "}");
    }
    text_put(
        text,
        "},\n\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},\"schemas\":{");
    for (size_t k = 0; k < sizeof schemas / sizeof schemas[0]; k++)
        text_printf(text, "%s\n\"%s\":%s", k ? "," : "", schemas[k].name, schemas[k].schema);
    text_put(text, "}}}\n");
    exchange->answer.status = 200;
    exchange->answer.type = "application/json";
    return true;
}
