/* npy and idx: all element types and byte orders, targets, and headers that lie. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

struct bytes {
    unsigned char at[4096];
    size_t count;
};

static void add(struct bytes *bytes, const void *from, size_t count)
{
    memcpy(bytes->at + bytes->count, from, count);
    bytes->count += count;
}

/* The lowest `size` bytes of a number, in either order. */
static void add_integer(struct bytes *bytes, uint64_t number, size_t size, bool big)
{
    for (size_t k = 0; k < size; k++)
        bytes->at[bytes->count++] = (unsigned char)(number >> 8 * (big ? size - 1 - k : k));
}

static void add_real(struct bytes *bytes, double value, size_t size, bool big)
{
    uint64_t bits = 0;
    if (size == 4) {
        float small = (float)value;
        uint32_t low;
        memcpy(&low, &small, sizeof low);
        bits = low;
    } else {
        memcpy(&bits, &value, sizeof bits);
    }
    add_integer(bytes, bits, size, big);
}

static struct bytes npy(unsigned major, const char *dictionary)
{
    struct bytes bytes = {.count = 0};
    add(&bytes, "\x93NUMPY", 6);
    add_integer(&bytes, major, 1, false);
    add_integer(&bytes, 0, 1, false);
    add_integer(&bytes, strlen(dictionary) + 1, major == 1 ? 2 : 4, false);
    add(&bytes, dictionary, strlen(dictionary));
    add(&bytes, "\n", 1);
    return bytes;
}

static struct bytes npy_of(const char *type, const char *order, const char *shape)
{
    char text[256];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, order, shape);
    return npy(1, text);
}

static const char *save(const char *file, const struct bytes *bytes)
{
    return put(file, bytes->at, bytes->count);
}

/* 2 x 3: 1 2 3 / 4 5 6. */
static void test_types(void)
{
    static const char *const types[] = {"<f8", ">f8", "<f4", ">f4", "<i8", ">i8", "<i4", ">i4", "<i2",
                                        ">i2", "|i1", "<u8", ">u8", "<u4", ">u4", "<u2", ">u2", "|u1"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        struct bytes bytes = npy_of(types[t], "False", "(2, 3)");
        size_t size = (size_t)(types[t][2] - '0');
        for (unsigned k = 1; k <= 6; k++)
            if (types[t][1] == 'f')
                add_real(&bytes, k, size, types[t][0] == '>');
            else
                add_integer(&bytes, k, size, types[t][0] == '>');
        char name[64];
        snprintf(name, sizeof name, "npy: elements of type %s", types[t]);
        expect(name, save("types.npy", &bytes), "", "3 [1 2]\n6 [4 5]\nEND 0\n");
    }
    struct bytes bytes = npy_of("<i2", "False", "(1, 2)");
    add_integer(&bytes, (uint64_t)-5, 2, false);
    add_integer(&bytes, 0x8000, 2, false);
    expect("npy: negative integers", save("types.npy", &bytes), "", "-32768 [-5]\nEND 0\n");
    bytes = npy_of("<f2", "False", "(1, 4)");
    for (int k = 0; k < 4; k++)
        add_integer(&bytes, (const uint64_t[]){0x3c00, 0xc500, 0x0001, 0x7bff}[k], 2, false);
    expect("npy: half precision", save("types.npy", &bytes), "", "65504 [1 -5 5.9604644775390625e-08]\nEND 0\n");
    bytes = npy_of("|b1", "False", "(1, 2)");
    add(&bytes, "\x01\x00", 2);
    expect("npy: truth values", save("types.npy", &bytes), "", "0 [1]\nEND 0\n");
}

