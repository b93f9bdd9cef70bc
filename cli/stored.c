#define _POSIX_C_SOURCE 200809L
#include "stored.h"

#include <string.h>
#include <sys/stat.h>

#include "toolkit/output.h"

enum stored_kind stored_kind(const char *path)
{
    struct stat state;
    char magic[8] = "";
    if (stat(path, &state) != 0)
        return STORED_MODEL;
    if (S_ISDIR(state.st_mode))
        return STORED_JOURNAL;
    FILE *file = S_ISREG(state.st_mode) ? fopen(path, "rb") : NULL;
    bool whole = file && fread(magic, 1, sizeof magic, file) == sizeof magic;
    if (file)
        fclose(file);
    return whole && memcmp(magic, "keepfitC", sizeof magic) == 0 ? STORED_CHECKPOINT : STORED_MODEL;
}

keepfit_status stored_model(const char *path, const keepfit_options *options, keepfit_model **model,
                            keepfit_error *error)
{
    return stored_kind(path) == STORED_JOURNAL ? keepfit_journal_model(path, options, model, error)
                                               : keepfit_model_load(path, model, error);
}

const char *stored_class(const keepfit_schema *schema, double label, char room[32])
{
    const char *name = keepfit_schema_class(schema, label);
    if (name)
        return name;
    snprintf(room, 32, "%.17g", label);
    return room;
}
