#include "iterate/norms.h"

#include <assert.h>
#include <math.h>

#include "iterate/scaled.h"

void kf_norms_measure(struct kf_task *task)
{
    const struct kf_iterate *iterate = &task->iterate;
    double vv = 0, vm = 0, mm = 0;
    for (size_t k = task->problem.objective.free; k < kf_size(&task->problem); k++) {
        double v = *kf_v(iterate, k), m = kf_m(iterate, k);
        vv += v * v;
        vm += v * m;
        mm += m * m;
    }
    task->iterate.norms = (struct kf_norms){.kept = iterate->norms.kept, .vv = vv, .vm = vm, .mm = mm, .peak = vv};
}

void kf_norms_follow(struct kf_task *task, double vv, double vm, double mm)
{
    struct kf_norms *norms = &task->iterate.norms;
    assert(norms->kept);
    kf_norms_add(norms, vv, vm, mm);
    norms->peak = fmax(norms->peak, norms->vv);
    if (norms->vv < 1e-4 * norms->peak)
        kf_norms_measure(task); /* what is left is mostly the rounding of what was there */
}

void kf_norms_count_step(struct kf_task *task)
{
    if (++task->iterate.norms.since > 1000 + kf_size(&task->problem) / 4)
        kf_norms_measure(task);
}
