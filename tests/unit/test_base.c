/* Statuses, options, numbers, random numbers, checksum, points. */
#include <string.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "support.h"

/* The numbers are what programs were compiled with. */
_Static_assert(KEEPFIT_OK == 0 && KEEPFIT_END == 1 && KEEPFIT_STOPPED == 2 && KEEPFIT_UNSOLVED == 3 &&
                   KEEPFIT_DIFFERENT == 4,
               "outcomes");
_Static_assert(KEEPFIT_NO_MEMORY == 16 && KEEPFIT_USAGE == 17 && KEEPFIT_DATA == 18 && KEEPFIT_IO == 19, "failures");
_Static_assert(KEEPFIT_CORRUPT == 20 && KEEPFIT_DIVERGED == 21 && KEEPFIT_CALLBACK == 22, "failures");
_Static_assert(KEEPFIT_STAGE_NONE == 0 && KEEPFIT_STAGE_PROVED == 1 && KEEPFIT_STAGE_MISSED == 2, "outcomes");
_Static_assert(KEEPFIT_STAGE_UNPROVED == 3 && KEEPFIT_STAGE_WAITING == 4, "outcomes");
_Static_assert(KEEPFIT_STAGE_GIVEN_UP == 5 && KEEPFIT_STAGE_STOPPED == 6, "outcomes");
_Static_assert(KEEPFIT_PROVES == 0 && KEEPFIT_NOT_CONVEX == 1 && KEEPFIT_NO_LAMBDA == 2, "why nothing is proved");
_Static_assert(KEEPFIT_NO_PROMISE == 3 && KEEPFIT_ESTIMATES == 4, "why nothing is proved");
_Static_assert(KEEPFIT_MEASURE_OBJECTIVE == 1 && KEEPFIT_MEASURE_BOUND == 2 && KEEPFIT_MEASURE_OPTIMUM == 4,
               "measures");
_Static_assert(KEEPFIT_METHODS == 0 && KEEPFIT_LOSSES == 1 && KEEPFIT_DOMAINS == 2, "families");
_Static_assert(KEEPFIT_FORMATS == 3 && KEEPFIT_FEATURES == 4, "families");
_Static_assert(KEEPFIT_LOSS_NUMBERS == 1 && KEEPFIT_LOSS_TWO_CLASSES == 2, "traits");
_Static_assert(KEEPFIT_LOSS_MANY_CLASSES == 4 && KEEPFIT_LOSS_PROBABILITIES == 8, "traits");
_Static_assert(KEEPFIT_REAL == 0 && KEEPFIT_COUNT == 1 && KEEPFIT_CHOICE == 2, "types of options");
_Static_assert(KEEPFIT_TEXT == 3 && KEEPFIT_FLAG == 4, "types of options");
_Static_assert(KEEPFIT_DISK_READ == 0 && KEEPFIT_DISK_WRITE == 1 && KEEPFIT_DISK_CREATE == 2, "access");
_Static_assert(KEEPFIT_DISK_EXCLUSIVE == 4, "access");
_Static_assert(KEEPFIT_DISK_FILE == 0 && KEEPFIT_DISK_FOLDER == 1 && KEEPFIT_DISK_OTHER == 2, "kinds");

static void test_statuses(struct tap *tap)
{
#define NUMBER(name, number, sentence) KEEPFIT_##name,
    static const keepfit_status statuses[] = {KEEPFIT_STATUS_LIST(NUMBER)};
#undef NUMBER
    bool named = true;
    for (size_t k = 0; k < sizeof statuses / sizeof statuses[0]; k++)
        named &= strcmp(keepfit_status_name(statuses[k]), "UNKNOWN") != 0 && *keepfit_status_sentence(statuses[k]) &&
                 keepfit_failed(statuses[k]) == (statuses[k] >= KEEPFIT_NO_MEMORY);
    tap_check(tap, named, "every status has a name and a sentence, and is a failure or not");
    tap_check(tap,
              strcmp(keepfit_status_name((keepfit_status)99), "UNKNOWN") == 0 &&
                  strcmp(keepfit_status_name((keepfit_status)-1), "UNKNOWN") == 0,
              "numbers that are no status are safe");
    tap_check(tap, keepfit_failed((keepfit_status)99) && keepfit_failed((keepfit_status)-1), "and failures");
    tap_check(tap, strcmp(keepfit_version(), KEEPFIT_VERSION_STRING) == 0, "header and library agree on the version");
}

