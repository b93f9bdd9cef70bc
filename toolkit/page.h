/* page.h - what every HTML page of ours has: a head with the styles, and nothing that is loaded from elsewhere. */
#ifndef KEEPFIT_TOOLKIT_PAGE_H
#define KEEPFIT_TOOLKIT_PAGE_H

#include <stdio.h>

/* From the doctype to <body>. The policy in the head makes the browser refuse anything that would come from elsewhere, so
 * a hostile name in the text can do no harm either. */
void page_begin(FILE *out, const char *title);

/* The footer with the version, and </html>. */
void page_end(FILE *out, const char *version);

#endif
