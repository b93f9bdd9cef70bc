#include "service/front.h"

static const unsigned char plain[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>keepfit</title>"
    "<h1>keepfit</h1><ul><li><a href=\"/v1/report\">report</a><li><a href=\"/metrics\">metrics</a>"
    "<li><a href=\"/v1/openapi.json\">interface</a></ul></html>\n";

struct front front_page(void)
{
    return (struct front){plain, sizeof plain - 1, "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"};
}
