/* Numbers as binary files store them, turned into doubles. */
#ifndef KF_ELEMENT_H
#define KF_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

enum kf_element_kind { KF_ELEMENT_SIGNED, KF_ELEMENT_UNSIGNED, KF_ELEMENT_FLOAT, KF_ELEMENT_BOOL };

struct kf_element {
    enum kf_element_kind kind;
    unsigned size; /* in bytes: 1, 2, 4 or 8; floats 2, 4 or 8 */
    bool big_endian;
};

/* Element k is found at bytes + k*stride. */
void kf_elements_read(struct kf_element element, const unsigned char *bytes, size_t stride, size_t count,
                      double *value);

#endif
