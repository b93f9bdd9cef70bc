/* A disk in memory whose power can be cut. It remembers every change since the beginning, and which of them have been synced: of
 * those that have not, a power cut keeps some, drops some and tears some writes into sectors, as the seed says, so that later ones may
 * survive earlier ones. Contents become durable by syncing the file, names by syncing the folder. */
#ifndef KEEPFIT_TESTS_WORLD_H
#define KEEPFIT_TESTS_WORLD_H

#include "base/random.h"
#include "keepfit.h"

struct world {
    keepfit_disk disk; /* give &world->disk to keepfit_options_disk */
    struct node *nodes;
    size_t node_count, node_capacity;
    struct change *changes;
    size_t change_count, change_capacity;
    struct handle *handles;
    size_t handle_count, handle_capacity;
    uint64_t calls;  /* that change something, so far */
    uint64_t cut_at; /* the call at which the power goes; 0: never */
    int failure;     /* what every call returns since: -EIO, or 0 */

    /* Faults that leave the power on: the call of this number fails in this way, once or from then on. */
    uint64_t fail_at;
    int fail_with;
    bool fail_for_good;
};

struct world *world_create(void);
void world_free(struct world *world);

/* The power was cut, and is back: what has survived is all there is, and it is durable. */
void world_reboot(struct world *world, struct kf_random *random);

/* Only the process has died: all is there, and what was not durable is not. */
void world_restart(struct world *world);

/* A file's contents, to look at or to change in place; NULL: there is none. */
unsigned char *world_file(struct world *world, const char *path, size_t *size);
/* Cuts a file short, durably. */
void world_shorten(struct world *world, const char *path, size_t size);
/* The name of the k-th entry of a folder, from 0; NULL past the last. */
const char *world_name(struct world *world, const char *folder, size_t k);

#endif
