/* What people call a fit's features and classes, and streams and models that know it. */
#include <stdio.h>

#include "base/error.h"
#include "base/sized.h"
#include "fit/durable.h"
#include "model/model.h"
#include "stream/stream.h"

const char *kf_fit_class(const keepfit_fit *fit, double label, char room[KF_CLASS_ROOM])
{
    keepfit_schema schema = kf_schema_show(&fit->meaning.schema);
    const char *name = keepfit_schema_class(&schema, label);
    if (name)
        snprintf(room, KF_CLASS_ROOM, "'%.40s'", name);
    else
        snprintf(room, KF_CLASS_ROOM, "%g", label);
    return room;
}

keepfit_status kf_fit_third(const keepfit_fit *fit, double label, const struct kf_labels *labels, keepfit_error *error)
{
    char third[KF_CLASS_ROOM], first[KF_CLASS_ROOM], second[KF_CLASS_ROOM];
    return kf_fail(error, KEEPFIT_DATA,
                   "label %s is a third class besides %s and %s; loss %s is for two (softmax takes more)",
                   kf_fit_class(fit, label, third), kf_fit_class(fit, labels->label[0], first),
                   kf_fit_class(fit, labels->label[1], second), fit->task.problem.objective.loss->name);
}

void keepfit_fit_schema(const keepfit_fit *fit, keepfit_schema *schema)
{
    const keepfit_schema shown = kf_schema_show(&fit->meaning.schema);
    KF_GIVE(schema, &shown);
}

keepfit_status keepfit_fit_name(keepfit_fit *fit, const keepfit_schema *given)
{
    keepfit_schema schema = {.struct_size = sizeof schema};
    KF_TAKE(&schema, given);
    struct kf_schema news = {0};
    keepfit_status status = kf_fit_ready(fit);
    if (status == KEEPFIT_OK)
        status = kf_schema_news(&fit->meaning.schema, &schema, 0, &news, &fit->error);
    if (status != KEEPFIT_OK || kf_schema_is_empty(&news))
        return status;
    status = kf_durable_names(fit, &news);
    if (status == KEEPFIT_OK && !kf_schema_learn(&fit->meaning.schema, &news)) {
        status = kf_fail_memory(&fit->error);
        fit->death = fit->error;
    }
    kf_schema_free(&news);
    return kf_durable_acknowledge(fit, status);
}

static keepfit_status open_for_fit(const char *path, const struct kf_memory *memory, const keepfit_options *options,
                                   const keepfit_fit *fit, keepfit_stream **stream, keepfit_error *error)
{
    const keepfit_schema schema = kf_schema_show(&fit->meaning.schema);
    struct kf_wanted wanted = {.schema = &schema, .targets = true, .texts = kf_texts_for(fit->options)};
    wanted.plain = fit->arrivals.arrived > 0 && !schema.columns;
    if (fit->meaning.labels.count && !schema.classes)
        wanted.texts = KF_TEXTS_NEVER;
    return kf_stream_open_wanted(path, memory, options, &wanted, stream, error);
}

keepfit_status keepfit_stream_open_for_fit(const char *path, const keepfit_options *options, const keepfit_fit *fit,
                                           keepfit_stream **stream, keepfit_error *error)
{
    return open_for_fit(path, NULL, options, fit, stream, error);
}

keepfit_status keepfit_stream_open_bytes(const void *bytes, size_t count, const char *name,
                                         const keepfit_options *options, const keepfit_fit *fit,
                                         const keepfit_model *model, bool targets, keepfit_stream **stream,
                                         keepfit_error *error)
{
    const struct kf_memory memory = {.bytes = bytes, .count = count, .sized = true};
    if (fit)
        return open_for_fit(name, &memory, options, fit, stream, error);
    if (model)
        return kf_stream_open_for_model(name, &memory, options, model, targets, stream, error);
    return kf_stream_open_memory(&memory, name, options, stream, error);
}
