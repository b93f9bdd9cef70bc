/* page.c - styles inline, plots as inline SVG, system fonts, no scripts. Colours are CSS variables with a second set of values
 * for readers who prefer the dark.
 */
#include "toolkit/page.h"

#include "toolkit/plot.h"
#include "toolkit/plot_text.h"

static const char page_style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--ink:#1b1f24;--quiet:#565e68;--rule:#d9dde2;"
    "--wash:#f5f6f8;--bad:#b3261e}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#14171c;--ink:#e8eaed;--quiet:#a5adb8;"
    "--rule:#343a43;--wash:#1c2027;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:64rem;padding:2.5rem 1.25rem 2rem;background:var(--page);color:var(--ink);"
    "font:1rem/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;"
    "-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
    "h1{margin:0 0 .75rem;font-size:1.75rem;line-height:1.2;overflow-wrap:anywhere}\n"
    "h2{margin:2.75rem 0 .75rem;font-size:1.2rem}\n"
    "h3{margin:0 0 .5rem;font-size:1rem}\n"
    "p{margin:0 0 .75rem;max-width:44rem;overflow-wrap:anywhere}\n"
    ".note,figcaption{color:var(--quiet);font-size:.875em}\n"
    ".scroll{overflow-x:auto;margin:0 0 .75rem;border-top:1px solid var(--rule);"
    "border-bottom:1px solid var(--rule)}\n"
    "table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.45rem .6rem;text-align:right;white-space:nowrap}\n"
    "th:first-child,td.failure{text-align:left}\n"
    "th:first-child{padding-left:.2rem}\n"
    ".word{text-align:center}\n"
    "thead th{color:var(--quiet);font-weight:500;vertical-align:bottom;white-space:normal;line-height:1.3}\n"
    "thead th[title]{text-decoration:underline dotted var(--rule);text-underline-offset:.25em;cursor:help}\n"
    "tbody th{font-weight:500}\n"
    "tbody tr{border-top:1px solid var(--rule)}\n"
    "small{color:var(--quiet);font-size:.93em;font-weight:400}\n"
    ".pad{visibility:hidden;-webkit-user-select:none;user-select:none}\n"
    "td.failure{color:var(--bad);white-space:normal;overflow-wrap:anywhere}\n"
    ".failure div{width:max-content;max-width:min(36rem,52vw)}\n"
    ".missed{color:var(--bad)}\n"
    "figure{margin:0 0 2.25rem}\n"
    "figcaption{margin-top:.5rem;max-width:44rem}\n"
    "dl{margin:0;display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.25rem;max-width:44rem}\n"
    "dt{font-weight:600}\n"
    "dd{margin:0}\n"
    "pre{margin:0;padding:.8rem 1rem;overflow-x:auto;background:var(--wash);border-radius:6px;"
    "font-size:.875rem;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "footer{margin-top:2.75rem;padding-top:.75rem;border-top:1px solid var(--rule);color:var(--quiet);"
    "font-size:.875rem}\n"
    "@media (max-width:560px){body{padding:1.5rem 1rem}h1{font-size:1.4rem}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}figure,tr,dl,pre"
    "{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:8.5pt}th,td{padding:.3rem .35rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--rule)}"
    "figure svg{max-width:16cm}}\n";

void page_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" "
          "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    plot_text_write(out, title);
    fputs("</title>\n<style>\n", out);
    fputs(page_style, out);
    plot_write_style(out);
    fputs("</style>\n</head>\n<body>\n", out);
}

void page_end(FILE *out, const char *version)
{
    fputs("<footer>keepfit ", out);
    plot_text_write(out, version);
    fputs("</footer>\n</body>\n</html>\n", out);
}