static void test_options(struct tap *tap)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_option option = {.struct_size = sizeof option};
    bool round_trip = true;
    for (size_t k = 0; keepfit_option_entry(k, &option); k++) {
        char before[256];
        snprintf(before, sizeof before, "%s", keepfit_options_get(options, option.key));
        round_trip &= strcmp(before, option.initial) == 0;
        round_trip &= keepfit_options_set(options, option.key, before, NULL) == KEEPFIT_OK;
        round_trip &= strcmp(before, keepfit_options_get(options, option.key)) == 0;
        round_trip &= *option.help && *option.group;
    }
    tap_check(tap, round_trip, "every option's default is what the table says, and can be set");
    static const char *const bad[][2] = {
        {"lambda", "-1"}, {"lambda", "nan"},  {"lambda", "1x"}, {"lambda", ""},   {"lambda", "1e999"},
        {"loss", "l2"},   {"loss", ""},       {"inner", "0"},   {"inner", "-3"},  {"inner", "1.5"},
        {"epsilon", "0"}, {"shuffle", "yes"}, {"seed", "1e3"},  {"threads", "0"}, {"max-features", "4294967295"},
        {"nonsense", "1"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        keepfit_error error = {0};
        keepfit_status status = keepfit_options_set(options, bad[k][0], bad[k][1], &error);
        tap_check(tap, status == KEEPFIT_USAGE && strstr(error.message, bad[k][0]), "%s = '%s' is refused by name",
                  bad[k][0], bad[k][1]);
    }
    keepfit_options_set(options, "domain", "ball:2", NULL);
    keepfit_options *copy = keepfit_options_copy(options);
    keepfit_options_set(options, "domain", "none", NULL);
    tap_check(tap, strcmp(keepfit_options_get(copy, "domain"), "ball:2") == 0, "a copy is independent");
    tap_check(tap, keepfit_options_given(copy, "domain"), "given is remembered");
    keepfit_options_free(copy);
    keepfit_options_free(options);
}

/* A value at a bound, and one just beyond it, through the setter without a text. */
static bool holds_bounds(keepfit_options *options, const keepfit_option *option)
{
    double low = option->above ? nextafter(option->least, INFINITY) : option->least, high = option->most;
    double under = option->above ? option->least : nextafter(option->least, -INFINITY);
    const char *key = option->key;
    if (option->type == KEEPFIT_REAL)
        return keepfit_options_set_number(options, key, low, NULL) == KEEPFIT_OK &&
               keepfit_options_get_number(options, key) == low &&
               keepfit_options_set_number(options, key, high, NULL) == KEEPFIT_OK &&
               strtod(keepfit_options_get(options, key), NULL) == high &&
               keepfit_options_set_number(options, key, under, NULL) == KEEPFIT_USAGE &&
               keepfit_options_set_number(options, key, nextafter(high, INFINITY), NULL) == KEEPFIT_USAGE &&
               keepfit_options_set_number(options, key, NAN, NULL) == KEEPFIT_USAGE &&
               keepfit_options_get_number(options, key) == high;
    return keepfit_options_set_integer(options, key, (uint64_t)low, NULL) == KEEPFIT_OK &&
           keepfit_options_set_integer(options, key, (uint64_t)high, NULL) == KEEPFIT_OK &&
           keepfit_options_get_integer(options, key) == (uint64_t)high &&
           strtoull(keepfit_options_get(options, key), NULL, 10) == (uint64_t)high &&
           (low == 0 || keepfit_options_set_integer(options, key, (uint64_t)low - 1, NULL) == KEEPFIT_USAGE) &&
           keepfit_options_set_integer(options, key, UINT64_MAX, NULL) == KEEPFIT_USAGE &&
           keepfit_options_get_integer(options, key) == (uint64_t)high;
}

