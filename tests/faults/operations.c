#define _XOPEN_SOURCE 700 /* nftw */
#include "operations.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/crc32c.h"
#include "failing_memory.h"
#include "tap.h"

/* In memory where that can be had, for the sake of speed. */
static char folders[][40] = {"/dev/shm/keepfit-faults-XXXXXX", "/tmp/keepfit-faults-XXXXXX"};
static const char *folder;

static void no_calm(void)
{
}

void (*operations_calm)(void) = no_calm;

void add_to_digest(struct outcome *outcome, const void *bytes, size_t count)
{
    if (count)
        outcome->digest = outcome->digest << 32 ^ outcome->digest >> 17 ^ kf_crc32c(0, bytes, count);
}

keepfit_status make_options(const char *settings, keepfit_options **options, keepfit_error *error)
{
    char copy[512], *rest = NULL;
    keepfit_options *made = keepfit_options_create();
    keepfit_stop *stop = keepfit_stop_create();
    keepfit_status status = made && stop ? KEEPFIT_OK : KEEPFIT_NO_MEMORY;
    error->status = status;
    if (status == KEEPFIT_OK)
        keepfit_options_stop(made, stop);
    keepfit_stop_free(stop);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok_r(copy, " ", &rest); word && status == KEEPFIT_OK; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        TAP_NEED(value);
        *value++ = '\0';
        status = keepfit_options_set(made, word, value, error);
    }
    if (status == KEEPFIT_OK)
        *options = made;
    else
        keepfit_options_free(made);
    return status;
}

/* ---- files ---- */

const char *operations_path(const char *name)
{
    static char paths[16][320];
    static size_t turn;
    char *path = paths[turn++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(operations_path(name), "wb");
    TAP_NEED(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static void write_gzip(const char *name, const void *bytes, size_t count)
{
    gzFile file = gzopen(operations_path(name), "wb");
    TAP_NEED(file && gzwrite(file, bytes, (unsigned)count) == (int)count && gzclose(file) == Z_OK);
}

static void write_npy(const char *name, const char *shape, const unsigned char *bytes, size_t count)
{
    char file[256] = "\x93NUMPY\x01";
    int length =
        snprintf(file + 10, sizeof file - 10, "{'descr': '|u1', 'fortran_order': False, 'shape': %s}\n", shape);
    file[8] = (char)length;
    memcpy(file + 10 + length, bytes, count);
    write_file(name, file, 10 + (size_t)length + count);
}

void operations_begin(void)
{
    static const char rows[] = "1 1:0.5 3:-2\n-1 2:1\n1 1:1 2:-1 7:3\n-1 5:0.25 9:1.5\n-1 1:1e-5\n1 3:2\n";
    static const char table[] = "a,\"b\",y\n1,2,1\n2,1,-1\n3,0.5,1\n-1,2,-1\n";
    static const char named[] = "b,a,kind\n1,2,ok\n2,1,no\n3,0.5,ok\n-1,2,no\n";
    static const char typed[] =
        "id,t,c,n,y\ne1,2024-01-02,\"a\nb\",1.5,yes\ne2,NA,\"c \"\"d\"\"\",,no\ne3,2024-02-03,e f,3,yes\n";
    static const char lines[] = "{\"a\":{\"b\":\"x\"},\"n\":1,\"y\":0}\n{\"a\":{\"b\":\"\\u00e4\"},\"y\":1}\n";
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 3, 4, 0, 6, 7, 8};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 0};
    folder = mkdtemp(folders[0]) ? folders[0] : mkdtemp(folders[1]);
    TAP_NEED(folder);
    write_file("rows.svm", rows, sizeof rows - 1);
    write_gzip("rows.svm.gz", rows, sizeof rows - 1);
    write_file("table.csv", table, sizeof table - 1);
    write_file("named.csv", named, sizeof named - 1);
    write_file("typed.csv", typed, sizeof typed - 1);
    write_file("lines.jsonl", lines, sizeof lines - 1);
    TAP_NEED(mkfifo(operations_path("pipe"), 0600) == 0);
    write_npy("rows.npy", "(3, 2)", (const unsigned char *)"\1\2\3\4\5\6", 6);
    write_npy("targets.npy", "(3,)", (const unsigned char *)"\0\1\0", 3);
    write_file("x-images-idx3-ubyte", images, sizeof images);
    write_file("x-labels-idx1-ubyte", labels, sizeof labels);
}

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *place)
{
    (void)state, (void)kind, (void)place;
    return remove(path);
}

void operations_wipe(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void operations_end(void)
{
    operations_wipe(folder);
}

static void run_calmly(const struct operation *operation, struct outcome *outcome)
{
    if (operation->prepare)
        operation->prepare(operation);
    memory_arm(0, false);
    operation->run(operation, outcome);
}

bool operation_works(struct tap *tap, const struct operation *operation, struct outcome *expected)
{
    struct outcome first = {0};
    run_calmly(operation, &first); /* what is made once for all is made now */
    run_calmly(operation, expected);
    bool works = expected->status == KEEPFIT_OK && !expected->breach && memory_held() == 0;
    if (!tap_check(tap, works, "%s: works", operation->name))
        printf("# %s %s\n", expected->error.message, expected->breach ? expected->breach : "");
    return works;
}
