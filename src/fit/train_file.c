#include "base/error.h"

/* The point, and what its class and its features are called if these are new. */
static keepfit_status push(keepfit_stream *stream, keepfit_fit *fit, const keepfit_point *point, size_t *named)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    keepfit_stream_schema(stream, &schema);
    size_t names = schema.classes + schema.features;
    keepfit_status status = names == *named ? KEEPFIT_OK : keepfit_fit_name(fit, &schema);
    *named = names;
    keepfit_mark mark = {.struct_size = sizeof mark};
    keepfit_stream_mark(stream, &mark);
    return status == KEEPFIT_OK ? keepfit_fit_push_marked(fit, point, &mark) : status;
}

/* Pushes the stream's points until it ends. */
static keepfit_status push_all(keepfit_stream *stream, keepfit_fit *fit, keepfit_error *error)
{
    keepfit_point point;
    keepfit_status status;
    size_t named = SIZE_MAX; /* so far: not even the columns */
    while ((status = keepfit_stream_next(stream, &point)) == KEEPFIT_OK)
        if ((status = push(stream, fit, &point, &named)) != KEEPFIT_OK) {
            if (error)
                kf_error_give(error, keepfit_fit_error(fit));
            return status;
        }
    if (status != KEEPFIT_END && error)
        kf_error_give(error, keepfit_stream_error(stream));
    return status == KEEPFIT_END ? KEEPFIT_OK : status;
}

keepfit_status keepfit_train_file(const char *path, const keepfit_options *options, keepfit_model **model,
                                  keepfit_error *error)
{
    keepfit_stream *stream = NULL;
    keepfit_fit *fit = NULL;
    keepfit_model *made = NULL;
    keepfit_status status = keepfit_fit_create(options, &fit, error);
    if (status == KEEPFIT_OK)
        status = keepfit_stream_open_for_fit(path, keepfit_fit_options(fit), fit, &stream, error);
    if (status == KEEPFIT_OK)
        status = push_all(stream, fit, error);
    if (status == KEEPFIT_OK && (status = keepfit_fit_model(fit, &made)) != KEEPFIT_OK && error)
        kf_error_give(error, keepfit_fit_error(fit));
    if (status == KEEPFIT_OK)
        status = keepfit_model_unscale(made, stream, error);
    if (status == KEEPFIT_OK)
        *model = made;
    else
        keepfit_model_free(made);
    keepfit_fit_free(fit);
    keepfit_stream_close(stream);
    return status;
}
