/* An event log as people have them: payments with a time, categories (some only late), amounts, blanks, truth values, and a note, in
 * a table with a line of names. A hidden model of amount, country, device, note and hour decides which are fraud.
 *
 * With drift D the share of fraud from each country moves by D from the first row to the last. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "generate.h"
#include "toolkit/output.h"

#define BEGINS 1704067200 /* 2024-01-01T00:00:00Z */
#define MERCHANTS 2000

struct event {
    time_t when;
    unsigned merchant, country, previous, note;
    double amount;
    bool new_device;
};

static const char *const countries[] = {"DE", "FR", "US", "BR", "Korea, Republic of", "NG", ""};
static const double risks[] = {-0.4, -0.2, 0.1, 0.3, -0.3, 0.9, 0.5};
static const char *const notes[] = {"",
                                    "repeat order",
                                    "card not present",
                                    "paid late, again",
                                    "first order of a new customer",
                                    "address and card differ",
                                    "\"\"urgent\"\" delivery to a parcel locker"};
static const double hints[] = {0, -0.8, 0.5, 0.2, 0.4, 1.2, 1};
enum { COUNTRIES = sizeof countries / sizeof countries[0], NOTES = sizeof notes / sizeof notes[0] };

static struct event make_event(struct source *source, time_t when)
{
    struct event event = {.when = when};
    double shop = pow(uniform(source), -1.2) - 1; /* few have most; new ones keep coming */
    event.merchant = shop < MERCHANTS ? (unsigned)shop : MERCHANTS;
    event.country = (unsigned)(COUNTRIES * uniform(source) * uniform(source));
    event.amount = exp(3 + normal(source));
    event.new_device = uniform(source) < 0.2;
    event.previous = (unsigned)(9 * uniform(source) * uniform(source));
    event.note = (unsigned)(draw(source) % NOTES);
    return event;
}

static double risk_of(const struct event *event, double drift)
{
    double night = event->when % 86400 < 6 * 3600 ? 0.8 : 0;
    double turn = event->country % 2 ? drift : -drift;
    return 0.7 * log(event->amount / 60) + risks[event->country] + turn + hints[event->note] + night +
           1.5 * event->new_device - 0.2 * event->previous;
}

/* ok, fraud, or where there are three classes disputed. */
static const char *label_of(struct source *source, const struct event *event, const struct log *log, double progress)
{
    static const char *const labels[] = {"ok", "fraud", "disputed"};
    unsigned classes = log->three ? 3 : 2;
    if (uniform(source) < log->noise)
        return labels[draw(source) % classes];
    bool fraud = uniform(source) < 1 / (1 + exp(-2 * (risk_of(event, log->drift * progress) - 1)));
    return labels[fraud ? log->three && event->note == 3 ? 2 : 1 : 0];
}

static void write_event(const struct event *event, struct source *source, uint64_t row, const char *label)
{
    struct tm moment;
    char when[32], amount[32] = "";
    gmtime_r(&event->when, &moment);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &moment);
    double known = uniform(source);
    if (known > 0.04)
        snprintf(amount, sizeof amount, "%.2f", event->amount);
    else if (known > 0.02)
        snprintf(amount, sizeof amount, "NA");
    bool quoted = event->merchant % 7 == 3;
    printf("e%09llu,%s,%s%u%s,%s%s%s,%s,%s,%u,\"%s\",%s\n", (unsigned long long)row, when,
           quoted ? "\"Meyer, Sons & " : "shop-", event->merchant, quoted ? "\"" : "", event->country == 4 ? "\"" : "",
           countries[event->country], event->country == 4 ? "\"" : "", amount, event->new_device ? "true" : "false",
           event->previous, notes[event->note], label);
}

void generate_log(const struct log *log)
{
    struct source source = {log->seed};
    time_t when = BEGINS;
    puts("event_id,ts,merchant,country,amount,is_new_device,n_prev,note,label");
    for (uint64_t row = 0; row < log->rows && !ferror(stdout); row++) {
        when += (time_t)(-60 * log1p(-uniform(&source))); /* one a minute, on average */
        struct event event = make_event(&source, when);
        const char *label = label_of(&source, &event, log, (double)row / (double)log->rows);
        write_event(&event, &source, row + 1, label);
    }
}