/* Every option takes its own type, and no other; bounds are those that the table tells. */
static void test_types(struct tap *tap)
{
    keepfit_options *options = keepfit_options_create();
    keepfit_option option = {.struct_size = sizeof option}, found = {.struct_size = sizeof found};
    bool bounds = true, types = true, same = true;
    for (size_t k = 0; keepfit_option_entry(k, &option); k++) {
        bool real = option.type == KEEPFIT_REAL, count = option.type == KEEPFIT_COUNT,
             flag = option.type == KEEPFIT_FLAG;
        same = same && keepfit_option_find(option.key, &found) && found.type == option.type &&
               found.least == option.least && found.most == option.most && strcmp(found.key, option.key) == 0;
        bounds = bounds && (!(real || count) || holds_bounds(options, &option));
        double middle = real || count ? option.most / 2 : 1;
        types = types && real == (keepfit_options_set_number(options, option.key, middle, NULL) == KEEPFIT_OK) &&
                count == (keepfit_options_set_integer(options, option.key, (uint64_t)fmin(middle, 1e18), NULL) ==
                          KEEPFIT_OK) &&
                flag == (keepfit_options_set_flag(options, option.key, true, NULL) == KEEPFIT_OK) &&
                flag == keepfit_options_get_flag(options, option.key) &&
                keepfit_options_given(options, option.key) == (real || count || flag);
    }
    tap_check(tap, bounds, "numbers at their bounds are taken, and those beyond are refused and change nothing");
    tap_check(tap, types, "an option is set by its own type only");
    tap_check(tap, same && !keepfit_option_find("nonsense", &found), "an option is found by its key");
    keepfit_error error = {0};
    tap_check(tap,
              keepfit_options_set_integer(options, "lambda", 1, &error) == KEEPFIT_USAGE &&
                  strcmp(error.message, "lambda: is a number, and was given a whole number") == 0,
              "a value of another type is refused by name: %s", error.message);
    tap_check(tap,
              isnan(keepfit_options_get_number(options, "seed")) && !keepfit_options_get_integer(options, "nonsense"),
              "what is not there is NaN or 0");
    const char *held = keepfit_options_get(options, "lambda");
    char before[32];
    snprintf(before, sizeof before, "%s", held);
    for (size_t k = 0; keepfit_option_entry(k, &option); k++)
        keepfit_options_get(options, option.key);
    tap_check(tap, strcmp(held, before) == 0, "a value that was handed out lives until the option is set again");
    keepfit_options_free(options);
}

/* Numbers with hundreds of digits: halfway cases between doubles, written out in full and with something behind them, and
 * zeros that an exponent makes up for; strtod is the judge. */
