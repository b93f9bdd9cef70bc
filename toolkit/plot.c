/* plot.c - the drawing: axes and grid, bands, lines, markers, and a legend below, where no data can be.
 *
 * Lengths are in the units of the viewBox, which is 720 wide. The text is small on a wide screen and larger
 * in relation on a narrow one (plot_style.c), so everything is laid out for the larger text, whose characters
 * are estimated from above: the real font is unknown here.
 *
 * Nothing is allocated: a series is thinned into an array of fixed size first (plot_thin.c).
 */
#include "toolkit/plot.h"

#include "toolkit/exit_code.h"
#include "toolkit/output.h"
#include "toolkit/plot_axis.h"
#include "toolkit/plot_style.h"
#include "toolkit/plot_text.h"
#include "toolkit/plot_thin.h"

#include <math.h>

static const double drawing_width = 720;
static const double area_height = 380;
static const double text_height = 20;       /* of the larger text */
static const double character_width = 10.6; /* of the larger text, on average */
static const double legend_row = 25;
static const double swatch_width = 40;
static const double marker_distance = 84;

static const char minus_sign[] = "\xE2\x88\x92";
static const char no_data[] = " (no data)";

enum { name_limit = 56, label_limit = 64, noted_label_limit = 36, title_limit = 68, short_line = 12 };

struct layout {
    double height;
    double label_y; /* the baseline of the y axis's label */
    double legend_y;
    size_t legend_entries;
    size_t legend_columns;
    struct plot_axis x;
    struct plot_axis y;
};

static bool has_reference(const struct plot *plot)
{
    return isfinite(plot->reference) && !(plot->log_y && plot->reference <= 0);
}

/* Whether the point has a place on the x axis; without one it is not drawn. */
static bool has_place(const struct plot *plot, const struct plot_series *series, size_t i)
{
    return isfinite(series->x[i]) && !(plot->log_x && series->x[i] <= 0);
}

/* The index after the last point that is drawn; 0: the series has none. */
static size_t drawn_end(const struct plot *plot, const struct plot_series *series)
{
    size_t end = series->count;
    while (end > 0 && !(has_place(plot, series, end - 1) && isfinite(series->y[end - 1])))
        end--;
    return end;
}

/* Only points that will be drawn widen the axes: the y of a point without a place on x does not. */
static void measure_series(struct layout *layout, const struct plot *plot, const struct plot_series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        if (!has_place(plot, series, i))
            continue;
        if (isfinite(series->y[i]))
            plot_axis_widen(&layout->x, series->x[i]);
        plot_axis_widen(&layout->y, series->y[i]);
        if (series->low == NULL || series->high == NULL || !isfinite(series->low[i]) || !isfinite(series->high[i]))
            continue;
        plot_axis_widen(&layout->x, series->x[i]);
        plot_axis_widen(&layout->y, series->low[i]);
        plot_axis_widen(&layout->y, series->high[i]);
    }
}

static void lay_out_axes(struct layout *layout, const struct plot *plot, double top)
{
    plot_axis_start(&layout->x, plot->log_x, false);
    plot_axis_start(&layout->y, plot->log_y, true);
    for (size_t i = 0; i < plot->count; i++)
        measure_series(layout, plot, &plot->series[i]);
    if (has_reference(plot))
        plot_axis_widen(&layout->y, plot->reference);
    plot_axis_settle(&layout->x);
    plot_axis_settle(&layout->y);

    layout->y.from = top + area_height;
    layout->y.to = top;
    plot_axis_place_ticks(&layout->y, text_height, 0);
    double widest = 0;
    for (size_t i = 0; i < layout->y.tick_count; i++) {
        if (layout->y.ticks[i].labelled)
            widest = fmax(widest, plot_tick_width(&layout->y.ticks[i]));
    }
    layout->x.from = fmin(16 + widest * character_width, 160);
    layout->x.to = drawing_width - 16;
    plot_axis_place_ticks(&layout->x, 0.8 * text_height, character_width);
}

/* As many columns as the longest name allows. */
static void lay_out_legend(struct layout *layout, const struct plot *plot)
{
    size_t longest = has_reference(plot) ? plot_text_length(plot->reference_label) : 0;
    for (size_t i = 0; i < plot->count; i++) {
        size_t length = plot_text_length(plot->series[i].name);
        if (drawn_end(plot, &plot->series[i]) == 0)
            length += plot_text_length(no_data);
        longest = length > longest ? length : longest;
    }
    longest = longest > name_limit ? name_limit : longest;
    double entry = swatch_width + 18 + character_width * (double)longest;
    size_t fitting = (size_t)((drawing_width - 16) / entry);
    layout->legend_entries = plot->count + has_reference(plot);
    layout->legend_columns = fitting < 1 ? 1 : fitting > 4 ? 4 : fitting;
}

static struct layout lay_out(const struct plot *plot, bool with_title)
{
    struct layout layout = {.label_y = with_title ? 62 : 22};
    lay_out_axes(&layout, plot, layout.label_y + 14);
    lay_out_legend(&layout, plot);
    layout.legend_y = layout.y.from + 76;
    size_t rows = (layout.legend_entries + layout.legend_columns - 1) / layout.legend_columns;
    layout.height = layout.legend_y + legend_row * (double)rows - (rows > 0 ? 8 : 16);
    return layout;
}

