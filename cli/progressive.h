/* What progressive validation has found, in a summary. */
#ifndef KEEPFIT_CLI_PROGRESSIVE_H
#define KEEPFIT_CLI_PROGRESSIVE_H

#include "keepfit.h"

/* Lines of text; classes: errors are of classes. */
void progressive_print(keepfit_fit *fit, bool classes);
/* Fields of an object, each behind a comma. */
void progressive_json(keepfit_fit *fit);

#endif
