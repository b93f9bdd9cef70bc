#include "service/front.h"

/* The build makes them of the parts in service/page. */
extern const unsigned char page_bytes[];
extern const size_t page_length;
extern const char page_policy[];

struct front front_page(void)
{
    return (struct front){page_bytes, page_length, page_policy};
}
