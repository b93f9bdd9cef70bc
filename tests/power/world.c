#define _POSIX_C_SOURCE 200809L
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tap.h"

#define SECTOR 512
#define ROOT 0

struct entry {
    char *name;
    size_t node;
};

struct node {
    bool folder;
    unsigned char *bytes;
    size_t size, capacity;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    bool locked;
};

enum change_kind { CHANGE_WRITE, CHANGE_TRUNCATE, CHANGE_LINK, CHANGE_UNLINK, CHANGE_RENAME };

struct change {
    enum change_kind kind;
    bool durable;
    size_t node; /* the file, or the folder of the name */
    uint64_t offset;
    unsigned char *bytes;
    size_t count;
    char *name, *new_name;
    size_t target; /* LINK, RENAME: what the name stands for */
};

struct handle {
    size_t node;
    bool open, holds_lock;
};

/* ---- changes, and what they do ---- */

static size_t find_entry(const struct node *folder, const char *name)
{
    size_t k = 0;
    while (k < folder->entry_count && strcmp(folder->entries[k].name, name) != 0)
        k++;
    return k;
}

static void unlink_name(struct node *folder, const char *name)
{
    size_t k = find_entry(folder, name);
    if (k == folder->entry_count)
        return;
    free(folder->entries[k].name);
    folder->entries[k] = folder->entries[--folder->entry_count];
}

static void link_name(struct node *folder, const char *name, size_t node)
{
    unlink_name(folder, name);
    TAP_NEED(KF_RESERVE(folder->entries, folder->entry_capacity, folder->entry_count + 1));
    folder->entries[folder->entry_count++] = (struct entry){strdup(name), node};
}

static void resize(struct node *node, size_t size)
{
    TAP_NEED(KF_RESERVE(node->bytes, node->capacity, size + 1));
    if (size > node->size)
        memset(node->bytes + node->size, 0, size - node->size);
    node->size = size;
}

static void apply(struct world *world, const struct change *change)
{
    struct node *node = &world->nodes[change->node];
    switch (change->kind) {
    case CHANGE_WRITE:
        if (change->offset + change->count > node->size)
            resize(node, change->offset + change->count);
        memcpy(node->bytes + change->offset, change->bytes, change->count);
        break;
    case CHANGE_TRUNCATE:
        resize(node, change->offset);
        break;
    case CHANGE_LINK:
        link_name(node, change->name, change->target);
        break;
    case CHANGE_UNLINK:
        unlink_name(node, change->name);
        break;
    case CHANGE_RENAME: { /* of this very file, whatever else may have had its name */
        size_t k = find_entry(node, change->name);
        if (k < node->entry_count && node->entries[k].node == change->target)
            unlink_name(node, change->name);
        link_name(node, change->new_name, change->target);
        break;
    }
    }
}

static void record(struct world *world, struct change change)
{
    TAP_NEED(KF_RESERVE(world->changes, world->change_capacity, world->change_count + 1));
    world->changes[world->change_count++] = change;
    apply(world, &change);
}

static void free_change(struct change *change)
{
    free(change->bytes);
    free(change->name);
    free(change->new_name);
}

static size_t add_node(struct world *world, bool folder)
{
    TAP_NEED(KF_RESERVE(world->nodes, world->node_capacity, world->node_count + 1));
    world->nodes[world->node_count] = (struct node){.folder = folder};
    return world->node_count++;
}

/* ---- paths ---- */

/* The folder that the path's last name is in, and that name; false: there is no such folder. */
static bool find_folder(struct world *world, const char *path, size_t *folder, const char **name)
{
    *folder = ROOT;
    for (;;) {
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (!path[length]) {
            *name = path;
            return world->nodes[*folder].folder;
        }
        char part[256];
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        size_t k = strcmp(part, ".") == 0 ? SIZE_MAX : find_entry(&world->nodes[*folder], part);
        if (k != SIZE_MAX && k == world->nodes[*folder].entry_count)
            return false;
        if (k != SIZE_MAX)
            *folder = world->nodes[*folder].entries[k].node;
        path += length;
    }
}

