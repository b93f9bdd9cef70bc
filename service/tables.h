/* The bodies of others' protocols: matrices of numbers, and tables with names, which become JSON lines. Apart from any transport. */
#ifndef KEEPFIT_SERVICE_TABLES_H
#define KEEPFIT_SERVICE_TABLES_H

#include "service/request.h"

/* Open Inference: {"inputs": [{"shape": [2, 3], "datatype": "FP64", "data": [...]}]}. At most `most` rows. */
bool tables_read_inference(struct rows *rows, const char *bytes, size_t count, size_t most, struct trouble *trouble);
/* MLflow: {"inputs": [[...], ...]}, or instances, dataframe_split, dataframe_records. */
bool tables_read_invocation(struct rows *rows, const char *bytes, size_t count, size_t most, struct trouble *trouble);

#endif
