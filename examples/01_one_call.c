/* One call: a file in, a model out, predictions from it.
 *
 *   cc 01_one_call.c $(pkg-config --cflags --libs keepfit) -o one_call && ./one_call data.svm
 */
#include <keepfit.h>
#include <stdio.h>

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: one_call DATA\n");
        return 2;
    }
    keepfit_options *options = keepfit_options_create();
    keepfit_model *model = NULL;
    keepfit_error error = {.struct_size = sizeof error};

    keepfit_options_set(options, "loss", "logistic", &error);
    keepfit_options_set(options, "lambda", "1e-3", &error);
    keepfit_options_set(options, "epsilon", "1e-4", &error);
    keepfit_status status = keepfit_train_file(words[1], options, &model, &error);
    keepfit_options_free(options);
    if (status != KEEPFIT_OK) {
        fprintf(stderr, "%s\n", error.message); /* names the file, line and column */
        return 1;
    }

    const double values[] = {0.5, -1.0, 0.25};
    keepfit_row row = {.count = 3, .index = NULL, .value = values}; /* dense: features 0, 1, 2 */
    keepfit_prediction prediction = {.struct_size = sizeof prediction};
    keepfit_model_predict(model, &row, &prediction, NULL);
    printf("label %g with probability %.3f\n", prediction.value, prediction.probability);

    keepfit_model_free(model);
    return 0;
}
