#include "base/crc32c.h"

#include <string.h>

/* One nibble at a time: sixteen words of table and no set-up. */
static const uint32_t table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t kf_crc32c_plain(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (size_t k = 0; k < count; k++) {
        crc ^= byte[k];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
/* The processor's own instruction takes 8 bytes at a time, about thirty times as fast. */
__attribute__((target("sse4.2"))) static uint32_t crc32c_instruction(uint32_t crc, const unsigned char *byte,
                                                                     size_t count)
{
    uint64_t state = ~crc;
    for (; count >= 8; byte += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; count > 0; byte++, count--)
        state = __builtin_ia32_crc32qi((uint32_t)state, *byte);
    return ~(uint32_t)state;
}

uint32_t kf_crc32c(uint32_t crc, const void *bytes, size_t count)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_instruction(crc, bytes, count)
                                            : kf_crc32c_plain(crc, bytes, count);
}
#else
uint32_t kf_crc32c(uint32_t crc, const void *bytes, size_t count)
{
    return kf_crc32c_plain(crc, bytes, count);
}
#endif
