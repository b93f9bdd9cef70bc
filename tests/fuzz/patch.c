#include "patch.h"

#include <string.h>

/* What numbers in files are when something is wrong with them. */
static uint64_t strange_number(unsigned which)
{
    static const uint64_t numbers[16] = {
        0,
        1,
        2,
        255,
        UINT64_C(0x100000000),
        UINT64_MAX,
        UINT64_MAX / 2,
        UINT64_MAX / 8,
        UINT64_C(0x7ff0000000000000), /* infinity */
        UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000001), /* NaN */
        UINT64_C(0x7fefffffffffffff), /* the largest double */
        UINT64_C(0x0000000000000001), /* the smallest */
        UINT64_C(0x8000000000000000), /* -0 */
        UINT64_C(0x3ff0000000000000), /* 1.0 */
        UINT64_C(0x5fefffffffffffff), /* its square is about the largest */
    };
    return numbers[which];
}

size_t fuzz_patch(unsigned char *bytes, size_t count, const uint8_t *patches, size_t size)
{
    for (; size >= 3; patches += 3, size -= 3) {
        size_t place = (patches[0] + 256u * patches[1]) % (count ? count : 1);
        unsigned what = patches[2] >> 4, with = patches[2] & 15;
        size_t word = place & ~(size_t)7;
        if (what < 8 && place < count) {
            bytes[place] ^= (unsigned char)(1u << (what & 7));
        } else if (what < 12 && word + 8 <= count) {
            uint64_t number = strange_number(with);
            memcpy(bytes + word, &number, sizeof number);
        } else if (what < 14 && place < count) {
            bytes[place] = (unsigned char)(bytes[place] + with - 8);
        } else if (what == 15 && with == 15) {
            count = place;
        }
    }
    return count;
}
