/* report_table.h - the table of methods. */
#ifndef KEEPFIT_CLI_REPORT_TABLE_H
#define KEEPFIT_CLI_REPORT_TABLE_H

#include "report.h"

/* Writes <table> ... </table>. Columns for which no method has a number are left out. */
void report_table_write(FILE *out, const struct report *report);

/* Whether the report has a target, and whether the method's measured gaps all met it. */
bool report_has_target(const struct report *report);
bool report_held_target(const struct report *report, const struct report_method *method);

#endif
