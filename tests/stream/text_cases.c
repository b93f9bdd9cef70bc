/* The text formats: what is read, and what is refused where. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "helpers.h"
#include "stream/token.h"

struct malformed {
    const char *name, *text;
    unsigned line, column;
    const char *fragment;
};

static const struct malformed libsvm_cases[] = {
    {"missing colon", "1 1:2\n1 3 4:5\n", 2, 3, "expected index:value, found '3'"},
    {"word as value", "1 1:abc\n", 1, 5, "value 'abc' is not a number"},
    {"word as label", "spam 1:2\n", 1, 1, "label 'spam' is not a number"},
    {"label missing", "1:2 2:3\n", 1, 1, "expected a label before '1:2'"},
    {"nan value", "1 1:1\n\n# c\n1 1:1 2:nan\n", 4, 9, "value 'nan' is not finite (on-error=skip drops such rows)"},
    {"inf value", "1 1:-Inf\n", 1, 5, "value '-Inf' is not finite"},
    {"infinity value", "1 1:infinity\n", 1, 5, "is not finite"},
    {"nan label", "nan 1:1\n", 1, 1, "label 'nan' is not finite"},
    {"1e999", "1 1:1e999\n", 1, 5, "value '1e999' is too large"},
    {"1e999 as label", "1e999 1:1\n", 1, 1, "label '1e999' is too large"},
    {"repeated index", "1 1:1 1:2\n", 1, 7, "index 1 stands twice"},
    {"descending index", "1 5:1 2:2\n", 1, 7, "index 2 after 5"},
    {"zero index", "1 0:1\n", 1, 3, "indices begin at 1"},
    {"negative index", "1 -1:1\n", 1, 3, "index '-1' is not a whole number from 1"},
    {"plus index", "1 +1:1\n", 1, 3, "index '+1' is not a whole number"},
    {"fractional index", "1 1.5:1\n", 1, 3, "index '1.5' is not a whole number"},
    {"index 2^31", "1 2147483648:1\n", 1, 3, "index 2147483648 is above 16777216"},
    {"index 2^32+2", "1 4294967298:1\n", 1, 3, "index 4294967298 is above"},
    {"index 2^64+2", "1 18446744073709551618:1\n", 1, 3, "index 18446744073709551618 is above"},
    {"empty index", "1 :1\n", 1, 3, "index '' is not a whole number"},
    {"empty value", "1 3: 4:1\n", 1, 5, "no value behind '3:'"},
    {"empty value at the end", "1 3:\n", 1, 5, "no value behind"},
    {"double colon", "1 1::2\n", 1, 5, "value ':2' is not a number"},
    {"two values", "1 1:2:3\n", 1, 5, "value '2:3' is not a number"},
    {"hexadecimal", "1 1:0x10\n", 1, 5, "value '0x10' is not a number"},
    {"decimal comma", "1 1:0,5\n", 1, 5, "decimals take a point"},
    {"trailing garbage", "1 1:2 xyz\n", 1, 7, "found 'xyz'"},
    {"garbage behind a number", "1 1:2x\n", 1, 5, "value '2x' is not a number"},
    {"exponent cut", "1 1:2e\n", 1, 5, "value '2e' is not a number"},
    {"CSV as LIBSVM", "5.1,3.5,1.4,0.2,0\n", 1, 1, "format=csv"},
    {"tabbed CSV as LIBSVM", "5.1\t3.5\n", 1, 5, "expected index:value, found '3.5'"},
    {"cut in a token", "1 1:2\n1 1", 2, 3, "expected index:value, found '1'"},
    {"binary junk", "\x80\xff\x01\x02 1:1\n", 1, 1, "label '\\x80\\xff\\x01\\x02'"},
    {"lone carriage return", "1 1:1\r2 2:2\n", 1, 5, "value '1\\x0d2'"},
    {"bad query", "1 qid:x 1:1\n", 1, 3, "'qid:x'"},
    {"late query", "1 1:1 qid:3 2:1\n", 1, 7, "index 'qid'"},
    {"long token", "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1, 3,
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"},
    {"empty file", "", 0, 0, "no points"},
    {"only comments", "# a\n\n  \n", 0, 0, "no points"},
};

/* A last line without a newline, in a file: taken, and said so; refused if that is asked for, and then not skipped. */
static void test_cut(const char *name, const char *text, unsigned line, unsigned column, const char *points)
{
    char title[128];
    const char *path = put_text(name, text);
    snprintf(title, sizeof title, "%s: the last line without a newline is taken", name);
    expect(title, path, "", points);
    snprintf(title, sizeof title, "%s: so it is without a word", name);
    expect(title, path, "accept-cut=true", points);
    snprintf(title, sizeof title, "%s: strict-end refuses it", name);
    expect_failure(title, path, "strict-end=true", KEEPFIT_DATA, line, column, "strict-end");
    snprintf(title, sizeof title, "%s: and on-error does not skip it", name);
    expect_failure(title, path, "strict-end=true on-error=skip", KEEPFIT_DATA, line, column, "strict-end");
    for (int quiet = 0; quiet < 2; quiet++) {
        keepfit_options *options = make_options(quiet ? "accept-cut=true" : "");
        keepfit_stream *stream = NULL;
        keepfit_stream_info info = {0};
        keepfit_point point;
        bool good = keepfit_stream_open(path, options, &stream, NULL) == KEEPFIT_OK;
        while (good && keepfit_stream_next(stream, &point) == KEEPFIT_OK)
            ;
        if (good)
            keepfit_stream_describe(stream, &info);
        CHECK(good && (quiet ? info.cut == 0 : info.cut == line && info.cut_taken), "%s: the stream says so: line %llu",
              name, (unsigned long long)info.cut);
        keepfit_stream_close(stream);
        keepfit_options_free(options);
    }
}

