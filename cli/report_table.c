/* report_table.c - columns of numbers that can be compared by eye.
 *
 * A column is written in one notation. If its numbers are of ordinary size, each keeps its significant digits
 * and is padded with invisible characters, so that the decimal points stand under each other; otherwise all
 * have an exponent. In every column smaller is better, and the best is bold: all that read the same as the
 * smallest.
 */
#include "report_table.h"

#include "toolkit/plot_text.h"

#include <math.h>
#include <string.h>

struct column {
    const char *heading;
    const char *explanation;
    size_t offset; /* of the number in struct report_method */
    int digits;    /* significant */
};

static const struct column columns[] = {
    {"FO / stage",
     "Gradients of single points that were computed, per stage: the cost that does not depend on the machine",
     offsetof(struct report_method, fo_per_stage), 3},
    {"steps / stage", "Updates of the model, per stage", offsetof(struct report_method, steps_per_stage), 3},
    {"seconds", "Time spent by the method itself", offsetof(struct report_method, seconds), 3},
    {"final gap", "Distance of the objective to its true optimum, after the last stage",
     offsetof(struct report_method, final_gap), 3},
    {"largest gap", "The largest distance to the true optimum of its stage, over the stages that were measured",
     offsetof(struct report_method, max_gap), 3},
    {"final objective", "Mean loss plus regulariser over all points, after the last stage",
     offsetof(struct report_method, final_objective), 6},
    {"proved bound", "An upper limit of the final gap, proved without knowing the optimum",
     offsetof(struct report_method, final_bound), 3},
    {"worst bound", "The largest proved bound over all stages", offsetof(struct report_method, worst_bound), 3},
};

enum { column_count = sizeof columns / sizeof columns[0], largest_decimals = 6 };

/* How the numbers of a column are written. */
struct notation {
    bool exponent;
    int decimals; /* without exponent: the most that a number of the column has */
    double best;  /* NaN: none stands out */
};

struct cell {
    char text[40];
    int decimals;
};

static double number_in(const struct report_method *method, const struct column *column)
{
    double number;
    memcpy(&number, (const char *)method + column->offset, sizeof number);
    return method->failed ? NAN : number;
}

static int decimals_of(double number, int digits)
{
    int decimals = number == 0 ? 0 : digits - 1 - (int)floor(log10(fabs(number)));
    return decimals < 0 ? 0 : decimals > largest_decimals ? largest_decimals : decimals;
}

/* Returns false when the column has no numbers at all. */
static bool choose_notation(const struct report *report, const struct column *column, struct notation *notation)
{
    size_t numbers = 0;
    double smallest = INFINITY, largest = 0;
    *notation = (struct notation){.best = INFINITY};
    for (size_t i = 0; i < report->method_count; i++) {
        double number = number_in(&report->methods[i], column);
        if (isnan(number))
            continue;
        numbers++;
        notation->best = fmin(notation->best, number);
        if (number == 0 || isinf(number))
            continue;
        smallest = fmin(smallest, fabs(number));
        largest = fmax(largest, fabs(number));
    }
    notation->exponent = smallest < 1e-3 || largest >= 1e6;
    for (size_t i = 0; i < report->method_count; i++) {
        double number = number_in(&report->methods[i], column);
        if (isfinite(number))
            notation->decimals = (int)fmax(notation->decimals, decimals_of(number, column->digits));
    }
    if (numbers < 2)
        notation->best = NAN;
    return numbers > 0;
}

static struct cell make_cell(const struct notation *notation, const struct column *column, double number)
{
    struct cell cell = {.decimals = notation->decimals};
    if (isnan(number))
        snprintf(cell.text, sizeof cell.text, "\xE2\x80\x93");
    else if (isinf(number))
        snprintf(cell.text, sizeof cell.text, "%s\xE2\x88\x9E", number < 0 ? "\xE2\x88\x92" : "");
    else if (number == 0)
        snprintf(cell.text, sizeof cell.text, "0");
    else if (notation->exponent)
        snprintf(cell.text, sizeof cell.text, "%.*e", column->digits - 1, number);
    else
        snprintf(cell.text, sizeof cell.text, "%.*f", decimals_of(number, column->digits), number);
    if (isfinite(number) && !notation->exponent)
        cell.decimals = number == 0 ? 0 : decimals_of(number, column->digits);
    return cell;
}

