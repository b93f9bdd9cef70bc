/* The recipe of a table with types: its columns, what each holds, and which coordinate each text has got. It owns the way from
 * cells to rows, whatever format the cells come from.
 *
 * Coordinates are given as they are first met, and keep their numbers: a row that brings a category brings a coordinate that is 0
 * in all rows before it, so these rows and their objective stay what they were (docs/data.md). A row that is refused leaves no
 * trace. The recipe of a model gives no new ones: what it does not know counts as 0, and is counted.
 *
 * The thread that reads adds, and others copy what has been added (kf_recipe_copy); only that takes the lock. */
#ifndef KF_RECIPE_H
#define KF_RECIPE_H

#include <pthread.h>

#include "base/schema.h"
#include "stream/dictionary.h"
#include "stream/kind.h"
#include "stream/moment.h"

#define KF_NO_COLUMN SIZE_MAX
#define KF_FACTORS_MOST 4 /* of a cross */

struct kf_recipe_column {
    char *name;
    struct kf_type type;
    /* Coordinates that it always has, once they are there. */
    uint32_t own, missing, moment[KF_MOMENT_PARTS], age;
    double since; /* of the age */
    struct kf_moment_day day;
    bool crossed; /* in some cross */
    size_t factors, factor[KF_FACTORS_MOST];
    size_t first, parts; /* of this row */
    bool quick;          /* likewise: it has none, since recipe_quick.c makes its entries */
};

/* What a cell comes to: texts of its column, each with a value. */
struct kf_part {
    const char *key;
    size_t length;
    double value;
    uint32_t coordinate; /* KF_NO_COORDINATE: to be found by its key */
};

struct kf_content {
    const char *start;      /* for messages: where it stands */
    const char *text, *end; /* NULL: there is none */
    const double *number;   /* of a column of numbers, in place of the text: finite; NULL: the text counts */
};

struct kf_recipe {
    pthread_mutex_t lock;
    struct kf_dictionary dictionary;
    size_t columns, capacity,
        readable; /* the first ones are those that cells are for; then come crosses, then what is ignored */
    struct kf_recipe_column *column;
    bool fixed;                    /* a model's: nothing new */
    uint64_t most_features;        /* coordinates */
    uint64_t unseen, parts_unseen; /* cells that held what a fixed one does not know, and parts of them */
    size_t unseen_column;          /* where the first of them stood */
    char unseen_text[64];          /* and what it was */
    uint64_t collisions;           /* numbers that more than one text has been hashed to */

    uint64_t *
        met; /* with hashing: of each coordinate the text that it was first met with, as a hash; an odd one has collided */
    size_t met_capacity, met_count;
    struct kf_part *part; /* of this row */
    size_t part_capacity, part_count;
    char *room; /* for keys */
    size_t room_capacity, room_used;
    uint32_t *index;
    double *value;
    size_t index_capacity, value_capacity, count;
};

void kf_recipe_open(struct kf_recipe *recipe, uint64_t most_features);
void kf_recipe_close(struct kf_recipe *recipe);

/* Columns, in the order that `readable` asks for; a cross has a name such as A*B, of columns before it. */
keepfit_status kf_recipe_add(struct kf_recipe *recipe, const char *name, struct kf_type type, keepfit_error *error);
/* After the last: numbers and booleans get their coordinates. */
keepfit_status kf_recipe_settle(struct kf_recipe *recipe, keepfit_error *error);
/* The one of a schema with types. KEEPFIT_DATA: it makes no sense. */
keepfit_status kf_recipe_take(struct kf_recipe *recipe, const keepfit_schema *schema, keepfit_error *error);

size_t kf_recipe_find(const struct kf_recipe *recipe, const char *name, size_t length);
/* Adds to the schema, which has the recipe's columns, what it lacks of the first `count` coordinates. False: out of memory. */
bool kf_recipe_copy(struct kf_recipe *recipe, struct kf_schema *schema, size_t count);
/* Puts the columns and all coordinates into a schema without columns. False: out of memory. */
bool kf_recipe_describe(struct kf_recipe *recipe, struct kf_schema *schema);

/* Why there is no row: a cell, and what is wrong with it. */
struct kf_complaint {
    size_t column;
    bool skip; /* the row is to be passed over, as was asked for */
    char text[256];
};

/* The row that the cells [readable] make, valid until the next call. KEEPFIT_DATA: see the complaint. */
keepfit_status kf_recipe_row(struct kf_recipe *recipe, const struct kf_content *cells, keepfit_row *row,
                             struct kf_complaint *complaint, keepfit_error *error);

/* Takes back all coordinates but the first `count`, as if later rows had never been. */
void kf_recipe_take_back(struct kf_recipe *recipe, size_t count);

/* Between recipe.c and recipe_row.c: the coordinate of a text, which may be made. */
keepfit_status kf_recipe_coordinate(struct kf_recipe *recipe, uint32_t column, const char *key, size_t length,
                                    uint32_t *coordinate, keepfit_error *error);

#endif
