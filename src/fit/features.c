/* What this build offers, gathered from the families' own tables. */
#include <string.h>

#include "base/sized.h"
#include "domain/domain.h"
#include "kernels/kernels.h"
#include "method/method.h"
#include "objective/loss.h"
#include "stream/stream.h"

static const keepfit_entry features[] = {
    {.name = "gzip", .summary = "reads gzip-compressed data (zlib)"},
    {.name = "teams", .summary = "several processes keep one model (keepfit-team.h; keepfit-mpi, where MPI is)"},
    {.name = "custom-objectives", .summary = "user-written objectives through callbacks"},
};

static bool name_entry(const char *name, const char *summary, keepfit_entry *entry)
{
    KF_GIVE(entry, (&(keepfit_entry){.name = name, .summary = summary}));
    return true;
}

static bool kernels_entry(const struct kf_kernels *kernels, keepfit_entry *entry)
{
    bool used = kernels == kf_kernels_best();
    return kernels &&
           name_entry(kernels->name,
                      used ? "inner loops that this processor runs, and those in use (KEEPFIT_VECTORS chooses)"
                           : "inner loops that this processor runs",
                      entry);
}

bool keepfit_family_entry(keepfit_family family, size_t k, keepfit_entry *entry)
{
    switch (family) {
    case KEEPFIT_METHODS: {
        const struct kf_method *method = kf_method_entry(k);
        return method && name_entry(method->name, method->summary, entry);
    }
    case KEEPFIT_LOSSES: {
        const struct kf_loss *loss = kf_loss_entry(k);
        return loss && name_entry(loss->network ? loss->network : loss->name, loss->summary, entry);
    }
    case KEEPFIT_DOMAINS: {
        const struct kf_domain_type *domain = kf_domain_entry(k);
        return domain && name_entry(domain->form, domain->summary, entry);
    }
    case KEEPFIT_FORMATS:
        return kf_format_entry(k, entry);
    case KEEPFIT_FEATURES:
        if (k < sizeof features / sizeof features[0])
            return name_entry(features[k].name, features[k].summary, entry);
        k -= sizeof features / sizeof features[0];
        return kernels_entry(kf_kernels_entry(k), entry);
    }
    return false;
}

unsigned keepfit_loss_traits(const char *name)
{
    static const unsigned traits[] = {
        [KF_NUMBERS] = KEEPFIT_LOSS_NUMBERS,
        [KF_TWO_CLASSES] = KEEPFIT_LOSS_TWO_CLASSES,
        [KF_MANY_CLASSES] = KEEPFIT_LOSS_MANY_CLASSES,
    };
    char family[32] = ""; /* what stands before a colon */
    size_t length = strcspn(name, ":");
    if (length < sizeof family)
        memcpy(family, name, length);
    const struct kf_loss *loss = kf_loss_find(family);
    if (!loss || (strchr(name, ':') && !loss->network))
        return 0;
    return traits[loss->targets] | (loss->probabilities ? KEEPFIT_LOSS_PROBABILITIES : 0);
}
