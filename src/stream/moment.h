/* Points in time: read from cells, and taken apart into numbers.
 *
 * ISO 8601: 2024-05-31, with T or a blank 2024-05-31T08:15, 2024-05-31 08:15:02.5, and behind it Z or +02:00. Without a zone it
 * is UTC, and with one it is turned into UTC. Unix seconds: a number. */
#ifndef KF_MOMENT_H
#define KF_MOMENT_H

#include <stdbool.h>

#define KF_MOMENT_PARTS 6 /* sine and cosine of hour, weekday and day of the year */
extern const char *const kf_moment_names[KF_MOMENT_PARTS];

/* Seconds since 1970, UTC, from year 1 to 9999. False: it is neither. */
bool kf_read_moment(const char *text, const char *end, double *seconds);
/* ISO 8601 alone. */
bool kf_read_iso(const char *text, const char *end, double *seconds);
/* The last day that was taken apart: the next row is often of the same. Begins with zeros. */
struct kf_moment_day {
    bool known;
    double day, part[KF_MOMENT_PARTS];
};
void kf_moment_take_apart(struct kf_moment_day *last, double seconds, double part[KF_MOMENT_PARTS]);

/* "age since 2024-05-31T08:15:02Z", for whole seconds. */
#define KF_AGE_ROOM 48
void kf_age_write(double since, char text[KF_AGE_ROOM]);
/* False: it is no such text. */
bool kf_age_read(const char *text, double *since);
/* In units of 30 days. */
#define KF_AGE_UNIT (30 * 86400.0)

#endif
