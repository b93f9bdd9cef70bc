/* Gzip around LIBSVM text. The first byte chooses:
 *
 *   raw       the input is taken as gzip data, behind the magic of a member;
 *   wrapped   the input is wrapped, in up to 4 members of stored blocks, and must be read as it would be without;
 *   damaged   as wrapped, with one byte changed: the points that come out are the same, or the end is a failure. */
#include <string.h>
#include <zlib.h>

#include "fuzz.h"
#include "stream_laws.h"

#define MEMBERS_MOST 4
#define MEMBER_EXTRA 23 /* header 10, block 5, trailer 8 */
#define LARGEST 4096

enum mode { RAW, WRAPPED, DAMAGED, MODES };

static unsigned char *put_little(unsigned char *to, uint32_t number, size_t size)
{
    for (size_t k = 0; k < size; k++)
        *to++ = (unsigned char)(number >> 8 * k);
    return to;
}

/* What is gzip data itself would be read as such, but not when it is wrapped once more. */
static bool begins_member(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* RFC 1952 around one stored block of RFC 1951. */
static unsigned char *put_member(unsigned char *to, const uint8_t *data, size_t size)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
    memcpy(to, head, sizeof head);
    to = put_little(to + sizeof head, (uint32_t)size, 2);
    to = put_little(to, ~(uint32_t)size, 2);
    if (size)
        memcpy(to, data, size);
    to = put_little(to + size, (uint32_t)crc32(0, data, (unsigned)size), 4);
    return put_little(to, (uint32_t)size, 4);
}

static size_t wrap(unsigned char *to, const uint8_t *data, size_t size, size_t members)
{
    unsigned char *at = to;
    for (size_t k = 0; k < members; k++) {
        size_t from = k * size / members, end = (k + 1) * size / members;
        at = put_member(at, data + from, end - from);
    }
    return (size_t)(at - to);
}

static void check_wrapped(const uint8_t *data, size_t size, unsigned choice, const keepfit_options *options)
{
    unsigned char wrapped[LARGEST + MEMBERS_MOST * MEMBER_EXTRA];
    if (begins_member(data, size))
        return;
    size_t count = wrap(wrapped, data, size, 1 + choice % MEMBERS_MOST);
    struct reading plain = fuzz_read(data, size, 0, false, options, false);
    struct reading got = fuzz_read(wrapped, count, choice & 4 ? 1 : 0, false, options, false);
    fuzz_expect_same(&plain, &got);
}

static void check_damaged(const uint8_t *data, size_t size, unsigned choice, const keepfit_options *options)
{
    unsigned char wrapped[LARGEST + MEMBERS_MOST * MEMBER_EXTRA];
    if (size < 3 || begins_member(data + 3, size - 3))
        return;
    size_t count = wrap(wrapped, data + 3, size - 3, 1 + choice % MEMBERS_MOST);
    wrapped[(data[0] + 256u * data[1]) % count] ^= data[2];
    struct reading plain = fuzz_read(data + 3, size - 3, 0, false, options, false);
    struct reading got = fuzz_read(wrapped, count, 0, true, options, false);
    /* Before the magic is known to be one, damage makes it a text file, and a bad one. */
    FUZZ_LAW(got.end != KEEPFIT_END || (got.points == plain.points && got.digest == plain.digest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static keepfit_options *options;
    if (!options)
        options = fuzz_options("format=libsvm");
    if (size < 3 || size > LARGEST)
        return 0;
    unsigned choice = *data / MODES;
    switch ((enum mode)(*data % MODES)) {
    case RAW: {
        unsigned char bytes[LARGEST];
        memcpy(bytes, data + 1, size - 1);
        bytes[0] = 0x1f;
        bytes[1] = 0x8b;
        struct reading whole = fuzz_read(bytes, size - 1, 0, true, options, false);
        struct reading cut = fuzz_read(bytes, size - 1, 1 + choice % 8, true, options, false);
        fuzz_expect_same(&whole, &cut);
        break;
    }
    case WRAPPED:
        check_wrapped(data + 1, size - 1, choice, options);
        break;
    default:
        check_damaged(data + 1, size - 1, choice, options);
    }
    return 0;
}
