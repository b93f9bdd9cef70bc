/* Others' protocols, thin: the Open Inference Protocol (V2) as KServe and Triton speak it, and MLflow's /invocations. */
#include "service/tables.h"
#include "service/service.h"

static bool rows_of(struct exchange *exchange, bool (*read)(struct rows *rows, const char *bytes, size_t count,
                                                            size_t most, struct trouble *trouble))
{
    const struct text *body = &exchange->body;
    bool good = read(&exchange->rows, body->at ? body->at : "", body->count, (size_t)exchange->service->limits.points,
                     &exchange->trouble);
    exchange->streamed = exchange->rows.named;
    exchange->format = FORMAT_JSONL;
    exchange->stream = &exchange->rows.lines;
    return good;
}

bool neighbour_infer(struct exchange *exchange)
{
    return rows_of(exchange, tables_read_inference) && predict_as(exchange, ANSWER_INFERENCE);
}

bool neighbour_invoke(struct exchange *exchange)
{
    return rows_of(exchange, tables_read_invocation) && predict_as(exchange, ANSWER_INVOCATION);
}

bool neighbour_metadata(struct exchange *exchange)
{
    struct text *text = &exchange->answer.text;
    struct current *current = current_take(exchange->trained);
    uint64_t features = current ? current->report.features : 0;
    current_leave(current);
    text_printf(text,
                "{\"name\":\"%s\",\"versions\":[\"1\"],\"platform\":\"keepfit\",\"inputs\":[{\"name\":\"features\","
                "\"datatype\":"
                "\"FP64\",\"shape\":[-1,%llu]}],\"outputs\":[{\"name\":\"prediction\",\"datatype\":\"FP64\",\"shape\":["
                "-1]}]}\n",
                exchange->trained->name, (unsigned long long)features);
    exchange->answer.status = 200;
    exchange->answer.type = "application/json";
    return true;
}

bool neighbour_server(struct exchange *exchange)
{
    text_printf(&exchange->answer.text, "{\"name\":\"keepfit\",\"version\":\"%s\",\"extensions\":[]}\n",
                keepfit_version());
    exchange->answer.status = 200;
    exchange->answer.type = "application/json";
    return true;
}