/* For readers who hear the page: what is drawn and where each line ends. */
static void write_description(FILE *out, const struct plot *plot)
{
    fputs("<title>", out);
    plot_text_write(out, plot->title);
    fputs("</title>\n<desc>", out);
    plot_text_write(out, plot->y_label);
    fputs(" against ", out);
    plot_text_write(out, plot->x_label);
    fprintf(out, "; %s. ",
            plot->log_x && plot->log_y ? "both axes are logarithmic"
            : plot->log_x              ? "the horizontal axis is logarithmic"
            : plot->log_y              ? "the vertical axis is logarithmic"
                                       : "both axes are linear");
    for (size_t i = 0; i < plot->count; i++) {
        const struct plot_series *series = &plot->series[i];
        size_t end = drawn_end(plot, series);
        plot_text_write(out, series->name);
        if (end == 0)
            fputs(" has no data. ", out);
        else
            fprintf(out, " ends at %.3g. ", series->y[end - 1]);
    }
    if (has_reference(plot)) {
        fprintf(out, "A horizontal line marks %.3g: ", plot->reference);
        plot_text_write(out, plot->reference_label);
        fputs(".", out);
    }
    fputs("</desc>\n", out);
}

static void write_tick_label(FILE *out, const struct plot_tick *tick)
{
    bool negative = tick->text[0] == '-';
    fprintf(out, "%s%s", negative ? minus_sign : "", tick->text + negative);
    if (tick->raised)
        fprintf(out, "<tspan dy=\"-.5em\" font-size=\"72%%\">%s%d</tspan>", tick->exponent < 0 ? minus_sign : "",
                tick->exponent < 0 ? -tick->exponent : tick->exponent);
    fputs("</text>\n", out);
}

static void write_grid(FILE *out, const struct layout *layout)
{
    const struct plot_axis *x = &layout->x, *y = &layout->y;
    fputs("<path class=\"grid\" d=\"", out);
    for (size_t i = 0; i < x->tick_count; i++) {
        if (x->ticks[i].major)
            fprintf(out, "M%.1f %.1fV%.1f", x->ticks[i].position, y->from, y->to);
    }
    for (size_t i = 0; i < y->tick_count; i++) {
        if (y->ticks[i].major)
            fprintf(out, "M%.1f %.1fH%.1f", x->from, y->ticks[i].position, x->to);
    }
    fprintf(out, "\"/>\n<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f", x->from, y->to, y->from, x->to);
    for (size_t i = 0; i < x->tick_count; i++)
        fprintf(out, "M%.1f %.1fv%d", x->ticks[i].position, y->from, x->ticks[i].major ? 5 : 3);
    for (size_t i = 0; i < y->tick_count; i++)
        fprintf(out, "M%.1f %.1fh%d", x->from, y->ticks[i].position, y->ticks[i].major ? -5 : -3);
    fputs("\"/>\n", out);
}

static void write_labels(FILE *out, const struct plot *plot, const struct layout *layout)
{
    const struct plot_axis *x = &layout->x, *y = &layout->y;
    for (size_t i = 0; i < x->tick_count; i++) {
        if (!x->ticks[i].labelled)
            continue;
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x->ticks[i].position, y->from + 24);
        write_tick_label(out, &x->ticks[i]);
    }
    for (size_t i = 0; i < y->tick_count; i++) {
        if (!y->ticks[i].labelled)
            continue;
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" dy=\".35em\" text-anchor=\"end\">", x->from - 9,
                y->ticks[i].position);
        write_tick_label(out, &y->ticks[i]);
    }
    fprintf(out, "<text class=\"name\" x=\"8\" y=\"%.1f\">", layout->label_y);
    plot_text_write_cut(out, plot->y_label, y->clamped ? noted_label_limit : label_limit);
    if (y->clamped)
        fputs(" (\xE2\x89\xA4 0 is drawn at the bottom)", out);
    fprintf(out, "</text>\n<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (x->from + x->to) / 2,
            y->from + 48);
    plot_text_write_cut(out, plot->x_label, label_limit);
    fputs("</text>\n", out);
}

static void write_band(FILE *out, const struct plot_series *series, size_t index, const struct layout *layout)
{
    struct plot_vertex vertices[PLOT_VERTEX_LIMIT];
    size_t count = plot_thin_band(series, &layout->x, &layout->y, vertices);
    if (count == 0)
        return;
    fprintf(out, "<path class=\"band s%zu\" d=\"", plot_style_class(index));
    size_t begin = 0;
    while (begin < count) {
        size_t end = begin + 1;
        while (end < count && !vertices[end].starts)
            end++;
        for (size_t i = begin; i < end; i++)
            fprintf(out, "%s%.1f %.1f", i == begin ? "M" : "L", vertices[i].x, vertices[i].low);
        for (size_t i = end; i-- > begin;)
            fprintf(out, "L%.1f %.1f", vertices[i].x, vertices[i].high);
        fputs("z", out);
        begin = end;
    }
    fputs("\"/>\n", out);
}

