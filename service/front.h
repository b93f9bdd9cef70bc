/* The page at /. */
#ifndef KEEPFIT_SERVICE_FRONT_H
#define KEEPFIT_SERVICE_FRONT_H

#include <stddef.h>

struct front {
    const unsigned char *bytes;
    size_t count;
    const char *policy; /* Content-Security-Policy */
};

struct front front_page(void);

#endif