static void test_npy_shapes(void)
{
    struct bytes bytes = npy_of("|u1", "True", "(2, 3)");
    add(&bytes, "\x01\x04\x02\x05\x03\x06", 6);
    expect("npy: Fortran order", save("f.npy", &bytes), "", "3 [1 2]\n6 [4 5]\nEND 0\n");
    expect("npy: target in the first column", save("f.npy", &bytes), "target=1", "1 [2 3]\n4 [5 6]\nEND 0\n");
    expect("npy: target in a middle column", save("f.npy", &bytes), "target=2", "2 [1 3]\n5 [4 6]\nEND 0\n");
    expect("npy: no target", save("f.npy", &bytes), "target=none", "0 [1 2 3]\n0 [4 5 6]\nEND 0\n");
    expect("npy: compressed", put_gzip("f.npy.gz", bytes.at, bytes.count), "", "3 [1 2]\n6 [4 5]\nEND 0\n");
    expect("npy: by content", save("f", &bytes), "limit=1", "3 [1 2]\nEND 0\n");
    bytes = npy(2, "{\"descr\":\"|u1\",'shape':(2L,1L),'fortran_order':False}");
    add(&bytes, "\x07\x08", 2);
    save("two.npy", &bytes);
    bytes = npy(3, "{'descr': '|u1', 'shape': (2,), 'fortran_order': False}");
    add(&bytes, "\x05\x06", 2);
    save("one.npy", &bytes);
    put_gzip("one.npy.gz", bytes.at, bytes.count);
    char settings[300];
    snprintf(settings, sizeof settings, "targets=%s", path_of("one.npy"));
    expect("npy: version 2, targets in a version 3 file", path_of("two.npy"), settings, "5 [7]\n6 [8]\nEND 0\n");
    snprintf(settings, sizeof settings, "targets=%s", path_of("one.npy.gz"));
    expect("npy: one dimension, compressed targets", path_of("one.npy"), settings, "5 [5]\n6 [6]\nEND 0\n");
    expect_failure("npy: one dimension without targets", path_of("one.npy"), "", KEEPFIT_DATA, 0, 0, "no feature");
    snprintf(settings, sizeof settings, "targets=%s target=1", path_of("one.npy"));
    expect_failure("npy: target and targets", path_of("two.npy"), settings, KEEPFIT_USAGE, 0, 0, "exclude");
    snprintf(settings, sizeof settings, "targets=%s", path_of("f.npy"));
    expect_failure("npy: targets with columns", path_of("two.npy"), settings, KEEPFIT_DATA, 0, 0, "3 columns");
    bytes = npy_of("|u1", "False", "(3,)");
    add(&bytes, "abc", 3);
    snprintf(settings, sizeof settings, "targets=%s", save("three.npy", &bytes));
    expect_failure("npy: another number of targets", path_of("two.npy"), settings, KEEPFIT_DATA, 0, 0, "3 targets");
    snprintf(settings, sizeof settings, "targets=%s", path_of("nowhere.npy"));
    expect_failure("npy: targets missing", path_of("two.npy"), settings, KEEPFIT_DATA, 0, 0,
                   "nowhere.npy: No such file");
}

static void test_npy_headers(void)
{
    static const struct {
        const char *name, *dictionary, *fragment;
    } cases[] = {
        {"not a dictionary", "[1, 2]", "does not begin with {"},
        {"not closed", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "expected , or }"},
        {"text behind", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x", "behind the closing }"},
        {"shape missing", "{'descr': '<f8', 'fortran_order': False}", "is missing"},
        {"unknown key", "{'descr': '<f8', 'order': False}", "unknown key"},
        {"bad order", "{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 3)}", "neither True nor False"},
        {"bad shape", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}", "shape"},
        {"three dimensions", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4)}", "3 dimensions"},
        {"no dimension", "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "0 dimensions"},
        {"no columns", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 0)}", "no feature"},
        {"no rows", "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", "no points"},
        {"shape too large", "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 3)}",
         "more than there can be"},
        {"shape beyond 64 bits", "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551618, 3)}",
         "shape"},
        {"shape beyond the file", "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 3)}",
         "24000000 bytes, but 0 follow"},
        {"objects", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "type '|O'"},
        {"complex", "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3)}", "type '<c16'"},
        {"text elements", "{'descr': '<U4', 'fortran_order': False, 'shape': (2, 3)}", "type '<U4'"},
        {"structured", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", "structured"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct bytes bytes = npy(1, cases[k].dictionary);
        char name[96];
        snprintf(name, sizeof name, "npy: header, %s", cases[k].name);
        expect_failure(name, save("header.npy", &bytes), "", KEEPFIT_DATA, 0, 0, cases[k].fragment);
    }
    struct bytes bytes = npy(4, "{}");
    expect_failure("npy: version 4", save("header.npy", &bytes), "", KEEPFIT_DATA, 0, 0, "version 4.0");
    bytes = npy_of("<f8", "False", "(2, 3)");
    unsigned silent = 0;
    for (size_t cut = 0; cut < bytes.count; cut++) {
        char *got = dump(put("header.npy", bytes.at, cut), "");
        silent += strncmp(got, "DATA", 4) != 0;
        free(got);
    }
    CHECK(silent == 0, "npy: a header cut anywhere is refused");
    expect_failure("npy: wrong magic", put_text("magic.npy", "1,2,3\n4,5,6\n"), "", KEEPFIT_DATA, 0, 0,
                   "not an npy file");
}

