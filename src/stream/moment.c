#include "stream/moment.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "stream/token.h"

#define DAY 86400
#define WHOLE 6.283185307179586477 /* turn, as an angle */
#define LEAST (-62135596800.0)     /* 0001-01-01T00:00:00Z */
#define MOST 253402300800.0        /* 10000-01-01T00:00:00Z */

const char *const kf_moment_names[KF_MOMENT_PARTS] = {"hour.sin",    "hour.cos",    "weekday.sin",
                                                      "weekday.cos", "yearday.sin", "yearday.cos"};

/* Exactly `digits` digits at *at. */
static bool take(const char **at, const char *end, int digits, int *number)
{
    *number = 0;
    if (end - *at < digits)
        return false;
    for (int k = 0; k < digits; k++) {
        if (!kf_is_digit((*at)[k]))
            return false;
        *number = *number * 10 + ((*at)[k] - '0');
    }
    *at += digits;
    return true;
}

static bool take_sign(const char **at, const char *end, char sign)
{
    if (*at == end || **at != sign)
        return false;
    (*at)++;
    return true;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that a leap day is the last one. */
static int64_t days_before(int year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = y / 400, in_era = y - era * 400;
    int64_t yearday = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + yearday - 719468;
}

static bool take_date(const char **at, const char *end, double *seconds)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take(at, end, 4, &year) || !take_sign(at, end, '-') || !take(at, end, 2, &month) || !take_sign(at, end, '-') ||
        !take(at, end, 2, &day) || year < 1 || month < 1 || month > 12)
        return false;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && is_leap(year)))
        return false;
    *seconds = (double)days_before(year, month, day) * DAY;
    return true;
}

/* Digits behind the point of the seconds: as many as there are. */
static bool take_fraction(const char **at, const char *end, double *seconds)
{
    double unit = 1;
    const char *first = *at;
    for (; *at < end && kf_is_digit(**at); (*at)++)
        *seconds += (**at - '0') * (unit /= 10);
    return *at > first;
}

static bool take_clock(const char **at, const char *end, double *seconds)
{
    int hour, minute, second = 0;
    if (!take(at, end, 2, &hour) || !take_sign(at, end, ':') || !take(at, end, 2, &minute))
        return false;
    double fraction = 0;
    if (take_sign(at, end, ':')) {
        if (!take(at, end, 2, &second))
            return false;
        if ((take_sign(at, end, '.') || take_sign(at, end, ',')) && !take_fraction(at, end, &fraction))
            return false;
    }
    *seconds += hour * 3600 + minute * 60 + second + fraction;
    return hour < 24 && minute < 60 && second <= 60; /* a leap second is the next one */
}

/* Nothing, Z, +02, +0200 or +02:00. */
static bool take_zone(const char **at, const char *end, double *seconds)
{
    int hours, minutes = 0;
    if (*at == end || ((take_sign(at, end, 'Z') || take_sign(at, end, 'z')) && *at == end))
        return true;
    double sign = **at == '-' ? -1 : 1;
    if (!take_sign(at, end, '+') && !take_sign(at, end, '-'))
        return false;
    if (!take(at, end, 2, &hours))
        return false;
    if (*at < end) {
        take_sign(at, end, ':');
        if (!take(at, end, 2, &minutes))
            return false;
    }
    *seconds -= sign * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60 && *at == end;
}

bool kf_read_iso(const char *text, const char *end, double *seconds)
{
    double made;
    if (!take_date(&text, end, &made))
        return false;
    if (text < end) {
        if (!take_sign(&text, end, 'T') && !take_sign(&text, end, 't') && !take_sign(&text, end, ' '))
            return false;
        if (!take_clock(&text, end, &made))
            return false;
        while (text < end && *text == ' ')
            text++;
        if (!take_zone(&text, end, &made))
            return false;
    }
    *seconds = made;
    return made >= LEAST && made < MOST;
}

