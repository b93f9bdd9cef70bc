#include "stream/format.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/sized.h"
#include "stream/stream.h"

/* How far the first line of data may lie before the format is taken from what there is. */
#define FARTHEST ((size_t)1 << 16)
#define MAGIC_BYTES 8

/* In the order in which they are asked whether they recognise something. */
static const struct kf_reader *const readers[] = {&kf_reader_libsvm, &kf_reader_csv, &kf_reader_jsonl, &kf_reader_npy,
                                                  &kf_reader_idx};

#define READERS (sizeof readers / sizeof readers[0])

bool kf_format_entry(size_t k, keepfit_entry *entry)
{
    if (k >= READERS)
        return false;
    KF_GIVE(entry, (&(keepfit_entry){.name = readers[k]->name, .summary = readers[k]->summary}));
    return true;
}

/* Steps through words separated by blanks. */
static bool next_word(const char **list, const char **word, size_t *length)
{
    *word = *list + strspn(*list, " ");
    *length = strcspn(*word, " ");
    *list = *word + *length;
    return *length > 0;
}

static bool has_extension(const char *name, size_t length, const char *list)
{
    const char *word;
    size_t size;
    while (next_word(&list, &word, &size))
        if (size < length && strncasecmp(name + length - size, word, size) == 0)
            return true;
    return false;
}

static bool has_part(const char *name, size_t length, const char *list)
{
    const char *word;
    size_t size;
    while (next_word(&list, &word, &size))
        for (size_t at = 0; at + size <= length; at++)
            if (strncasecmp(name + at, word, size) == 0)
                return true;
    return false;
}

static const struct kf_reader *find_by_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (has_extension(name, length, ".gz"))
        length -= 3;
    for (size_t k = 0; k < READERS; k++)
        if (has_extension(name, length, readers[k]->extensions) || has_part(name, length, readers[k]->name_parts))
            return readers[k];
    return NULL;
}

static const struct kf_reader *find_by_bytes(bool binary, const unsigned char *bytes, size_t count)
{
    for (size_t k = 0; k < READERS; k++)
        if (readers[k]->binary == binary && readers[k]->recognises(bytes, count))
            return readers[k];
    return NULL;
}

/* Moves *bytes to the first line that is neither blank nor a comment. False: it does not lie whole within
 * count. */
static bool find_data_line(const unsigned char **bytes, size_t *count)
{
    const unsigned char *at = *bytes, *end = at + *count;
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at < end) {
        const unsigned char *newline = memchr(at, '\n', (size_t)(end - at)), *first = at;
        while (first < end && (*first == ' ' || *first == '\t' || *first == '\r'))
            first++;
        *bytes = first;
        *count = (size_t)(end - first);
        if (!newline)
            return false;
        if (*first != '\n' && *first != '#')
            return true;
        at = newline + 1;
    }
    *bytes = end;
    *count = 0;
    return false;
}

/* Reads on, piece by piece, until there is enough to decide; a pipe is not waited for longer than that. */
static keepfit_status find_by_content(struct kf_source *source, const struct kf_reader **reader, keepfit_error *error)
{
    const unsigned char *bytes;
    size_t count, before = 0, wanted = 4;
    keepfit_status status;
    while ((status = kf_source_peek(source, wanted, &bytes, &count, error)) == KEEPFIT_OK) {
        *reader = find_by_bytes(true, bytes, count);
        if (*reader)
            return KEEPFIT_OK;
        bool last = count < wanted || count >= FARTHEST || count == before;
        before = count;
        wanted = count + 1;
        if (find_data_line(&bytes, &count) || last) {
            *reader = find_by_bytes(false, bytes, count);
            if (!*reader)
                *reader = &kf_reader_libsvm;
            return KEEPFIT_OK;
        }
    }
    return status;
}

keepfit_status kf_format_find(const char *wanted, const char *path, struct kf_source *source,
                              const struct kf_reader **reader, keepfit_error *error)
{
    if (wanted && strcmp(wanted, "auto") != 0) {
        for (size_t k = 0; k < READERS; k++)
            if (strcmp(readers[k]->name, wanted) == 0) {
                *reader = readers[k];
                return KEEPFIT_OK;
            }
        keepfit_guess guess = {.word = wanted};
        keepfit_guess_offer(&guess, "auto|libsvm|csv|jsonl|npy|idx");
        return kf_fail(error, KEEPFIT_USAGE, "{format}: '%s' is none of auto, libsvm, csv, jsonl, npy, idx%s", wanted,
                       keepfit_guess_hint(&guess, ""));
    }
    *reader = strcmp(path, "-") == 0 ? NULL : find_by_path(path);
    return *reader ? KEEPFIT_OK : find_by_content(source, reader, error);
}
