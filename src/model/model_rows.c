/* Rows that a model is to predict. */
#include "model/model.h"
#include "base/error.h"
#include "base/options.h"
#include "stream/stream.h"

static struct kf_wanted wanted_by(const keepfit_model *model, const keepfit_schema *schema)
{
    /* Sparse rows may not have had the last columns; names and tables know how many there are. */
    bool exact = schema->features >= model->features && schema->features > 0;
    return (struct kf_wanted){
        .schema = schema,
        .fixed = true,
        .features = exact ? schema->features : model->features,
        .exact = exact,
    };
}

keepfit_status kf_stream_open_for_model(const char *path, const struct kf_memory *memory,
                                        const keepfit_options *options, const keepfit_model *model, bool targets,
                                        keepfit_stream **stream, keepfit_error *error)
{
    const keepfit_schema schema = kf_schema_show(&model->schema);
    struct kf_wanted wanted = wanted_by(model, &schema);
    wanted.targets = targets;
    wanted.spare = options && options->extra_features == KF_EXTRA_IGNORE;
    if (model->loss->targets != KF_NUMBERS)
        wanted.texts = schema.classes || model->classes == 0 ? KF_TEXTS_ALWAYS : KF_TEXTS_NEVER;
    return kf_stream_open_wanted(path, memory, options, &wanted, stream, error);
}

keepfit_status keepfit_stream_open_for_model(const char *path, const keepfit_options *options,
                                             const keepfit_model *model, bool targets, keepfit_stream **stream,
                                             keepfit_error *error)
{
    return kf_stream_open_for_model(path, NULL, options, model, targets, stream, error);
}

keepfit_status keepfit_stream_suit_model(keepfit_stream *stream, const keepfit_model *model, keepfit_error *error)
{
    const keepfit_schema schema = kf_schema_show(&model->schema);
    const struct kf_wanted wanted = wanted_by(model, &schema);
    return kf_stream_suit(stream, &wanted, error);
}
