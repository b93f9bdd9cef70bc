/* Damage as a list: an input is a choice and patches of three bytes, applied to bytes that are known to be good. So an input
 * stays small and means the same when a format changes, and every state that is one step from a good one is near. */
#ifndef KEEPFIT_FUZZ_PATCH_H
#define KEEPFIT_FUZZ_PATCH_H

#include <stddef.h>
#include <stdint.h>

/* Applies the patches to bytes[0 .. count). Each is a place (2 bytes) and a kind: the high half says what is done there, the low
 * half with what. The bytes may get fewer; the result is how many are left. */
size_t fuzz_patch(unsigned char *bytes, size_t count, const uint8_t *patches, size_t size);

#endif
