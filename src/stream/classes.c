#include "stream/classes.h"

#include <math.h>
#include <string.h>

bool kf_classes_open(struct kf_classes *classes, const keepfit_schema *schema)
{
    bool good = true;
    pthread_mutex_init(&classes->lock, NULL);
    for (size_t k = 0; schema && k < schema->classes && good; k++) {
        good = kf_schema_add_class(&classes->known, schema->label[k], schema->class_name[k]);
        classes->next = fmax(classes->next, floor(schema->label[k]) + 1);
    }
    atomic_store(&classes->count, classes->known.classes);
    return good;
}

void kf_classes_close(struct kf_classes *classes)
{
    kf_schema_free(&classes->known);
    pthread_mutex_destroy(&classes->lock);
}

bool kf_classes_know(const struct kf_classes *classes, const char *name, size_t length, double *label)
{
    const struct kf_schema *known = &classes->known;
    for (size_t k = 0; k < known->classes; k++)
        if (strncmp(known->class_name[k], name, length) == 0 && known->class_name[k][length] == '\0') {
            *label = known->label[k];
            return true;
        }
    return false;
}

bool kf_classes_find(struct kf_classes *classes, const char *name, double *label)
{
    pthread_mutex_lock(&classes->lock);
    keepfit_schema known = kf_schema_show(&classes->known);
    bool good = keepfit_schema_label(&known, name, label);
    if (!good && (good = kf_schema_add_class(&classes->known, classes->next, name)))
        *label = classes->next++;
    atomic_store(&classes->count, classes->known.classes);
    pthread_mutex_unlock(&classes->lock);
    return good;
}

bool kf_classes_copy(struct kf_classes *classes, struct kf_schema *schema)
{
    bool good = true;
    pthread_mutex_lock(&classes->lock);
    for (size_t k = schema->classes; k < classes->known.classes && good; k++)
        good = kf_schema_add_class(schema, classes->known.label[k], classes->known.class_name[k]);
    pthread_mutex_unlock(&classes->lock);
    return good;
}