bool kf_read_moment(const char *text, const char *end, double *seconds)
{
    return kf_read_iso(text, end, seconds) ||
           (kf_read_whole_real(text, end, seconds) && *seconds >= LEAST && *seconds < MOST);
}

/* The year of a day, and the day in it, from 0. */
static int year_of(int64_t day, int64_t *yearday)
{
    int year = 1970 + (int)((double)day / 365.2425);
    while (days_before(year, 1, 1) > day)
        year--;
    while (days_before(year + 1, 1, 1) <= day)
        year++;
    *yearday = day - days_before(year, 1, 1);
    return year;
}

/* Rounded to 40 bits, since libraries differ in the last ones, and models are to have the same bits everywhere. */
static double rounded(double value)
{
    return rint(value * 0x1p40) * 0x1p-40;
}

static void put_circle(double share, double part[2])
{
    part[0] = rounded(sin(WHOLE * share));
    part[1] = rounded(cos(WHOLE * share));
}

/* Sine and cosine of each minute of the day. */
static double minute_circle[1440][2];
static pthread_once_t minutes_made = PTHREAD_ONCE_INIT;

static void make_minutes(void)
{
    for (size_t k = 0; k < 1440; k++) {
        minute_circle[k][0] = sin(WHOLE * ((double)k / 1440));
        minute_circle[k][1] = cos(WHOLE * ((double)k / 1440));
    }
}

/* The minute's, turned on by the angle x < 0.0044 of the seconds: what the series leave out is below 1e-20. */
static void put_clock(double clock, double part[2])
{
    pthread_once(&minutes_made, make_minutes);
    unsigned minute = (unsigned)clock / 60;
    minute = minute < 1440 ? minute : 1439;
    const double *circle = minute_circle[minute];
    double x = (clock - 60 * (double)minute) * (WHOLE / DAY), square = x * x;
    double sine = x * (1 - square * (1.0 / 6) * (1 - square * (1.0 / 20)));
    double cosine = 1 - square * 0.5 * (1 - square * (1.0 / 12));
    part[0] = rounded(circle[0] * cosine + circle[1] * sine);
    part[1] = rounded(circle[1] * cosine - circle[0] * sine);
}

static void put_day(struct kf_moment_day *last, double day)
{
    int64_t yearday, weekday = ((int64_t)day + 3) % 7; /* 1970-01-01 was a Thursday; Monday is 0 */
    int year = year_of((int64_t)day, &yearday);
    put_circle((double)(weekday < 0 ? weekday + 7 : weekday) / 7, last->part + 2);
    put_circle((double)yearday / (365 + is_leap(year)), last->part + 4);
    last->day = day;
    last->known = true;
}

void kf_moment_take_apart(struct kf_moment_day *last, double seconds, double part[KF_MOMENT_PARTS])
{
    double day = floor(seconds / DAY), clock = seconds - day * DAY;
    if (!last->known || last->day != day)
        put_day(last, day);
    memcpy(part, last->part, sizeof last->part);
    put_clock(clock, part);
}

void kf_age_write(double since, char text[KF_AGE_ROOM])
{
    double day = floor(since / DAY);
    int64_t yearday, clock = (int64_t)(since - day * DAY);
    int year = year_of((int64_t)day, &yearday), month = 1;
    while (month < 12 && days_before(year, month + 1, 1) <= (int64_t)day)
        month++;
    int64_t monthday = (int64_t)day - days_before(year, month, 1) + 1;
    snprintf(text, KF_AGE_ROOM, "age since %04d-%02d-%02dT%02d:%02d:%02dZ", year % 10000, month, (int)(monthday % 100),
             (int)(clock / 3600 % 24), (int)(clock / 60 % 60), (int)(clock % 60));
}

bool kf_age_read(const char *text, double *since)
{
    static const char begins[] = "age since ";
    size_t length = sizeof begins - 1;
    return strncmp(text, begins, length) == 0 && kf_read_iso(text + length, text + strlen(text), since);
}
