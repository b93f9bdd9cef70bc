#include "trace.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "toolkit/output.h"

int trace_plan_read(struct trace_plan *plan, const char *text, uint64_t total)
{
    *plan = (struct trace_plan){.total = (double)(total ? total : TRACE_UNKNOWN_TOTAL)};
    if (strcmp(text, "all") == 0) {
        plan->all = true;
        return EXIT_DONE;
    }
    char *end;
    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || count == 0)
        return fail(EXIT_USAGE, "--trace-stages: '%s' is neither a whole number above 0 nor 'all'", text);
    plan->count = (double)count;
    plan->next = count == 1 ? UINT64_MAX : 1; /* a single one is the last, which the caller always measures */
    return EXIT_DONE;
}

bool trace_due(struct trace_plan *plan, uint64_t stage)
{
    if (plan->all)
        return true;
    if (stage != plan->next)
        return false;
    plan->planned++;
    double ideal = round(pow(plan->total, (double)plan->planned / (plan->count - 1)));
    plan->next = ideal > (double)stage ? (uint64_t)ideal : stage + 1;
    return true;
}

void trace_write_head(FILE *file)
{
    fputs("method,run,stage,fo,steps,seconds,objective,optimum,gap,bound\n", file);
}

static void write_cell(FILE *file, double number)
{
    if (isnan(number))
        fputc(',', file);
    else
        fprintf(file, ",%.17g", number);
}

/* A method's name may carry options ("csvrg:setting=paper"), but no comma. */
void trace_write_row(FILE *file, const struct trace_row *row)
{
    fprintf(file, "%s,%llu,%llu,%llu,%llu", row->method, (unsigned long long)row->run, (unsigned long long)row->stage,
            (unsigned long long)row->fo, (unsigned long long)row->steps);
    const double cells[] = {row->seconds, row->objective, row->optimum, row->gap, row->bound};
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++)
        write_cell(file, cells[k]);
    fputc('\n', file);
}

keepfit_status trace_measure(keepfit_fit *fit, unsigned what, struct trace_row *row)
{
    keepfit_report report = {.struct_size = sizeof report};
    keepfit_measurement measured = {sizeof measured, NAN, NAN, NAN, NAN};
    keepfit_fit_report(fit, &report);
    keepfit_status status = keepfit_fit_measure(fit, what, &measured);
    row->stage = report.stage;
    row->fo = report.fo;
    row->steps = report.steps;
    row->seconds = report.seconds;
    row->objective = measured.objective;
    row->optimum = measured.optimum;
    row->gap = measured.gap;
    row->bound = isnan(report.bound) ? measured.bound : report.bound;
    return status;
}
