/* The convex set D that the model stays in, known to everybody else through its projection. */
#ifndef KF_DOMAIN_H
#define KF_DOMAIN_H

#include "keepfit.h"

struct kf_domain {
    const struct kf_domain_type *type;
    double first, second; /* ball: radius; box: low, high */
    double *scratch,
        *spare; /* vectors of the model's size, for projections and for bounds by them; NULL in the whole space */
};

struct kf_domain_type {
    const char *name, *form, *summary;
    size_t numbers; /* how many stand after the name */
    /* Replaces x by the nearest point of D. scratch has room for count numbers. */
    void (*project)(const struct kf_domain *domain, size_t count, double *x, double *scratch);
    /* The largest norm of a point of D; infinite when unbounded. */
    double (*radius)(const struct kf_domain *domain, size_t count);
    double (*diameter)(const struct kf_domain *domain, size_t count);
    /* How far what project() makes of x may be from the nearest point, for rounding. */
    double (*rounding)(const struct kf_domain *domain, size_t count);
    /* The largest -v.y, y in D. */
    double (*support)(const struct kf_domain *domain, size_t count, const double *v);
    /* Where D is given by bounds that are the same for all coordinates, and perhaps by their sum; otherwise NULL. */
    double (*lowest)(const struct kf_domain *domain);
    double (*highest)(const struct kf_domain *domain);
    bool constant_sum;
};

/* Reads "none", "ball:R", "box:LO:HI" or "simplex". */
keepfit_status kf_domain_read(struct kf_domain *domain, const char *text, keepfit_error *error);
const struct kf_domain_type *kf_domain_entry(size_t k);
bool kf_domain_is_whole(const struct kf_domain *domain);

#endif