static void test_npy_values(void)
{
    struct bytes bytes = npy_of("<f8", "False", "(3, 2)");
    for (int k = 0; k < 6; k++)
        add_real(&bytes, k == 2 ? NAN : k == 3 ? INFINITY : k, 8, false);
    expect_failure("npy: not finite", save("nan.npy", &bytes), "", KEEPFIT_DATA, 2, 1, "value 'nan' is not finite");
    expect("npy: not finite, skipped", save("nan.npy", &bytes), "on-error=skip", "1 [0]\n5 [4]\nEND 1\n");
    expect_failure("npy: cut", put("cut.npy", bytes.at, bytes.count - 1), "", KEEPFIT_DATA, 0, 0, "but 47 follow it");
    expect_failure("npy: compressed and cut", put_gzip("cut.npy.gz", bytes.at, bytes.count - 1), "on-error=skip",
                   KEEPFIT_DATA, 3, 0, "the file ends here");
    expect_failure("npy: trailing bytes", put("tail.npy", bytes.at, bytes.count + 1), "", KEEPFIT_DATA, 0, 0,
                   "but 49 follow it");
    expect_failure("npy: compressed and trailing bytes", put_gzip("tail.npy.gz", bytes.at, bytes.count + 1),
                   "on-error=skip", KEEPFIT_DATA, 0, 0, "behind the last of the 3 rows");
    struct bytes lie = npy_of("<f8", "True", "(30000000, 1000)");
    expect_failure("npy: a lying header takes no memory", put_gzip("lie.npy.gz", lie.at, lie.count), "", KEEPFIT_DATA,
                   1, 0, "the file ends here");
    struct bytes rows = npy_of("|u1", "False", "(3, 1)");
    add(&rows, "\x01\x02\x03", 3);
    struct bytes targets = npy_of("<f8", "False", "(3,)");
    for (int k = 0; k < 3; k++)
        add_real(&targets, k == 1 ? -INFINITY : k, 8, false);
    char settings[300];
    snprintf(settings, sizeof settings, "targets=%s", save("targets.npy", &targets));
    expect_failure("npy: target not finite", save("rows.npy", &rows), settings, KEEPFIT_DATA, 2, 0,
                   "targets.npy:2: value '-inf'");
    strcat(settings, " on-error=skip");
    expect("npy: target not finite, skipped", path_of("rows.npy"), settings, "0 [1]\n2 [3]\nEND 1\n");
}

void test_npy(void)
{
    test_types();
    test_npy_shapes();
    test_npy_headers();
    test_npy_values();
}

static struct bytes idx(unsigned type, unsigned dimensions, const unsigned *size)
{
    struct bytes bytes = {.count = 0};
    add_integer(&bytes, type << 8 | dimensions, 4, true);
    for (unsigned k = 0; k < dimensions; k++)
        add_integer(&bytes, size[k], 4, true);
    return bytes;
}

static void test_idx_types(void)
{
    static const struct {
        unsigned type, size;
        bool real;
        const char *text;
    } types[] = {{0x08, 1, false, "0 0:251 2:7\n"}, {0x09, 1, false, "0 0:-5 2:7\n"}, {0x0b, 2, false, "0 0:-5 2:7\n"},
                 {0x0c, 4, false, "0 0:-5 2:7\n"},  {0x0d, 4, true, "0 0:-5 2:7\n"},  {0x0e, 8, true, "0 0:-5 2:7\n"}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        struct bytes bytes = idx(types[t].type, 2, (const unsigned[]){2, 3});
        for (int k = 0; k < 6; k++) {
            int number = k == 0 ? -5 : k == 2 ? 7 : 0;
            if (types[t].real)
                add_real(&bytes, number, types[t].size, true);
            else
                add_integer(&bytes, (uint64_t)number, types[t].size, true);
        }
        char name[64], text[64];
        snprintf(name, sizeof name, "idx: elements of type %02x", types[t].type);
        snprintf(text, sizeof text, "%s0\nEND 0\n", types[t].text);
        expect(name, save("a.idx", &bytes), "target=none", text);
    }
}