static void test_long_numbers(struct tap *tap)
{
    static char text[300000];
    struct kf_random random;
    kf_random_seed(&random, 4);
    bool exact = true;
    for (int k = 0; k < 2000; k++) {
        uint64_t bits = kf_random_bits(&random) >> 1;
        double low, high, back = -1;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        if (!isfinite(high))
            continue;
        int length = snprintf(text, sizeof text, "%.1100Lf", (long double)low / 2 + (long double)high / 2);
        snprintf(text + length, sizeof text - (size_t)length, "%s", k % 3 == 0 ? "" : k % 3 == 1 ? "0000" : "0001e0");
        const char *stop;
        exact &= kf_read_real(text, text + strlen(text), &back, &stop) == KF_NUMBER_OK && back == strtod(text, NULL) &&
                 !*stop;
    }
    tap_check(tap, exact, "numbers of more than a thousand digits read as the nearest double, too");
    size_t zeros = 123455;
    memset(text, '0', sizeof text);
    text[1] = '.';
    static const struct {
        const char *tail;
        enum kf_number kind;
        double value;
    } cases[] = {{"1e123456", KF_NUMBER_OK, 1}, {"1e12345678", KF_NUMBER_HUGE, 0}, {"1", KF_NUMBER_OK, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double value = 0;
        const char *stop;
        strcpy(text + 2 + zeros, cases[k].tail);
        enum kf_number kind = kf_read_real(text, text + strlen(text), &value, &stop);
        tap_check(tap, kind == cases[k].kind && value == cases[k].value && !*stop, "0.0[%zu zeros]%s", zeros,
                  cases[k].tail);
    }
}

static void test_numbers(struct tap *tap)
{
    struct kf_random random;
    kf_random_seed(&random, 3);
    bool exact = true;
    for (int k = 0; k < 20000; k++) {
        char text[64];
        double value, back = 0;
        uint64_t bits = kf_random_bits(&random);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        const char *stop;
        snprintf(text, sizeof text, "%.*g", k % 3 == 0 ? 17 : 1 + k % 15, value);
        double expected = strtod(text, NULL);
        if (isfinite(expected))
            exact &=
                kf_read_real(text, text + strlen(text), &back, &stop) == KF_NUMBER_OK && back == expected && !*stop;
    }
    tap_check(tap, exact, "decimals read as the nearest double, as strtod does");
    static const char *const none[] = {"", "nan", "inf", "-", "+", ".", "e5", "0x", " 1", "-inf"};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        double value;
        const char *stop;
        enum kf_number got = kf_read_real(none[k], none[k] + strlen(none[k]), &value, &stop);
        tap_check(tap, got == KF_NUMBER_NONE || *stop, "'%s' is not taken for a whole number", none[k]);
    }
    char text[32];
    double third = 1.0 / 3;
    tap_check(tap, strtod(kf_write_real(text, third), NULL) == third, "written numbers read back");
}

static void test_random(struct tap *tap)
{
    struct kf_random a, b;
    kf_random_seed(&a, 1);
    kf_random_seed(&b, 1);
    bool same = true, below = true;
    double sum = 0, square = 0;
    size_t counts[7] = {0};
    for (int k = 0; k < 70000; k++) {
        same &= kf_random_bits(&a) == kf_random_bits(&b);
        uint64_t draw = kf_random_below(&a, 7);
        kf_random_below(&b, 7);
        below &= draw < 7;
        counts[draw < 7 ? draw : 0]++;
        double normal = kf_random_normal(&a);
        kf_random_normal(&b);
        sum += normal;
        square += normal * normal;
    }
    bool even = true;
    for (int k = 0; k < 7; k++)
        even &= fabs((double)counts[k] - 10000) < 500;
    tap_check(tap, same && below && even, "draws repeat from the seed, stay below their bound and are even");
    tap_check(tap, fabs(sum / 70000) < 0.02 && fabs(square / 70000 - 1) < 0.03, "normals have mean 0 and variance 1");
}

static void test_points(struct tap *tap)
{
    struct kf_points points = {0};
    uint32_t index[] = {1, 4}, contiguous[] = {0, 1};
    const struct kf_lead lead = {true, 9}, none = {false, 0};
    double value[] = {2, 3};
    keepfit_point sparse = {{2, index, value}, 1, 1, false}, dense = {{2, contiguous, value}, 2, 0.5, false};
    TAP_NEED(kf_points_append(&points, &sparse, NULL) && kf_points_append(&points, &dense, NULL));
    TAP_NEED(kf_points_append(&points, &sparse, &lead) && kf_points_append(&points, &dense, &lead));
    keepfit_row r0 = kf_points_row(&points, 0), r1 = kf_points_row(&points, 1);
    keepfit_row r2 = kf_points_row(&points, 2), r3 = kf_points_row(&points, 3);
    tap_check(tap, r0.index && r0.index[1] == 4 && r0.value[1] == 3, "a sparse row comes back");
    tap_check(tap, !r1.index && r1.count == 2, "indices 0 .. count-1 are stored as dense");
    tap_check(tap, r2.count == 3 && r2.index[0] == 0 && r2.index[2] == 5 && r2.value[0] == 9,
              "a lead shifts a sparse row");
    tap_check(tap, !r3.index && r3.count == 3 && r3.value[0] == 9, "and a dense one");
    uint32_t room[3];
    keepfit_row came = kf_lead_strip(&lead, &r2, room), dense_came = kf_lead_strip(&lead, &r3, NULL);
    tap_check(tap, came.count == 2 && came.index[0] == 1 && came.index[1] == 4 && came.value[1] == 3,
              "without it the sparse row is what came");
    tap_check(tap, !dense_came.index && dense_came.count == 2 && dense_came.value[0] == 2, "and so is the dense one");
    came = kf_lead_strip(&none, &r0, NULL);
    tap_check(tap, came.index == r0.index && came.count == 2 && came.value == r0.value,
              "where there is none, nothing is taken");
    for (int k = 0; k < 50000; k++)
        TAP_NEED(kf_points_append(&points, &sparse, NULL));
    tap_check(tap, kf_points_row(&points, 0).value == r0.value, "rows never move");
    kf_points_free(&points);
}

