#include "checksum.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* in bytes */
    unsigned char block[64];
};

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static void take_block(struct sha256 *sha)
{
    uint32_t w[64], v[8];
    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)sha->block[4 * t] << 24 | (uint32_t)sha->block[4 * t + 1] << 16 |
               (uint32_t)sha->block[4 * t + 2] << 8 | sha->block[4 * t + 3];
    for (size_t t = 16; t < 64; t++) {
        uint32_t near = w[t - 2], far = w[t - 15];
        w[t] = (turn(near, 17) ^ turn(near, 19) ^ near >> 10) + w[t - 7] + (turn(far, 7) ^ turn(far, 18) ^ far >> 3) +
               w[t - 16];
    }
    memcpy(v, sha->state, sizeof v);
    for (size_t t = 0; t < 64; t++) {
        uint32_t first = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                         constants[t] + w[t];
        uint32_t second =
            (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (size_t k = 0; k < 8; k++)
        sha->state[k] += v[k];
}

static void take(struct sha256 *sha, const unsigned char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        sha->block[sha->length++ % 64] = bytes[k];
        if (sha->length % 64 == 0)
            take_block(sha);
    }
}

static void finish(struct sha256 *sha, char text[65])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char bits[8];
    for (size_t k = 0; k < 8; k++)
        bits[k] = (unsigned char)(sha->length * 8 >> (56 - 8 * k));
    take(sha, padding, 1 + (119 - sha->length % 64) % 64);
    take(sha, bits, 8);
    for (size_t k = 0; k < 8; k++)
        snprintf(text + 8 * k, 9, "%08x", sha->state[k]);
}

bool checksum_file(const char *path, char text[65])
{
    unsigned char bytes[65536];
    struct sha256 sha = {
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    gzFile file = gzopen(path, "rb"); /* reads plain files as they are */
    int got = -1;
    while (file && (got = gzread(file, bytes, sizeof bytes)) > 0)
        take(&sha, bytes, (size_t)got);
    bool whole = file && got == 0 && gzclose(file) == Z_OK;
    if (file && got != 0)
        gzclose(file);
    finish(&sha, text);
    return whole;
}