static void test_libsvm_errors(void)
{
    for (size_t k = 0; k < sizeof libsvm_cases / sizeof libsvm_cases[0]; k++) {
        const struct malformed *c = &libsvm_cases[k];
        char name[128];
        snprintf(name, sizeof name, "libsvm: %s", c->name);
        expect_failure(name, put_text("bad.svm", c->text), "", KEEPFIT_DATA, c->line, c->column, c->fragment);
    }
    expect_failure("libsvm: NUL byte", put("nul.svm", "1 1:1\n1 2:\0 3:1\n", 16), "", KEEPFIT_DATA, 2, 5, "NUL byte");
    expect_failure("libsvm: NUL byte in a comment", put("nul.svm", "1 1:1 # \0\n", 10), "", KEEPFIT_DATA, 1, 9, "NUL");
    expect_failure("libsvm: index above max-features", put_text("far.svm", "1 3:1 4:1\n"), "max-features=3",
                   KEEPFIT_DATA, 1, 7, "index 4 is above 3");
    expect_failure("libsvm: zero-based index above max-features", put_text("far.svm", "1 0:1 3:1\n"),
                   "max-features=3 zero-based=true", KEEPFIT_DATA, 1, 7, "index 3 is above 2");
    expect_failure("libsvm: no targets", put_text("far.svm", "1 1:1\n"), "targets=x", KEEPFIT_USAGE, 0, 0, "targets");
    keepfit_stream *stream;
    keepfit_error error = {.struct_size = sizeof error};
    CHECK(keepfit_stream_open(put_text("bad.svm", "1 1:x\n2 2:2\n"), NULL, &stream, &error) == KEEPFIT_OK,
          "libsvm: options may be NULL");
    keepfit_point point;
    bool twice =
        keepfit_stream_next(stream, &point) == KEEPFIT_DATA && keepfit_stream_next(stream, &point) == KEEPFIT_DATA;
    CHECK(twice, "a stream that failed stays failed");
    CHECK(strstr(keepfit_stream_error(stream)->message, "bad.svm:1:5: value 'x'") != NULL,
          "the message names file, line, column");
    keepfit_stream_close(stream);
    keepfit_stream_close(NULL);
}

/* All malformed lines in one file, between good ones. */
static void test_libsvm_skip(void)
{
    char text[8192] = "7 1:1\n";
    unsigned bad = 0;
    for (size_t k = 0; k < sizeof libsvm_cases / sizeof libsvm_cases[0]; k++) {
        const struct malformed *c = &libsvm_cases[k];
        if (c->line == 1) {
            strcat(text, c->text);
            bad++;
        }
    }
    strcat(text, "8 2:1\n9 3:1");
    char expected[64];
    snprintf(expected, sizeof expected, "7 0:1\n8 1:1\n9 2:1\nEND %u\n", bad);
    expect("libsvm: bad rows are skipped and counted, and the last one is taken", put_text("skip.svm", text),
           "on-error=skip", expected);
    expect_failure("libsvm: nothing but bad rows", put_text("skip.svm", "a\nb\n"), "on-error=skip", KEEPFIT_DATA, 0, 0,
                   "no points, only 2 bad rows");
    expect("libsvm: NUL lines are skipped", put("nul.svm", "1 1:\0\n2 1:1\n", 12), "on-error=skip", "2 0:1\nEND 1\n");
}

