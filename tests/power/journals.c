#include "journals.h"

keepfit_status journal_fit(struct world *world, const char *text, keepfit_fit **fit, keepfit_error *error)
{
    keepfit_options *options = options_from(text);
    keepfit_options_disk(options, &world->disk);
    keepfit_status status = keepfit_fit_create(options, fit, error);
    keepfit_options_free(options);
    return status;
}

keepfit_fit *journal_fit_sound(struct world *world, const char *text)
{
    keepfit_fit *fit = NULL;
    keepfit_error error = {.struct_size = sizeof error};
    if (journal_fit(world, text, &fit, &error) != KEEPFIT_OK) {
        printf("Bail out! %s\n", error.message);
        exit(2);
    }
    return fit;
}

keepfit_status journal_look(struct world *world, keepfit_journal **journal, keepfit_error *error)
{
    keepfit_options *options = options_from("");
    keepfit_options_disk(options, &world->disk);
    keepfit_status status = keepfit_journal_open(FOLDER, options, journal, error);
    keepfit_options_free(options);
    return status;
}

bool journal_same_point(const keepfit_point *a, const keepfit_point *b)
{
    bool same = a->row.count == b->row.count && a->target == b->target && a->weight == b->weight;
    for (size_t k = 0; same && k < a->row.count; k++)
        same = a->row.value[k] == b->row.value[k] &&
               (a->row.index ? a->row.index[k] : k) == (b->row.index ? b->row.index[k] : k);
    return same;
}

struct world *journal_small(const struct cloud *cloud, bool checkpoint)
{
    struct world *world = world_create();
    const char *text = "loss=logistic lambda=0.1 journal=" FOLDER " segment-bytes=4096";
    keepfit_fit *fit = journal_fit_sound(world, text);
    push_range(fit, cloud, 0, SMALL - 2);
    if (checkpoint)
        TAP_NEED(keepfit_fit_checkpoint(fit) == KEEPFIT_OK);
    push_range(fit, cloud, SMALL - 2, SMALL);
    keepfit_fit_free(fit);
    return world;
}

bool journal_is_prefix(keepfit_journal *journal, const struct cloud *cloud, size_t least)
{
    keepfit_point point;
    size_t k = 0;
    while (keepfit_journal_next(journal, &point, NULL) == KEEPFIT_OK)
        if (k == SMALL || !journal_same_point(&point, &cloud->point[k++]))
            return false;
    return k >= least;
}
