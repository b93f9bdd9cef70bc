/* What rows of a table have besides: the key that they are known by, and when they came. Columns named by the options key and time
 * hold it. */
#ifndef KF_MARKS_H
#define KF_MARKS_H

#include <stdbool.h>
#include <stddef.h>

/* Of many rows. Begins with zeros. */
struct kf_marks {
    size_t count;
    double *time;
    size_t *key; /* where it begins in the text; 0: there is none */
    char *text;
    size_t time_capacity, key_capacity, used, text_capacity;
};

/* key NULL: the row has none; time NaN: it is not known. False: out of memory, and nothing has changed. */
bool kf_marks_append(struct kf_marks *marks, const char *key, double time);
/* Those of row j, which may be past the last: then it has neither. */
void kf_marks_show(const struct kf_marks *marks, size_t j, const char **key, double *time);
void kf_marks_clear(struct kf_marks *marks);
void kf_marks_free(struct kf_marks *marks);

#endif