static bool find_node(struct world *world, const char *path, size_t *node)
{
    const char *name;
    size_t folder;
    if (!find_folder(world, path, &folder, &name))
        return false;
    if (!*name || strcmp(name, ".") == 0) {
        *node = folder;
        return true;
    }
    size_t k = find_entry(&world->nodes[folder], name);
    if (k == world->nodes[folder].entry_count)
        return false;
    *node = world->nodes[folder].entries[k].node;
    return true;
}

/* ---- the table of functions ---- */

/* Every call that changes something begins here: 0, or the failure that is due. */
static int begin(struct world *world)
{
    if (world->failure)
        return world->failure;
    world->calls++;
    if (world->cut_at && world->calls >= world->cut_at)
        return world->failure = -EIO;
    if (world->fail_at && (world->calls == world->fail_at || (world->fail_for_good && world->calls > world->fail_at)))
        return world->fail_with;
    return 0;
}

static int disk_open(void *context, const char *path, unsigned access, unsigned permissions)
{
    struct world *world = context;
    const char *name;
    size_t folder, node;
    (void)permissions;
    if (world->failure)
        return world->failure;
    bool there = find_node(world, path, &node);
    if (there && access & KEEPFIT_DISK_EXCLUSIVE)
        return -EEXIST;
    if (there && world->nodes[node].folder)
        return -EISDIR;
    if (!there) {
        int problem = access & KEEPFIT_DISK_CREATE ? begin(world) : -ENOENT;
        if (problem)
            return problem;
        if (!find_folder(world, path, &folder, &name))
            return -ENOENT;
        node = add_node(world, false);
        record(world, (struct change){.kind = CHANGE_LINK, .node = folder, .name = strdup(name), .target = node});
    }
    TAP_NEED(KF_RESERVE(world->handles, world->handle_capacity, world->handle_count + 1));
    world->handles[world->handle_count] = (struct handle){.node = node, .open = true};
    return (int)world->handle_count++;
}

static struct handle *handle_of(struct world *world, int file)
{
    TAP_NEED(file >= 0 && (size_t)file < world->handle_count && world->handles[file].open);
    return &world->handles[file];
}

static struct node *node_of(struct world *world, int file)
{
    return &world->nodes[handle_of(world, file)->node];
}

static int disk_close(void *context, int file)
{
    struct handle *handle = handle_of(context, file);
    if (handle->holds_lock)
        node_of(context, file)->locked = false;
    handle->open = false;
    return 0;
}

static int64_t disk_read(void *context, int file, void *bytes, size_t count, uint64_t offset)
{
    struct world *world = context;
    const struct node *node = node_of(world, file);
    if (world->failure)
        return world->failure;
    if (offset >= node->size)
        return 0;
    if (count > node->size - offset)
        count = node->size - offset;
    memcpy(bytes, node->bytes + offset, count);
    return (int64_t)count;
}

static int64_t disk_write(void *context, int file, const void *bytes, size_t count, uint64_t offset)
{
    struct world *world = context;
    size_t node = handle_of(world, file)->node;
    int problem = begin(world);
    if (problem)
        return problem;
    if (count > 1 && world->calls % 5 == 0)
        count /= 2; /* short writes are always possible */
    unsigned char *copy = malloc(count);
    TAP_NEED(copy);
    memcpy(copy, bytes, count);
    record(world, (struct change){.kind = CHANGE_WRITE, .node = node, .offset = offset, .bytes = copy, .count = count});
    return (int64_t)count;
}

static int64_t disk_size(void *context, int file)
{
    return (int64_t)node_of(context, file)->size;
}

static int disk_truncate(void *context, int file, uint64_t size)
{
    struct world *world = context;
    int problem = begin(world);
    if (problem == 0)
        record(world, (struct change){.kind = CHANGE_TRUNCATE, .node = handle_of(world, file)->node, .offset = size});
    return problem;
}

/* The changes of one node become durable: a file's contents, or a folder's names. */
static int sync_node(struct world *world, size_t node)
{
    int problem = begin(world);
    for (size_t k = 0; k < world->change_count && problem == 0; k++)
        if (world->changes[k].node == node)
            world->changes[k].durable = true;
    return problem;
}