/* The constant that options put in front of rows; 0: none. */
static double lead_of(const char *key, const char *value, bool user_written)
{
    keepfit_options *options = keepfit_options_create();
    bool set = options && (!key || keepfit_options_set(options, key, value, NULL) == KEEPFIT_OK);
    struct kf_lead lead = set ? kf_lead_of(options, user_written) : (struct kf_lead){true, -1};
    keepfit_options_free(options);
    return lead.there == (lead.constant != 0) ? lead.constant : -1;
}

static void test_lead(struct tap *tap)
{
    tap_check(tap, lead_of(NULL, NULL, false) == 0, "rows have no lead unless one is asked for");
    tap_check(tap, lead_of("bias", "2.5", false) == 2.5, "a bias is one");
    tap_check(tap, lead_of("intercept", "true", false) == 1, "an intercept is a 1");
    tap_check(tap, lead_of("loss", "network:2", false) == 1, "and so are a network's biases");
    tap_check(tap, lead_of("bias", "2.5", true) == 0, "a user-written objective has none");
}

static bool crc_ways_agree(void)
{
    struct kf_random random;
    unsigned char bytes[200];
    bool agree = true;
    kf_random_seed(&random, 5);
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (unsigned char)kf_random_bits(&random);
    for (size_t from = 0; from < 9; from++)
        for (size_t count = 0; count + from <= sizeof bytes; count++)
            agree = agree && kf_crc32c(77, bytes + from, count) == kf_crc32c_plain(77, bytes + from, count);
    return agree;
}

/* The distance as it is defined: the last letters are changed, one is left out, or the last two are exchanged. */
static size_t plain_distance(const char *one, size_t m, const char *other, size_t n)
{
    if (m == 0 || n == 0)
        return m + n;
    size_t best = plain_distance(one, m - 1, other, n - 1) + (one[m - 1] != other[n - 1]);
    size_t left = plain_distance(one, m - 1, other, n) + 1, over = plain_distance(one, m, other, n - 1) + 1;
    best = left < best ? left : best;
    best = over < best ? over : best;
    if (m > 1 && n > 1 && one[m - 1] == other[n - 2] && one[m - 2] == other[n - 1]) {
        size_t exchanged = plain_distance(one, m - 2, other, n - 2) + 1;
        best = exchanged < best ? exchanged : best;
    }
    return best;
}

static void test_guesses(struct tap *tap)
{
    struct kf_random random;
    bool agree = true;
    size_t near = 0;
    kf_random_seed(&random, 8);
    for (int turn = 0; turn < 500; turn++) {
        char words[2][8] = {"", ""};
        for (int w = 0; w < 2; w++)
            for (size_t k = 0, length = 5 + kf_random_below(&random, 3); k < length; k++)
                words[w][k] = (char)('a' + kf_random_below(&random, 3));
        if (strncmp(words[1], words[0], strlen(words[0])) == 0)
            continue; /* a beginning is near, however much is missing */
        keepfit_guess guess = {.word = words[0]};
        size_t away = plain_distance(words[0], strlen(words[0]), words[1], strlen(words[1]));
        keepfit_guess_offer(&guess, words[1]);
        agree = agree && (*guess.nearest ? guess.distance == away && away <= 2 : away > 2);
        near += away <= 2;
    }
    tap_check(tap, agree && near > 20, "guesses go by the distance as it is defined (%zu of 500 words are near)", near);
    keepfit_guess guess = {.word = "Lambda_totl"};
    keepfit_guess_offer(&guess, "lambda|delta|lambda-total|network:H");
    tap_check(tap, strcmp(keepfit_guess_hint(&guess, "--"), "; did you mean --lambda-total?") == 0,
              "the nearest counts");
    guess = (keepfit_guess){.word = ""};
    keepfit_guess_offer(&guess, "a|b||lambda");
    tap_check(tap, *keepfit_guess_hint(&guess, "") == '\0', "nothing is like an empty word");
    guess = (keepfit_guess){.word = "xx"};
    keepfit_guess_offer(&guess, "x|xy|xxx");
    tap_check(tap, *guess.nearest == '\0', "words of two letters are too short to guess by");
}

