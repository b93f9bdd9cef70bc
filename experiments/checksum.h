/* checksum.h - SHA-256 (FIPS 180-4) of a file's content, unpacked if it is gzip: what sha256sum prints for the plain file. */
#ifndef KEEPFIT_CHECKSUM_H
#define KEEPFIT_CHECKSUM_H

#include <stdbool.h>

/* text takes 64 hexadecimal digits and a zero; false: the file cannot be read, or its gzip data is damaged. */
bool checksum_file(const char *path, char text[65]);

#endif
