#include "service/service.h"

void exchange_free(struct exchange *exchange)
{
    rows_free(&exchange->rows);
    text_free(&exchange->body);
    text_free(&exchange->answer.text);
}

void exchange_refuse(struct exchange *exchange)
{
    struct answer *answer = &exchange->answer;
    const struct trouble *trouble = &exchange->trouble;
    answer->text.count = 0;
    answer->text.failed = false;
    answer->status = trouble->status;
    answer->type = "application/json";
    answer->shown = answer->policy = NULL;
    text_put(&answer->text, "{\"error\":{\"code\":");
    text_string(&answer->text, trouble->code);
    text_put(&answer->text, ",\"message\":");
    text_string(&answer->text, trouble->message);
    text_put(&answer->text, ",\"at\":");
    text_string(&answer->text, trouble->at);
    text_put(&answer->text, "}}\n");
}