/* Whether option k of the message is `text`, with a key of that many bytes. */
static bool names_option(const keepfit_error *error, size_t k, const char *text, size_t key)
{
    return k < error->options && error->option[k].length == strlen(text) && error->option[k].key == key &&
           strncmp(error->message + error->option[k].at, text, strlen(text)) == 0;
}

/* Messages say where they name options, and take nothing of a file's own text for one. */
static void test_messages(struct tap *tap)
{
    keepfit_error error = {0}, outer = {0};
    struct kf_marked marked;
    kf_fail_at(&error, KEEPFIT_DATA, "a{b}.csv", 3, 0, "{method=%s}: '%s' (" KF_OPTION("on-error=skip") "), {lambda}",
               "csvrg", "{seed}");
    tap_check(tap, strcmp(error.message, "a{b}.csv:3: method=csvrg: '{seed}' (on-error=skip), lambda") == 0,
              "marks are no part of a message: %s", error.message);
    tap_check(tap,
              error.options == 3 && names_option(&error, 0, "method=csvrg", 6) &&
                  names_option(&error, 1, "on-error=skip", 8) && names_option(&error, 2, "lambda", 6),
              "a message says where it names options, with a value or without");
    kf_fail(&outer, KEEPFIT_DATA, "{journal}: %s", kf_error_marked(&error, &marked));
    tap_check(tap,
              outer.options == 4 && names_option(&outer, 0, "journal", 7) && names_option(&outer, 3, "lambda", 6) &&
                  strstr(outer.message, error.message),
              "so does one that quotes another");
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    kf_fail(&error, KEEPFIT_DATA, "{lambda} {step=%s}", text);
    tap_check(tap, error.options == 1 && names_option(&error, 0, "lambda", 6) && strlen(error.message) > 400,
              "one that is cut off names what is whole");
    kf_fail(&error, KEEPFIT_DATA, "\1%s{a} {b} {c} {d} {e} {f} {g} {h} {i}\2", "\2\2");
    tap_check(tap,
              error.options == KEEPFIT_ERROR_OPTIONS && names_option(&error, 7, "h", 1) &&
                  strcmp(error.message, "a b c d e f g h i") == 0,
              "marks without partners, and too many, do no harm");
    keepfit_options *options = keepfit_options_create();
    bool named =
        keepfit_options_set(options, "lamda", "1", &error) == KEEPFIT_USAGE && names_option(&error, 0, "lambda", 6);
    tap_check(tap, named, "an option that is meant, most likely, is named: %s", error.message);
    keepfit_options_free(options);
}

int main(void)
{
    struct tap tap = {0};
    test_statuses(&tap);
    test_messages(&tap);
    test_options(&tap);
    test_types(&tap);
    test_guesses(&tap);
    test_numbers(&tap);
    test_long_numbers(&tap);
    test_random(&tap);
    tap_check(&tap, kf_crc32c(0, "123456789", 9) == 0xe3069283, "CRC-32C of the standard's check string");
    tap_check(&tap, kf_crc32c(kf_crc32c(0, "1234", 4), "56789", 5) == 0xe3069283, "and in two pieces");
    tap_check(&tap, crc_ways_agree(), "with and without the processor's instruction, at any start and length");
    test_points(&tap);
    test_lead(&tap);
    return tap_end(&tap);
}