void test_libsvm(void)
{
    expect("libsvm: values", put_text("a.svm", "+1 1:0.5 3:-2e3 10:+.25\n-1.5 2:1.\n"), "",
           "1 0:0.5 2:-2000 9:0.25\n-1.5 1:1\nEND 0\n");
    expect("libsvm: CRLF, byte order mark, comments, tabs, blanks, qid, empty rows",
           put_text("a.svm", "\xef\xbb\xbf"
                             "1\tqid:7  1:2\t# hello\r\n\r\n# whole line\r\n   \r\n 2 1:3 \r\n3\r\n4#x\r\n"),
           "", "1 0:2\n2 0:3\n3\n4\nEND 0\n");
    expect("libsvm: explicit zeros and long numbers",
           put_text("a.svm", "0 1:0 2:-0 3:0.12345678901234567 4:1e-400 5:12345678901234567890123 6:1e22\n"), "",
           "0 0:0 1:-0 2:0.12345678901234566 3:0 4:1.2345678901234568e+22 5:1e+22\nEND 0\n");
    expect("libsvm: zero-based", put_text("a.svm", "1 0:5 1:6\n"), "zero-based=true", "1 0:5 1:6\nEND 0\n");
    test_cut("cut.svm", "1 1:5\n2 1:6", 2, 6, "1 0:5\n2 0:6\nEND 0\n");
    test_cut("cut.csv", "1,2,3\n4,5,6", 2, 6, "3 [1 2]\n6 [4 5]\nEND 0\n");
    expect("libsvm: a comment without a newline is none the worse", put_text("a.svm", "2 1:6\n# bye"),
           "strict-end=true", "2 0:6\nEND 0\n");
    expect_failure("libsvm: strict-end and accept-cut", put_text("a.svm", "2 1:6\n"), "strict-end=true accept-cut=true",
                   KEEPFIT_USAGE, 0, 0, "exclude each other");
    expect("libsvm: cut line with CR accepted", put_text("a.svm", "2 1:6\r"), "accept-cut=true", "2 0:6\nEND 0\n");
    expect("libsvm: largest index", put_text("a.svm", "1 4294967294:1\n"), "max-features=4294967294",
           "1 4294967293:1\nEND 0\n");
    test_libsvm_errors();
    test_libsvm_skip();
}

static const struct malformed csv_cases[] = {
    {"empty cell", "1,2,3\n4,,6\n", 2, 3, "cell 2 is empty"},
    {"empty last cell", "1,2,3\n4,5,\n", 2, 5, "cell 3 (the target) is empty"},
    {"nan", "1,2,3\n4,nan,6\n", 2, 3, "value 'nan' is not finite"},
    {"nan target", "1,2,3\n4,5,NaN\n", 2, 5, "target 'NaN' is not finite"},
    {"inf in the first line", "1,inf,3\n", 1, 3, "value 'inf' is not finite"},
    {"text", "a,b,c\n1,2,3\n4,word,6\n", 3, 3, "value 'word' is not a number (type=b=category takes"},
    {"too few cells", "1,2,3\n4,5\n", 2, 4, "2 cells, but the first line has 3"},
    {"too many cells", "1,2,3\n4,5,6,7\n", 2, 7, "more than 3 cells"},
    {"quote not closed", "1,2,3\n4,\"5,6\n", 2, 3, "not closed"},
    {"text behind a quote", "1,2,3\n4,\"5\"x,6\n", 2, 6, "behind the closing quote"},
    {"1e999", "1,2,3\n4,1e999,6\n", 2, 3, "too large"},
    {"decimal comma", "1,5;2,5;0\n", 1, 1, "decimals take a point"},
    {"cut", "1,2,3\n4,5,", 2, 5, "cell 3 (the target) is empty"},
    {"empty file", "", 0, 0, "no points"},
    {"header only", "a,b,c\n", 0, 0, "no points"},
    {"one column", "1\n2\n", 0, 0, "no feature beside the target"},
};

static void test_csv_errors(void)
{
    for (size_t k = 0; k < sizeof csv_cases / sizeof csv_cases[0]; k++) {
        const struct malformed *c = &csv_cases[k];
        char name[128];
        snprintf(name, sizeof name, "csv: %s", c->name);
        expect_failure(name, put_text("bad.csv", c->text), "", KEEPFIT_DATA, c->line, c->column, c->fragment);
    }
    const char *path = put_text("named.csv", "a,b,b,w\n1,2,3,-4\n");
    expect_failure("csv: no such name", path, "target=z", KEEPFIT_USAGE, 0, 0, "no column is called 'z'");
    expect_failure("csv: no such number", path, "target=5", KEEPFIT_USAGE, 0, 0, "only 1 to 4");
    expect_failure("csv: column 0", path, "target=0", KEEPFIT_USAGE, 0, 0, "only 1 to 4");
    expect_failure("csv: ambiguous name", path, "target=b", KEEPFIT_USAGE, 0, 0, "two columns are called 'b'");
    expect_failure("csv: target is weight", path, "target=a weight-column=1", KEEPFIT_USAGE, 0, 0,
                   "both target and weight");
    expect_failure("csv: negative weight", path, "target=a weight-column=w", KEEPFIT_DATA, 2, 7,
                   "weight '-4' is negative");
    expect_failure("csv: bad delimiter", path, "delimiter=ab", KEEPFIT_USAGE, 0, 0, "delimiter");
    expect_failure("csv: too many columns", path, "max-features=2", KEEPFIT_DATA, 0, 0, "max-features");
    expect_failure("csv: NUL byte", put("nul.csv", "1,2\n3,\0\n", 8), "", KEEPFIT_DATA, 2, 3, "NUL");
    expect("csv: skipping", put("skip.csv", "\0,2,3\n1,2,3\n4,x,6\n7,8\n9,10,11\n1,2", 34), "on-error=skip",
           "3 [1 2]\n11 [9 10]\nEND 4\n");
}

