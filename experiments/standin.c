/* standin.c - made-up data of the shape of the real sets, so that every command runs without them.
 *
 * Tables: two overlapping normal classes whose features share a common part, as measurements do, and are not centred; LIBSVM
 * text. Images: each digit has eight soft spots of its own on the 28 x 28 grid; an image shows them shifted by up to two pixels
 * with some of them missing, so that about a fifth of the pixels are not 0; idx files. The labels run through the digits in a drawn order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/exit_code.h"
#include "data.h"
#include "toolkit/output.h"
#include "toolkit/draw.h"

enum { side = 28, spots = 8, digits = 10 };

static void write_table(FILE *file, size_t rows, size_t features, struct source *source)
{
    for (size_t row = 0; row < rows; row++) {
        double label = uniform(source) < 0.4 ? 1 : -1, common = normal(source);
        fprintf(file, "%g", label);
        for (size_t k = 0; k < features; k++)
            fprintf(file, " %zu:%.6g", k + 1, 2 + 0.4 * label * cos((double)k) + 0.7 * common + 0.8 * normal(source));
        fputc('\n', file);
    }
}

static void write_number(FILE *file, size_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(number >> shift & 255), file);
}

/* Where each digit has its spots: the same in the training and the test files. */
static void place_spots(double places[digits][spots][2], uint64_t seed)
{
    struct source source = {seed};
    for (size_t digit = 0; digit < digits; digit++)
        for (size_t spot = 0; spot < spots; spot++)
            for (size_t axis = 0; axis < 2; axis++)
                places[digit][spot][axis] = 5 + 18 * uniform(&source);
}

static void write_image(FILE *file, double places[spots][2], struct source *source)
{
    double shown[spots][2];
    size_t count = 0;
    double down = 4 * uniform(source) - 2, right = 4 * uniform(source) - 2;
    for (size_t spot = 0; spot < spots; spot++)
        if (uniform(source) < 0.85) {
            shown[count][0] = places[spot][0] + down;
            shown[count++][1] = places[spot][1] + right;
        }
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double light = 0;
            for (size_t k = 0; k < count; k++)
                light += exp(-(pow(y - shown[k][0], 2) + pow(x - shown[k][1], 2)) / 4);
            fputc(light < 0.15 ? 0 : (int)(255 * fmin(light, 1)), file);
        }
}

/* features == 0: the labels alone. Both draw the labels in the same way from the same seed. */
static void write_idx(FILE *file, size_t rows, size_t features, uint64_t seed, uint64_t places_seed)
{
    double places[digits][spots][2];
    struct source labels = {seed}, noise = {seed + 1};
    place_spots(places, places_seed);
    write_number(file, features ? 0x803 : 0x801);
    write_number(file, rows);
    for (int axis = 0; features && axis < 2; axis++)
        write_number(file, side);
    for (size_t row = 0; row < rows; row++) {
        size_t digit = (size_t)(draw(&labels) % digits);
        if (features)
            write_image(file, places[digit], &noise);
        else
            fputc((int)digit, file);
    }
}

int standin_write(const char *name, const char *path, size_t rows, size_t features, uint64_t seed)
{
    struct output output;
    int code = output_open(&output, path);
    if (code != EXIT_DONE)
        return code;
    uint64_t own = seed;
    bool is_idx = strstr(name, "-ubyte") != NULL;
    for (const char *at = name; *at && (!is_idx || *at != '-'); at++) /* images and labels have the same beginning */
        own = own * 31 + (unsigned char)*at;
    if (is_idx)
        write_idx(output.file, rows, features, own, seed);
    else
        write_table(output.file, rows, features, &(struct source){own});
    return output_commit(&output);
}
