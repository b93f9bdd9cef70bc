/* What progressive validation has found, as text and as JSON. */
#include "progressive.h"

#include <math.h>
#include <stdio.h>

#include "arguments.h"
#include "toolkit/output.h"

static const char *drift_word(keepfit_drift drift)
{
    return drift == KEEPFIT_DRIFT_WORSE ? "worse" : drift == KEEPFIT_DRIFT_BETTER ? "better" : NULL;
}

static void print_drift(const keepfit_validation *found)
{
    unsigned long long alarms = found->drift_alarms;
    if (!alarms)
        return;
    printf("  drift        %llu alarm%s, the newest at stage %llu: predictions got %s (mean loss %.4g, then %.4g)\n",
           alarms, alarms == 1 ? "" : "s", (unsigned long long)found->drift_last, drift_word(found->drift),
           found->drift_before, found->drift_after);
}

void progressive_print(keepfit_fit *fit, bool classes)
{
    const char *what = classes ? "error" : "rmse";
    keepfit_validation found = {.struct_size = sizeof found};
    keepfit_fit_validation(fit, &found);
    if (!found.judged)
        return;
    printf("  progressive  loss %.4g, %s %.4g", found.loss, what, found.error);
    if (!isnan(found.auc))
        printf(", auc %.4g", found.auc);
    printf(" (each point predicted before it was learnt)\n");
    if (found.window && found.window < found.judged)
        printf("  newest %-5llu loss %.4g, %s %.4g\n", (unsigned long long)found.window, found.windowed_loss, what,
               found.windowed_error);
    print_drift(&found);
}

static void field(const char *name, double number)
{
    printf(",\n  \"%s\": ", name);
    json_number(stdout, number);
}

static void calibration_json(const keepfit_validation *found)
{
    printf(",\n  \"calibration\": [");
    for (size_t k = 0; k < found->calibration; k++) {
        printf("%s\n    {\"count\": %llu, \"predicted\": ", k ? "," : "",
               (unsigned long long)found->calibration_count[k]);
        json_number(stdout, found->predicted[k]);
        fputs(", \"happened\": ", stdout);
        json_number(stdout, found->happened[k]);
        putchar('}');
    }
    fputs(found->calibration ? "\n  ]" : "]", stdout);
}

void progressive_json(keepfit_fit *fit)
{
    keepfit_validation found = {.struct_size = sizeof found};
    keepfit_fit_validation(fit, &found);
    field("validated", (double)found.judged);
    field("window", (double)found.window);
    field("windowed_loss", found.windowed_loss);
    field("windowed_error", found.windowed_error);
    field("auc", found.auc);
    field("auc_off", found.auc_off);
    calibration_json(&found);
    printf(",\n  \"drift\": {\"level\": ");
    json_number(stdout, found.drift_level);
    printf(", \"alarms\": %llu, \"last\": ", (unsigned long long)found.drift_alarms);
    json_number(stdout, found.drift_last ? (double)found.drift_last : NAN);
    fputs(", \"direction\": ", stdout);
    if (drift_word(found.drift))
        json_text(stdout, drift_word(found.drift));
    else
        fputs("null", stdout);
    fputs(", \"before\": ", stdout);
    json_number(stdout, found.drift_before);
    fputs(", \"after\": ", stdout);
    json_number(stdout, found.drift_after);
    printf(", \"blocks\": %llu}", (unsigned long long)found.drift_blocks);
}
