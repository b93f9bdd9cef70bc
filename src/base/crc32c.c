#include "base/crc32c.h"

/* One nibble at a time: sixteen words of table, no set-up, and quick enough for model files. */
static const uint32_t table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t kf_crc32c(uint32_t crc, const void *bytes, size_t count)
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
