#include "stream/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void kf_held_free(struct kf_held *held)
{
    free(held->bytes);
    free(held->line);
    *held = (struct kf_held){0};
}

bool kf_held_add(struct kf_held *held, const struct kf_line *line)
{
    size_t length = (size_t)(line->end - line->text);
    if (!KF_RESERVE(held->bytes, held->capacity, held->used + length + 1) ||
        !KF_RESERVE(held->line, held->line_capacity, held->count + 1))
        return false;
    memcpy(held->bytes + held->used, line->text, length);
    held->bytes[held->used + length] = '\0';
    held->line[held->count++] = (struct kf_held_line){held->used, length, line->number};
    held->used += length + 1;
    return true;
}

/* All have been handed out: their room is free. */
static void forget(struct kf_held *held)
{
    held->used = held->count = held->next = 0;
}

bool kf_held_fetch(struct kf_held *held, struct kf_lines *lines)
{
    struct kf_line line;
    if (held->status != KEEPFIT_OK)
        return false;
    held->status = kf_lines_next(lines, &line, &held->bad_row, &held->error);
    if (held->status == KEEPFIT_OK && !kf_held_add(held, &line))
        held->status = kf_fail_memory(&held->error);
    return held->status == KEEPFIT_OK;
}

struct kf_line kf_held_show(const struct kf_held *held, size_t k)
{
    const struct kf_held_line *line = &held->line[k];
    const char *text = held->bytes + line->at;
    return (struct kf_line){.text = text, .end = text + line->length, .number = line->number};
}

keepfit_status kf_held_next(struct kf_held *held, struct kf_lines *lines, struct kf_line *line, bool *bad_row,
                            keepfit_error *error)
{
    if (held->next < held->count) {
        *bad_row = false;
        *line = kf_held_show(held, held->next++);
        return KEEPFIT_OK;
    }
    if (held->count)
        forget(held);
    if (held->status == KEEPFIT_OK)
        return kf_lines_next(lines, line, bad_row, error);
    keepfit_status status = held->status;
    *bad_row = held->bad_row;
    *error = held->error;
    if (held->bad_row) /* of a bad row alone: what follows it can be read */
        held->status = KEEPFIT_OK;
    return status;
}