static void write_cell(FILE *out, const struct notation *notation, const struct column *column, double number)
{
    struct cell cell = make_cell(notation, column, number);
    struct cell best = make_cell(notation, column, notation->best);
    bool bold = !isnan(notation->best) && !isnan(number) && strcmp(cell.text, best.text) == 0;
    fprintf(out, bold ? "<td><b>%s</b>" : "<td>%s", cell.text);
    if (cell.decimals < notation->decimals) {
        fputs("<span class=\"pad\">", out);
        fprintf(out, "%s%.*s</span>", cell.decimals == 0 ? "." : "", notation->decimals - cell.decimals, "0000000");
    }
    fputs("</td>", out);
}

bool report_has_target(const struct report *report)
{
    if (!isfinite(report->epsilon) || report->epsilon <= 0)
        return false;
    for (size_t i = 0; i < report->method_count; i++) {
        if (!report->methods[i].failed && !isnan(report->methods[i].max_gap))
            return true;
    }
    return false;
}

bool report_held_target(const struct report *report, const struct report_method *method)
{
    return !method->failed && method->max_gap <= report->epsilon;
}

static void write_method_name(FILE *out, const struct report *report, const struct report_method *method)
{
    fputs("<tr><th scope=\"row\">", out);
    plot_text_write(out, method->name);
    if (method->setting != NULL && method->setting[0] != '\0') {
        fputs(" <small>", out);
        plot_text_write(out, method->setting);
        fputs("</small>", out);
    }
    if (method->runs != report->runs && !method->failed)
        fprintf(out, " <small>(%zu of %zu runs)</small>", method->runs, report->runs);
    fputs("</th>", out);
}

static void write_held(FILE *out, const struct report *report, const struct report_method *method)
{
    if (isnan(method->max_gap))
        fputs("<td class=\"word\">\xE2\x80\x93</td>", out);
    else if (report_held_target(report, method))
        fputs("<td class=\"word\">yes</td>", out);
    else
        fputs("<td class=\"word missed\">no</td>", out);
}

static void write_failure(FILE *out, const struct report_method *method, size_t width)
{
    fprintf(out, "<td class=\"failure\" colspan=\"%zu\"><div>failed: ", width);
    plot_text_write(out, method->failure != NULL ? method->failure : "no message");
    fputs("</div></td>", out);
}

/* Returns the number of columns beside the method's name. */
static size_t write_head(FILE *out, const struct report *report, const bool *shown)
{
    size_t width = 0;
    fputs("<table>\n<thead><tr><th scope=\"col\">method</th>", out);
    for (size_t c = 0; c < column_count; c++) {
        if (!shown[c])
            continue;
        width++;
        fprintf(out, "<th scope=\"col\" title=\"%s\">%s</th>", columns[c].explanation, columns[c].heading);
    }
    if (report_has_target(report)) {
        width++;
        fputs("<th scope=\"col\" class=\"word\" title=\"Whether the largest gap is at most epsilon\">"
              "held \xCE\xB5</th>",
              out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    return width;
}

void report_table_write(FILE *out, const struct report *report)
{
    struct notation notations[column_count];
    bool shown[column_count];
    for (size_t c = 0; c < column_count; c++)
        shown[c] = choose_notation(report, &columns[c], &notations[c]);
    size_t width = write_head(out, report, shown);
    for (size_t i = 0; i < report->method_count; i++) {
        const struct report_method *method = &report->methods[i];
        write_method_name(out, report, method);
        if (method->failed) {
            write_failure(out, method, width > 0 ? width : 1);
        } else {
            for (size_t c = 0; c < column_count; c++) {
                if (shown[c])
                    write_cell(out, &notations[c], &columns[c], number_in(method, &columns[c]));
            }
            if (report_has_target(report))
                write_held(out, report, method);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>\n", out);
}
