/* plot_style.c - one table of colours, written as CSS in two ways.
 *
 * A page gets variables and rules that refer to them; a file of its own gets the colours themselves, because
 * many SVG viewers know no variables. The eight line colours differ in lightness as well as hue, so that they
 * stay apart for readers who see no red, green or blue, and each has a contrast of at least 3:1 to the paper.
 * Dashes and markers repeat the distinction without colour; their periods are chosen so that 32 series all
 * differ.
 *
 * On narrow screens the drawing shrinks but is still to be read, so the text grows in relation to it. The
 * layout leaves room for the larger size (plot.c).
 */
#include "toolkit/plot_style.h"

#include "toolkit/plot.h"

struct colour {
    const char *name;
    const char *light;
    const char *dark;
};

/* The order of the table below. */
enum { paper, ink, quiet, grid, axis_line, first_series };

enum { series_colours = 8 };

static const struct colour colours[] = {
    {"paper", "#ffffff", "#14171c"},    {"ink", "#1b1f24", "#e8eaed"},      {"quiet", "#565e68", "#a5adb8"},
    {"grid", "#e7e9ec", "#282d34"},     {"axis", "#8b939d", "#6c7580"},     {"series-1", "#123a94", "#4a90d9"},
    {"series-2", "#c2410c", "#f0643c"}, {"series-3", "#0e9ac0", "#45cdf2"}, {"series-4", "#8b2fd6", "#c86bf5"},
    {"series-5", "#0b7a3c", "#74e070"}, {"series-6", "#d9678f", "#ff9dbb"}, {"series-7", "#a18c0a", "#c2b548"},
    {"series-8", "#4a4f5e", "#e3e6ea"},
};

static const size_t colour_count = sizeof colours / sizeof colours[0];

enum spelling { as_variable, as_light, as_dark };

/* "property:colour;" */
static void write_colour(FILE *out, const char *property, size_t colour, enum spelling spelling)
{
    if (spelling == as_variable)
        fprintf(out, "%s:var(--plot-%s);", property, colours[colour].name);
    else
        fprintf(out, "%s:%s;", property, spelling == as_light ? colours[colour].light : colours[colour].dark);
}

/* The rules that name a colour. */
static void write_colour_rules(FILE *out, enum spelling spelling)
{
    static const struct {
        const char *selector;
        const char *property;
        size_t colour;
    } rules[] = {
        {".plot .paper", "fill", paper},    {".plot text", "fill", quiet},     {".plot .title", "fill", ink},
        {".plot .name", "fill", ink},       {".plot .grid", "stroke", grid},   {".plot .axis", "stroke", axis_line},
        {".plot .target", "stroke", quiet}, {".plot .marks", "stroke", paper},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        fprintf(out, "%s{", rules[i].selector);
        write_colour(out, rules[i].property, rules[i].colour, spelling);
        fputs("}\n", out);
    }
    for (size_t i = 0; i < series_colours; i++) {
        fprintf(out, ".plot .s%zu{", i + 1);
        write_colour(out, "color", first_series + i, spelling);
        fputs("}\n", out);
    }
}

/* The rules that do not depend on colour. */
static void write_shape_rules(FILE *out)
{
    fputs(".plot{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
          "font-size:12.5px;font-variant-numeric:tabular-nums}\n"
          ".plot text{font-size:inherit}\n"
          ".plot .title{font-size:16px;font-weight:600}\n"
          ".plot .grid,.plot .axis{fill:none;stroke-width:1}\n"
          ".plot .target{fill:none;stroke-width:1.5;stroke-dasharray:7 4}\n"
          ".plot .line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}\n"
          ".plot .band{fill:currentColor;fill-opacity:.13;stroke:currentColor;stroke-opacity:.25;"
          "stroke-width:.6}\n"
          ".plot .marks{fill:currentColor;stroke-width:1.6;paint-order:stroke}\n"
          "@media (max-width:560px){.plot{font-size:19px}.plot .title{font-size:20px}"
          ".plot .line{stroke-width:2.6}}\n",
          out);
}

static void write_variables(FILE *out, enum spelling spelling)
{
    fputs(":root{", out);
    for (size_t i = 0; i < colour_count; i++)
        fprintf(out, "--plot-%s:%s;", colours[i].name, spelling == as_dark ? colours[i].dark : colours[i].light);
    fputs("}\n", out);
}

/* Screens only: a page printed by someone who reads in the dark is still printed on white paper. */
static const char dark_begins[] = "@media screen and (prefers-color-scheme:dark){\n";

void plot_write_style(FILE *out)
{
    write_variables(out, as_light);
    fputs(dark_begins, out);
    write_variables(out, as_dark);
    fputs("}\n.plot{display:block;width:100%;height:auto}\n", out);
    write_shape_rules(out);
    write_colour_rules(out, as_variable);
}

void plot_style_write_literal(FILE *out)
{
    write_shape_rules(out);
    write_colour_rules(out, as_light);
    fputs(dark_begins, out);
    write_colour_rules(out, as_dark);
    fputs("}\n", out);
}

size_t plot_style_class(size_t series)
{
    return series % series_colours + 1;
}

const char *plot_style_dashes(size_t series)
{
    static const char *const dashes[] = {"none", "8 3", "3 2.5", "10 3 2.5 3"};
    return dashes[(series + series / series_colours) % 4];
}

const char *plot_style_marker(size_t series)
{
    static const char *const markers[series_colours] = {
        "m-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z",    /* circle */
        "m-3.5-3.5h7v7h-7z",                                   /* square */
        "m0-4.6l4.4 7.6h-8.8z",                                /* triangle */
        "m0-4.9l4.4 4.9l-4.4 4.9l-4.4-4.9z",                   /* diamond */
        "m0 4.6l4.4-7.6h-8.8z",                                /* triangle, point down */
        "m-1.5-4.7h3v3.2h3.2v3h-3.2v3.2h-3v-3.2h-3.2v-3h3.2z", /* plus */
        "m-4.2-4.2h2.6l1.6 2.4l1.6-2.4h2.6l-2.7 4.2l2.7 4.2h-2.6l-1.6-2.4l-1.6 2.4h-2.6l2.7-4.2z", /* cross */
        "m-2.4-4.2h4.8l2.4 4.2l-2.4 4.2h-4.8l-2.4-4.2z",                                           /* hexagon */
    };
    return markers[series % series_colours];
}
