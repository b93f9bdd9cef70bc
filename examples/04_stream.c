/* Streams: read points from any file that the command reads, and decide yourself what to do with them. Prints, for the
 * methods named, how many gradients a point they took and what that bought. */
#include <keepfit.h>
#include <math.h>
#include <stdio.h>

static int run(const char *path, const char *method)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_stream *stream = NULL;
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_point point;
    keepfit_options_set(options, "loss", "logistic", &error);
    keepfit_options_set(options, "method", method, &error);
    keepfit_status status = keepfit_stream_open(path, options, &stream, &error);
    if (status == KEEPFIT_OK)
        status = keepfit_fit_create(options, &fit, &error);
    keepfit_options_free(options);
    if (status != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        keepfit_stream_close(stream);
        return 1;
    }
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        if ((status = keepfit_fit_push(fit, &point)) != KEEPFIT_OK)
            break;

    if (status == KEEPFIT_END) {
        keepfit_report report = {.struct_size = sizeof report};
        keepfit_measurement measured = {.struct_size = sizeof measured};
        keepfit_fit_report(fit, &report);
        if (keepfit_fit_measure(fit, KEEPFIT_MEASURE_OPTIMUM, &measured) != KEEPFIT_OK)
            measured.gap = NAN; /* not known */
        printf("%-6s %8.1f gradients a point, gap %.1e\n", method, (double)report.fo / (double)report.stage,
               measured.gap);
    } else {
        fprintf(stderr, "%s\n", keepfit_stream_error(stream)->message);
    }
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    return status == KEEPFIT_END ? 0 : 1;
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: stream DATA\n");
        return 2;
    }
    int failed = run(words[1], "auto");
    failed |= run(words[1], "csvrg");
    failed |= run(words[1], "sgd");
    return failed;
}