void test_csv(void)
{
    expect("csv: plain", put_text("a.csv", "1,2,3\n4.5,-5,6e1\n"), "", "3 [1 2]\n60 [4.5 -5]\nEND 0\n");
    expect("csv: header, CRLF, byte order mark, comments, blanks",
           put_text("a.csv", "\xef\xbb\xbf# c\r\nx, Y ,z\r\n\r\n 1 , 2 ,3\r\n#\r\n4,5,6\r\n"), "",
           "2 [1 3]\n5 [4 6]\nEND 0\n");
    expect("csv: usual names in their order", put_text("a.csv", "y,Label,a\n1,2,3\n"), "", "2 [1 3]\nEND 0\n");
    expect("csv: quotes", put_text("a.csv", "\"a,\"\"b\"\"\",c\n\"1\", \"2\" \n"), "target=a,\"b\"", "1 [2]\nEND 0\n");
    expect("csv: target by number", put_text("a.csv", "1,2,3\n"), "target=1", "1 [2 3]\nEND 0\n");
    expect("csv: a name that is a number", put_text("a.csv", "2,1,b\n5,6,7\n"), "target=1", "6 [5 7]\nEND 0\n");
    expect("csv: no target", put_text("a.csv", "1,2,3\n"), "target=none", "0 [1 2 3]\nEND 0\n");
    expect("csv: one feature", put_text("a.csv", "1\n2\n"), "target=none", "0 [1]\n0 [2]\nEND 0\n");
    expect("csv: weights", put_text("a.csv", "a,w,y\n1,2,3\n4,0,6\n"), "weight-column=w", "3*2 [1]\n6*0 [4]\nEND 0\n");
    expect("csv: weights in the last column", put_text("a.csv", "1,2,3\n"), "weight-column=3", "2*3 [1]\nEND 0\n");
    expect("csv: semicolons", put_text("a.csv", "1;2;3\n"), "", "3 [1 2]\nEND 0\n");
    expect("csv: tabs", put_text("a.tsv", "1\t2\t3\n"), "", "3 [1 2]\nEND 0\n");
    expect("csv: blanks", put_text("a.csv", " 1  2 3 \n4 5\t6\n"), "", "3 [1 2]\n6 [4 5]\nEND 0\n");
    expect("csv: given delimiter", put_text("a.csv", "1|2|3\n"), "delimiter=|", "3 [1 2]\nEND 0\n");
    expect("csv: given tab", put_text("a.csv", "1\t2\t3\n"), "delimiter=tab", "3 [1 2]\nEND 0\n");
    expect("csv: header=yes", put_text("a.csv", "1,2\n3,4\n"), "header=yes", "4 [3]\nEND 0\n");
    expect_failure("csv: header=no", put_text("a.csv", "a,b\n3,4\n"), "header=no", KEEPFIT_DATA, 1, 1, "value 'a'");
    test_csv_errors();
}

/* Numbers of all shapes, against the C library. */
void test_numbers(void)
{
    struct kf_random random;
    kf_random_seed(&random, 5);
    unsigned wrong = 0, plain = 0;
    for (int k = 0; k < 200000; k++) {
        char text[64], *end;
        unsigned places = (unsigned)kf_random_below(&random, 20);
        uint64_t digits = kf_random_bits(&random) >> kf_random_below(&random, 64);
        unsigned long long whole = digits % 10000000000000000000u;
        char all[32];
        snprintf(all, sizeof all, "%019llu", whole);
        snprintf(text, sizeof text, "%.*s.%s", (int)(19 - places), all, all + 19 - places);
        double value = 0;
        const char *stop = kf_quick_real(text, &value);
        plain += stop && !*stop;
        wrong += stop && (*stop || value != strtod(text, &end));
    }
    CHECK(wrong == 0, "numbers: the quick way rounds like strtod");
    CHECK(plain == 200000, "numbers: the quick way takes 19 digits");
}