/* Markers on every point of a short line; otherwise at about equal distances, shifted from series to series,
 * where the line has no length, and at its end. */
static void write_markers(FILE *out, const struct plot_vertex *vertices, size_t count, size_t index, double left)
{
    double next = left + marker_distance * (0.2 + (double)(index * 3 % 8) / 8);
    fputs("<path class=\"marks\" d=\"", out);
    for (size_t i = 0; i < count; i++) {
        bool alone = vertices[i].starts && (i + 1 == count || vertices[i + 1].starts);
        if (count > short_line && !alone && i + 1 != count && vertices[i].x < next)
            continue;
        fprintf(out, "M%.1f %.1f%s", vertices[i].x, vertices[i].low, plot_style_marker(index));
        while (next <= vertices[i].x)
            next += marker_distance;
    }
    fputs("\"/>\n", out);
}

static void write_line(FILE *out, const struct plot_series *series, size_t index, const struct layout *layout)
{
    struct plot_vertex vertices[PLOT_VERTEX_LIMIT];
    size_t count = plot_thin_line(series, &layout->x, &layout->y, vertices);
    if (count == 0)
        return;
    fprintf(out, "<g class=\"s%zu\"><title>", plot_style_class(index));
    plot_text_write(out, series->name);
    fprintf(out, "</title>\n<path class=\"line\" stroke-dasharray=\"%s\" d=\"", plot_style_dashes(index));
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%.1f %.1f", vertices[i].starts ? "M" : "L", vertices[i].x, vertices[i].low);
    fputs("\"/>\n", out);
    write_markers(out, vertices, count, index, layout->x.from);
    fputs("</g>\n", out);
}

static void write_reference(FILE *out, const struct plot *plot, const struct layout *layout)
{
    if (has_reference(plot))
        fprintf(out, "<path class=\"target\" d=\"M%.1f %.1fH%.1f\"/>\n", layout->x.from,
                plot_axis_position(&layout->y, plot->reference), layout->x.to);
}

static void write_legend_name(FILE *out, double x, double y, const char *name, const char *remark)
{
    size_t length = plot_text_length(remark);
    fprintf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" dy=\".35em\">", x + swatch_width + 8, y);
    plot_text_write_cut(out, name, name_limit - length);
    plot_text_write(out, remark);
    fputs("</text>\n", out);
}

static void write_legend(FILE *out, const struct plot *plot, const struct layout *layout)
{
    double column_width = (drawing_width - 16) / (double)layout->legend_columns;
    for (size_t i = 0; i < layout->legend_entries; i++) {
        double x = 8 + column_width * (double)(i % layout->legend_columns);
        double y = layout->legend_y + legend_row * (double)(i / layout->legend_columns);
        if (i == plot->count) {
            fprintf(out, "<path class=\"target\" d=\"M%.1f %.1fh%.1f\"/>\n", x, y, swatch_width);
            write_legend_name(out, x, y, plot->reference_label, "");
            continue;
        }
        const struct plot_series *series = &plot->series[i];
        fprintf(out,
                "<g class=\"s%zu\"><path class=\"line\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fh%.1f\"/>"
                "<path class=\"marks\" d=\"M%.1f %.1f%s\"/></g>\n",
                plot_style_class(i), plot_style_dashes(i), x, y, swatch_width, x + swatch_width / 2, y,
                plot_style_marker(i));
        write_legend_name(out, x, y, series->name, drawn_end(plot, series) == 0 ? no_data : "");
    }
}

static void write_opening(FILE *out, const struct plot *plot, const struct layout *layout, bool standalone)
{
    if (standalone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 %.0f %.0f\"",
            drawing_width, layout->height);
    if (standalone)
        fprintf(out, " width=\"%.0f\" height=\"%.0f\"", drawing_width, layout->height);
    fputs(">\n", out);
    write_description(out, plot);
    if (!standalone)
        return;
    fputs("<style>\n", out);
    plot_style_write_literal(out);
    fputs("</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
          "<text class=\"title\" x=\"8\" y=\"30\">",
          out);
    plot_text_write_cut(out, plot->title, title_limit);
    fputs("</text>\n", out);
}

bool plot_write(FILE *out, const struct plot *plot, bool standalone)
{
    struct layout layout = lay_out(plot, standalone);
    write_opening(out, plot, &layout, standalone);
    write_grid(out, &layout);
    for (size_t i = 0; i < plot->count; i++)
        write_band(out, &plot->series[i], i, &layout);
    write_reference(out, plot, &layout);
    for (size_t i = 0; i < plot->count; i++)
        write_line(out, &plot->series[i], i, &layout);
    write_labels(out, plot, &layout);
    write_legend(out, plot, &layout);
    fputs("</svg>\n", out);
    return fflush(out) == 0 && !ferror(out);
}

int plot_save(const struct plot *plot, const char *path)
{
    struct output output;
    int code = output_open(&output, path);
    if (code != EXIT_DONE)
        return code;
    plot_write(output.file, plot, true); /* the commit sees what failed */
    return output_commit(&output);
}
