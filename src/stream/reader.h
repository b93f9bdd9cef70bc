/* What a format is: a const record of functions, and the state they share. The stream opens the source,
 * allocates the state (zeroed), counts, skips bad rows and applies limit; a reader turns bytes into points.
 */
#ifndef KF_READER_H
#define KF_READER_H

#include "base/error.h"
#include "stream/classes.h"
#include "stream/lines.h"
#include "stream/recipe.h"

/* Whether targets may be texts. EITHER: the first one decides for all. */
enum kf_texts { KF_TEXTS_NEVER, KF_TEXTS_EITHER, KF_TEXTS_ALWAYS };

/* What the rows are for. */
struct kf_wanted {
    const keepfit_schema *schema; /* while opening: what is known of the columns; NULL: nothing */
    bool fixed;                   /* for a model: the rows have its features, no more and no fewer */
    uint64_t features;            /* then: how many these are */
    bool exact;                   /* and whether that is known, or only how many there were in sparse rows */
    bool spare;                   /* features that the model does not have are left out */
    bool plain;   /* columns have no types: there are points before, and it is not known what theirs were */
    bool targets; /* targets are wanted; otherwise nobody looks at them */
    enum kf_texts texts;
};

/* What a reader is given, and what it reports besides the points. */
struct kf_input {
    const char *path; /* "-": standard input */
    const char *name; /* as messages call it */
    const keepfit_options *options;
    struct kf_source *source;
    struct kf_wanted wanted;
    struct kf_classes *classes; /* what targets that are texts stand for */
    struct kf_recipe *recipe;   /* of a table with types: filled by open; without columns: the table has none */
    struct kf_schema columns;   /* set by open: what the columns are called, where there are columns */
    char *targets;          /* likewise: the file that has the targets, to be freed with the stream; NULL: none has */
    uint64_t target_column; /* likewise: the target's, from 1, as the file counts; 0: it has none */
    bool labelled;          /* likewise: the points have targets */
    bool sparse;            /* likewise: columns of zeros leave no trace in the points */
    uint64_t total;         /* likewise, where the format gives the number of rows */
    uint64_t skipped;       /* likewise: bad rows passed over already */
    uint64_t line;          /* set by next: where the point or the failure stood */
    struct kf_cut cut;      /* likewise: a last line without a newline */
    bool bad_row;           /* likewise: the failure concerns this row alone, the next one can still be read */
    bool marked;            /* set by open: rows have keys or times, which next sets: */
    const char *key;        /* NULL: none */
    double time;
    char key_text[KEEPFIT_KEY_MOST + 1];
    bool passed; /* likewise, beside it: and it is passed over, whatever on-error says */
};

struct kf_reader {
    const char *name, *summary;
    const char *extensions; /* separated by blanks */
    const char *name_parts; /* what a file's name may hold instead of an extension; likewise */
    size_t state_size;
    bool binary;
    /* Binary: by the first bytes of the file. Text: by the first line of data, which `bytes` begins with. */
    bool (*recognises)(const unsigned char *bytes, size_t count);
    /* On failure, close is called all the same. */
    keepfit_status (*open)(void *state, struct kf_input *input, keepfit_error *error);
    /* The point is valid until the next call. KEEPFIT_END after the last. */
    keepfit_status (*next)(void *state, keepfit_point *point, keepfit_error *error);
    void (*close)(void *state);
};

extern const struct kf_reader kf_reader_libsvm, kf_reader_csv, kf_reader_jsonl, kf_reader_npy, kf_reader_idx;

/* KEEPFIT_USAGE: key or time are named, for a format without columns. */
keepfit_status kf_refuse_marks(const keepfit_options *options, keepfit_error *error);

/* A failure of one row, at the byte `at` of a line. */
#define KF_FAIL_ROW(input, place, at, error, ...)                                                                      \
    ((input)->bad_row = true, kf_fail_at((error), KEEPFIT_DATA, (input)->name, kf_line_of((place), (at)),              \
                                         kf_column_of((place), (at)), __VA_ARGS__))

#endif
