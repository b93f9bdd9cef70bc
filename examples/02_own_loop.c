/* Your own loop: points arrive one at a time, and after each the model is within epsilon of the best one for all of them,
 * with a proof. Here the points come from a formula whose second half behaves differently from the first. */
#include <keepfit.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    keepfit_options_set(options, "loss", "huber", &error);
    keepfit_options_set(options, "lambda", "0.01", &error);
    keepfit_options_set(options, "epsilon", "1e-3", &error);
    keepfit_options_set(options, "bias", "1", &error);
    if (keepfit_fit_create(options, &fit, &error) != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    keepfit_options_free(options);

    for (int i = 1; i <= 2000; i++) {
        const double values[] = {sin(i), cos(3 * i)};
        keepfit_point point = {
            .row = {.count = 2, .index = NULL, .value = values},
            .target = (i <= 1000 ? 2 : 3) * values[0] - values[1] + 1,
            .weight = 1,
        };
        if (keepfit_fit_push(fit, &point) != KEEPFIT_OK) {
            fprintf(stderr, "%s\n", keepfit_fit_error(fit)->message);
            return 1;
        }
        if (i % 500 == 0) {
            keepfit_report report = {.struct_size = sizeof report};
            keepfit_fit_report(fit, &report);
            printf("after %llu points: gap proved to be at most %.1e, %.2f gradients a point\n",
                   (unsigned long long)report.stage, report.bound, (double)report.fo / (double)report.stage);
        }
    }

    keepfit_model *model = NULL;
    keepfit_description description = {.struct_size = sizeof description};
    keepfit_fit_model(fit, &model);
    keepfit_model_describe(model, &description);
    printf("y = %.2f a + %.2f b + %.2f\n", description.weights[0], description.weights[1], description.intercepts[0]);
    keepfit_model_free(model);
    keepfit_fit_free(fit);
    return 0;
}