static int disk_sync(void *context, int file)
{
    return sync_node(context, handle_of(context, file)->node);
}

static int disk_map(void *context, int file, size_t size, const void **bytes)
{
    struct world *world = context;
    const struct node *node = node_of(world, file);
    if (world->failure)
        return world->failure;
    unsigned char *copy = malloc(size);
    TAP_NEED(copy && size <= node->size);
    memcpy(copy, node->bytes, size);
    *bytes = copy;
    return 0;
}

static int disk_unmap(void *context, const void *bytes, size_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)bytes);
    return 0;
}

static int disk_lock(void *context, int file)
{
    struct node *node = node_of(context, file);
    if (node->locked)
        return -EWOULDBLOCK;
    node->locked = handle_of(context, file)->holds_lock = true;
    return 0;
}

static int disk_rename(void *context, const char *from, const char *to)
{
    struct world *world = context;
    const char *name, *new_name;
    size_t folder, other, target;
    int problem = begin(world);
    if (problem)
        return problem;
    if (!find_folder(world, from, &folder, &name) || !find_folder(world, to, &other, &new_name) || folder != other ||
        !find_node(world, from, &target))
        return -ENOENT;
    record(world, (struct change){.kind = CHANGE_RENAME,
                                  .node = folder,
                                  .name = strdup(name),
                                  .new_name = strdup(new_name),
                                  .target = target});
    return 0;
}

static int disk_remove(void *context, const char *path)
{
    struct world *world = context;
    const char *name;
    size_t folder, node;
    if (world->failure)
        return world->failure;
    if (!find_node(world, path, &node))
        return -ENOENT;
    if (world->nodes[node].folder && world->nodes[node].entry_count)
        return -ENOTEMPTY;
    int problem = begin(world);
    if (problem == 0 && find_folder(world, path, &folder, &name))
        record(world, (struct change){.kind = CHANGE_UNLINK, .node = folder, .name = strdup(name)});
    return problem;
}

static int disk_make_folder(void *context, const char *path)
{
    struct world *world = context;
    const char *name;
    size_t folder, node;
    if (find_node(world, path, &node))
        return -EEXIST;
    int problem = begin(world);
    if (problem == 0 && !find_folder(world, path, &folder, &name))
        problem = -ENOENT;
    if (problem == 0) {
        node = add_node(world, true);
        record(world, (struct change){.kind = CHANGE_LINK, .node = folder, .name = strdup(name), .target = node});
    }
    return problem;
}

static int disk_sync_folder(void *context, const char *path)
{
    size_t node;
    return find_node(context, path, &node) ? sync_node(context, node) : -ENOENT;
}

static int disk_list(void *context, const char *path, int (*visit)(void *argument, const char *name), void *argument)
{
    struct world *world = context;
    size_t node;
    int result = world->failure;
    if (result == 0 && !find_node(world, path, &node))
        result = -ENOENT;
    for (size_t k = 0; result == 0 && k < world->nodes[node].entry_count; k++)
        result = visit(argument, world->nodes[node].entries[k].name);
    return result;
}

static int disk_examine(void *context, const char *path, keepfit_disk_kind *kind, unsigned *permissions)
{
    struct world *world = context;
    size_t node;
    if (world->failure)
        return world->failure;
    if (!find_node(world, path, &node))
        return -ENOENT;
    *kind = world->nodes[node].folder ? KEEPFIT_DISK_FOLDER : KEEPFIT_DISK_FILE;
    if (permissions)
        *permissions = 0;
    return 0;
}

static int disk_resolve(void *context, const char *path, char **place)
{
    size_t node;
    if (!find_node(context, path, &node))
        return -ENOENT;
    *place = strdup(path);
    return *place ? 0 : -ENOMEM;
}

