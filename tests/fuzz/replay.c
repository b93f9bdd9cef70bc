/* Runs a fuzz target over files, without libFuzzer: every file of the folders given. A law that does not hold ends the
 * program, after the name of the file has been printed. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <string.h>

#include "fuzz.h"
#include "tap.h"

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay(struct tap *tap, const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    TAP_NEED(file);
    TAP_NEED(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    TAP_NEED(size >= 0);
    rewind(file);
    uint8_t *bytes = malloc(size ? (size_t)size : 1); /* no more than there is: reading beyond it is noticed */
    TAP_NEED(bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    printf("# %s\n", name);
    fflush(stdout);
    tap_check(tap, LLVMFuzzerTestOneInput(bytes, (size_t)size) == 0, "%s", name);
    free(bytes);
}

int main(int count, char **arguments)
{
    struct tap tap = {0};
    for (int k = 1; k < count; k++) {
        struct dirent **entries;
        int files = scandir(arguments[k], &entries, is_visible, by_name);
        TAP_NEED(files > 0);
        for (int f = 0; f < files; f++) {
            replay(&tap, arguments[k], entries[f]->d_name);
            free(entries[f]);
        }
        free(entries);
    }
    return tap_end(&tap);
}
