/* A fitted model, apart from the fit that made it. Weights are [feature][output]; the bias feature's constant is already
 * multiplied into the intercepts, so a score is intercept + row . weights. A network has a layer of its own before that:
 * max(0, hidden intercepts + row . hidden weights) takes the place of the row. */
#ifndef KF_MODEL_H
#define KF_MODEL_H

#include "base/schema.h"
#include "objective/loss.h"
#include "stream/stream.h"

#define KF_MODEL_TEXT 64

struct keepfit_model {
    const struct kf_loss *loss;
    char method[KF_MODEL_TEXT], domain[KF_MODEL_TEXT], scale[KF_MODEL_TEXT], version[KF_MODEL_TEXT];
    double lambda, epsilon, bias, delta;
    bool unit_rows; /* rows are scaled to norm 1 before they are multiplied */
    uint64_t stages, fo, features;
    size_t hidden, outputs, classes; /* hidden: units of a network, otherwise 0 */
    double *labels, *intercepts, *weights;
    double *hidden_intercepts, *hidden_weights; /* [hidden], [features][hidden] */
    double *errors; /* standard errors, plain and then robust: [outputs] of intercepts, [features][outputs] of weights;
                              * NULL: they were not asked for */
    struct kf_schema schema; /* what features and classes are called */
};

#define KF_MODEL_NO_ERROR (-1.0) /* in place of an error that there is not */

/* An empty model with room for these numbers; NULL: out of memory. */
keepfit_model *kf_model_create(uint64_t features, size_t hidden, size_t outputs, size_t classes);

/* Rows of `weights`: what the last layer is given. */
static inline uint64_t kf_model_inputs(const keepfit_model *model)
{
    return model->hidden ? model->hidden : model->features;
}

/* How many standard errors there are. */
static inline size_t kf_model_errors(const keepfit_model *model)
{
    return 2 * (size_t)(1 + model->features) * model->outputs;
}

/* keepfit_model_save and keepfit_model_load on any disk. */
keepfit_status kf_model_save(const keepfit_disk *disk, const keepfit_model *model, const char *path,
                             keepfit_error *error);
keepfit_status kf_model_load(const keepfit_disk *disk, const char *path, keepfit_model **model, keepfit_error *error);
/* A model file's bytes, to be freed; NULL: out of memory. */
unsigned char *kf_model_encode(const keepfit_model *model, size_t *count);
/* And back; `name` is what messages call them. */
keepfit_status kf_model_decode(const unsigned char *bytes, size_t count, const char *name, keepfit_model **model,
                               keepfit_error *error);

/* keepfit_stream_open_for_model, of a file or (otherwise than NULL) of what lies in memory. */
keepfit_status kf_stream_open_for_model(const char *path, const struct kf_memory *memory,
                                        const keepfit_options *options, const keepfit_model *model, bool targets,
                                        keepfit_stream **stream, keepfit_error *error);

#endif
