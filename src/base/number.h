/* Strict decimal numbers, independent of the locale: digits, a point, an exponent; no hexadecimal, no "nan", no "inf",
 * no blanks. Shared by the option table and the readers. */
#ifndef KF_NUMBER_H
#define KF_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum kf_number {
    KF_NUMBER_OK,
    KF_NUMBER_NONE, /* the text does not begin with a number */
    KF_NUMBER_HUGE  /* larger in size than any double */
};

/* Reads the longest number at the front of [text, end); *stop is the first byte after it (text itself for NONE). The
 * result is the double nearest to the decimal; what underflows becomes zero. */
enum kf_number kf_read_real(const char *text, const char *end, double *value, const char **stop);

/* The same for a whole number >= 0 of digits only; HUGE above 2^64-1. */
enum kf_number kf_read_count(const char *text, const char *end, uint64_t *value, const char **stop);

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as the same double. Returns text. */
char *kf_write_real(char text[32], double value);

#endif
