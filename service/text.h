/* A text that grows: answers, log lines, notes. Running out of memory marks it, and is looked at once, at the end. */
#ifndef KEEPFIT_SERVICE_TEXT_H
#define KEEPFIT_SERVICE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at;
    size_t count, capacity;
    bool failed; /* out of memory: what is there is not all */
};

void text_add(struct text *text, const void *bytes, size_t count);
void text_put(struct text *text, const char *words);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

/* JSON. Numbers read back exactly; NaN and infinities become null. What is no UTF-8 becomes U+FFFD. */
void text_number(struct text *text, double number);
void text_count(struct text *text, uint64_t number);
void text_string(struct text *text, const char *words);
void text_string_of(struct text *text, const char *bytes, size_t count);

bool text_is_utf8(const char *bytes, size_t count);

#endif
