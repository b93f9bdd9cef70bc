#include "base/span.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

static const struct {
    char letter;
    double seconds;
} units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

#define UNITS (sizeof units / sizeof units[0])
#define SPAN_LEAST 1e-3
#define SPAN_MOST 1e11

bool kf_span_read(const char *value, double *seconds)
{
    const char *end = value + strlen(value), *stop;
    double number;
    if (kf_read_real(value, end, &number, &stop) != KF_NUMBER_OK || stop + 1 != end)
        return false;
    for (size_t k = 0; k < UNITS; k++)
        if (units[k].letter == *stop) {
            *seconds = number * units[k].seconds;
            return *seconds >= SPAN_LEAST && *seconds <= SPAN_MOST;
        }
    return false;
}

void kf_span_write(char text[KF_SPAN_ROOM], double seconds)
{
    size_t k = 0;
    while (k + 1 < UNITS && fmod(seconds, units[k].seconds) != 0)
        k++;
    kf_write_real(text, seconds / units[k].seconds);
    size_t length = strlen(text);
    text[length] = units[k].letter;
    text[length + 1] = '\0';
}
