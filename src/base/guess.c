/* The one edit distance behind every "did you mean". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "keepfit.h"

#define LETTERS 40 /* what is longer is compared as far as this */

/* How many letters have to be put in, left out, changed, or exchanged with their neighbour: Damerau's distance, where no
 * letter is touched twice. Row k + 1 of the usual table is filled from the two above it. */
static size_t distance(const char *one, size_t rows, const char *other, size_t columns)
{
    size_t table[3][LETTERS + 1];
    size_t *above = table[0], *row = table[1], *spare = table[2];
    for (size_t c = 0; c <= columns; c++)
        row[c] = c;
    for (size_t r = 1; r <= rows; r++) {
        size_t *free_row = spare;
        spare = above;
        above = row;
        row = free_row;
        row[0] = r;
        for (size_t c = 1; c <= columns; c++) {
            size_t changed = above[c - 1] + (one[r - 1] != other[c - 1]);
            size_t left = row[c - 1] + 1, over = above[c] + 1;
            row[c] = changed < left ? changed : left;
            row[c] = over < row[c] ? over : row[c];
            if (r > 1 && c > 1 && one[r - 1] == other[c - 2] && one[r - 2] == other[c - 1] && spare[c - 2] + 1 < row[c])
                row[c] = spare[c - 2] + 1;
        }
    }
    return row[columns];
}

/* Small letters, - for _, up to a colon. */
static size_t plain(char text[LETTERS], const char *word, size_t length)
{
    size_t count = 0;
    for (; count < length && count < LETTERS && word[count] != ':'; count++)
        text[count] = word[count] == '_' ? '-' : (char)tolower((unsigned char)word[count]);
    return count;
}

/* A misspelling leaves most letters where they are. */
static size_t farthest(size_t letters)
{
    return letters <= 2 ? 0 : letters <= 4 ? 1 : letters <= 8 ? 2 : 3;
}

static void offer_one(keepfit_guess *guess, const char *name, size_t length)
{
    char word[LETTERS], other[LETTERS];
    size_t letters = plain(word, guess->word, strlen(guess->word)), others = plain(other, name, length);
    bool begun = letters >= 3 && letters < others && memcmp(word, other, letters) == 0;
    size_t away = begun ? 1 : distance(word, letters, other, others);
    bool same = away == 0 && strchr(guess->word, ':'); /* it is what follows that is wrong */
    if (letters == 0 || same || away > farthest(letters) || length >= sizeof guess->nearest ||
        (*guess->nearest && away >= guess->distance))
        return;
    guess->distance = away;
    memcpy(guess->nearest, name, length);
    guess->nearest[length] = '\0';
}

void keepfit_guess_offer(keepfit_guess *guess, const char *names)
{
    for (size_t length; *names; names += length + (names[length] == '|')) {
        length = strcspn(names, "|");
        offer_one(guess, names, length);
    }
}

const char *keepfit_guess_hint(keepfit_guess *guess, const char *prefix)
{
    guess->hint[0] = '\0';
    if (*guess->nearest)
        snprintf(guess->hint, sizeof guess->hint, "; did you mean %s%s?", prefix, guess->nearest);
    return guess->hint;
}
