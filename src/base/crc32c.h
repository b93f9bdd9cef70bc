/* CRC-32C (Castagnoli), the checksum of every file we write. */
#ifndef KF_CRC32C_H
#define KF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc`, which is 0 at the start. */
uint32_t kf_crc32c(uint32_t crc, const void *bytes, size_t count);
/* The same without the processor's own instruction. */
uint32_t kf_crc32c_plain(uint32_t crc, const void *bytes, size_t count);

#endif
