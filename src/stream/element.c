#include "stream/element.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t load(struct kf_element element, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (unsigned k = 0; k < element.size; k++)
        bits = bits << 8 | bytes[element.big_endian ? k : element.size - 1 - k];
    return bits;
}

static double from_signed(uint64_t bits, unsigned size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    bits = (bits ^ sign) - sign; /* extends the sign */
    int64_t number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static double from_half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double fraction = (double)(bits & 0x3ff);
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    if (exponent == 0x1f)
        size = fraction > 0 ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

static double from_float(uint64_t bits, unsigned size)
{
    if (size == 2)
        return from_half(bits);
    if (size == 4) {
        uint32_t low = (uint32_t)bits;
        float number;
        memcpy(&number, &low, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

void kf_elements_read(struct kf_element element, const unsigned char *bytes, size_t stride, size_t count, double *value)
{
    assert(element.size == 1 || element.size == 2 || element.size == 4 || element.size == 8);
    switch (element.kind) {
    case KF_ELEMENT_UNSIGNED:
        for (size_t k = 0; k < count; k++)
            value[k] = element.size == 1 ? bytes[k * stride] : (double)load(element, bytes + k * stride);
        break;
    case KF_ELEMENT_SIGNED:
        for (size_t k = 0; k < count; k++)
            value[k] = from_signed(load(element, bytes + k * stride), element.size);
        break;
    case KF_ELEMENT_FLOAT:
        for (size_t k = 0; k < count; k++)
            value[k] = from_float(load(element, bytes + k * stride), element.size);
        break;
    case KF_ELEMENT_BOOL:
        for (size_t k = 0; k < count; k++)
            value[k] = bytes[k * stride] != 0;
        break;
    }
}