struct world *world_create(void)
{
    struct world *world = calloc(1, sizeof *world);
    TAP_NEED(world);
    world->disk = (keepfit_disk){.struct_size = sizeof(keepfit_disk),
                                 .context = world,
                                 .open = disk_open,
                                 .close = disk_close,
                                 .read = disk_read,
                                 .write = disk_write,
                                 .size = disk_size,
                                 .truncate = disk_truncate,
                                 .sync = disk_sync,
                                 .map = disk_map,
                                 .unmap = disk_unmap,
                                 .lock = disk_lock,
                                 .rename = disk_rename,
                                 .remove = disk_remove,
                                 .make_folder = disk_make_folder,
                                 .sync_folder = disk_sync_folder,
                                 .list = disk_list,
                                 .examine = disk_examine,
                                 .resolve = disk_resolve};
    add_node(world, true);
    return world;
}

/* ---- power ---- */

static void empty_nodes(struct world *world)
{
    for (size_t k = 0; k < world->node_count; k++) {
        struct node *node = &world->nodes[k];
        while (node->entry_count)
            unlink_name(node, node->entries[0].name);
        node->size = 0;
    }
}

/* Some sectors of a write arrive, or only its beginning: what arrives is one change each. */
static void tear(struct world *world, const struct change *change, struct kf_random *random)
{
    bool prefix = kf_random_below(random, 2) == 0;
    size_t reach = prefix ? (size_t)kf_random_below(random, change->count + 1) : change->count;
    for (size_t at = 0; at < reach;) {
        size_t end = at + SECTOR - (change->offset + at) % SECTOR;
        end = end < reach ? end : reach;
        if (prefix || kf_random_below(random, 2)) {
            unsigned char *copy = malloc(end - at);
            TAP_NEED(copy);
            memcpy(copy, change->bytes + at, end - at);
            record(world, (struct change){.kind = CHANGE_WRITE,
                                          .durable = true,
                                          .node = change->node,
                                          .offset = change->offset + at,
                                          .bytes = copy,
                                          .count = end - at});
        }
        at = end;
    }
}

void world_reboot(struct world *world, struct kf_random *random)
{
    struct change *changes = world->changes;
    size_t count = world->change_count;
    uint64_t kept = kf_random_below(random, 101); /* per cent */
    world->changes = NULL;
    world->change_count = world->change_capacity = 0;
    empty_nodes(world);
    for (size_t k = 0; k < count; k++) {
        struct change *change = &changes[k];
        if (!change->durable && change->kind == CHANGE_WRITE && kf_random_below(random, 3) == 0) {
            tear(world, change, random);
            free_change(change);
        } else if (change->durable || kf_random_below(random, 100) < kept) {
            change->durable = true;
            record(world, *change);
        } else {
            free_change(change);
        }
    }
    free(changes);
    world_restart(world);
}

void world_restart(struct world *world)
{
    for (size_t k = 0; k < world->node_count; k++)
        world->nodes[k].locked = false;
    world->handle_count = 0;
    world->cut_at = world->fail_at = 0;
    world->failure = 0;
}

void world_free(struct world *world)
{
    empty_nodes(world);
    for (size_t k = 0; k < world->node_count; k++) {
        free(world->nodes[k].entries);
        free(world->nodes[k].bytes);
    }
    for (size_t k = 0; k < world->change_count; k++)
        free_change(&world->changes[k]);
    free(world->changes);
    free(world->handles);
    free(world->nodes);
    free(world);
}

unsigned char *world_file(struct world *world, const char *path, size_t *size)
{
    size_t node;
    if (!find_node(world, path, &node) || world->nodes[node].folder)
        return NULL;
    *size = world->nodes[node].size;
    return world->nodes[node].bytes;
}

void world_shorten(struct world *world, const char *path, size_t size)
{
    size_t node;
    TAP_NEED(find_node(world, path, &node));
    record(world, (struct change){.kind = CHANGE_TRUNCATE, .durable = true, .node = node, .offset = size});
}

const char *world_name(struct world *world, const char *folder, size_t k)
{
    size_t node;
    return find_node(world, folder, &node) && k < world->nodes[node].entry_count ? world->nodes[node].entries[k].name
                                                                                 : NULL;
}