static void test_idx_labels(void)
{
    struct bytes images = idx(8, 3, (const unsigned[]){2, 2, 2}), labels = idx(8, 1, (const unsigned[]){2});
    add(&images, "\x00\x01\x00\x02\x03\x00\x00\x00", 8);
    add(&labels, "\x09\x04", 2);
    const char *text = "9 1:1 3:2\n4 0:3\nEND 0\n";
    const char *path = save("t-images-idx3-ubyte", &images);
    expect_failure("idx: no labels", path, "", KEEPFIT_DATA, 0, 0, "targets");
    expect_failure("idx: a column as target", path, "target=1", KEEPFIT_USAGE, 0, 0, "targets");
    put_gzip("t-labels-idx1-ubyte.gz", labels.at, labels.count);
    expect("idx: compressed labels beside plain images", path, "", text);
    save("u-labels-idx1-ubyte", &labels);
    expect("idx: plain labels beside compressed images", put_gzip("u-images-idx3-ubyte.gz", images.at, images.count),
           "", text);
    char settings[300];
    snprintf(settings, sizeof settings, "targets=%s", path_of("u-labels-idx1-ubyte"));
    expect("idx: labels given", save("plain", &images), settings, text);
    struct bytes other = npy_of("<i8", "False", "(2,)");
    add_integer(&other, 9, 8, false);
    add_integer(&other, 4, 8, false);
    snprintf(settings, sizeof settings, "targets=%s", save("labels.npy", &other));
    expect("idx: labels in an npy file", path_of("plain"), settings, text);
    labels = idx(8, 1, (const unsigned[]){3});
    add(&labels, "\x09\x04\x01", 3);
    snprintf(settings, sizeof settings, "targets=%s", save("labels.idx", &labels));
    expect_failure("idx: another number of labels", path_of("plain"), settings, KEEPFIT_DATA, 0, 0, "3 targets");
    snprintf(settings, sizeof settings, "targets=%s", put_text("labels.txt", "1\n2\n"));
    expect_failure("idx: labels of no known kind", path_of("plain"), settings, KEEPFIT_DATA, 0, 0,
                   "neither an npy nor");
}

void test_idx(void)
{
    test_idx_types();
    test_idx_labels();
    struct bytes bytes = idx(8, 4, (const unsigned[]){1, 1, 2, 1});
    add(&bytes, "\x01\x02", 2);
    expect("idx: four dimensions", save("a.idx", &bytes), "target=none", "0 0:1 1:2\nEND 0\n");
    expect_failure("idx: cut", put("b.idx", bytes.at, bytes.count - 1), "target=none", KEEPFIT_DATA, 0, 0,
                   "1 follow it");
    expect_failure("idx: cut within the header", put("b.idx", bytes.at, 10), "target=none", KEEPFIT_DATA, 0, 0,
                   "within the idx header");
    expect_failure("idx: trailing byte", put("b.idx", bytes.at, bytes.count + 1), "target=none", KEEPFIT_DATA, 0, 0,
                   "3 follow it");
    expect_failure("idx: compressed and cut", put_gzip("b.idx.gz", bytes.at, bytes.count - 1), "target=none",
                   KEEPFIT_DATA, 1, 0, "the file ends here");
    bytes = idx(8, 4, (const unsigned[]){0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu});
    expect_failure("idx: too large", save("b.idx", &bytes), "target=none", KEEPFIT_DATA, 0, 0, "than there can be");
    bytes = idx(8, 2, (const unsigned[]){1, 100000000});
    expect_failure("idx: too many features", put_gzip("b.idx.gz", bytes.at, bytes.count), "target=none", KEEPFIT_DATA,
                   0, 0, "max-features");
    bytes = idx(0x0a, 1, (const unsigned[]){1});
    expect_failure("idx: unknown type", save("b.idx", &bytes), "target=none", KEEPFIT_DATA, 0, 0, "not an idx file");
    bytes = idx(0x0e, 2, (const unsigned[]){2, 1});
    add_real(&bytes, NAN, 8, true);
    add_real(&bytes, 3, 8, true);
    expect_failure("idx: not finite", save("b.idx", &bytes), "target=none", KEEPFIT_DATA, 1, 1, "not finite");
    expect("idx: not finite, skipped", path_of("b.idx"), "target=none on-error=skip", "0 0:3\nEND 1\n");
}
