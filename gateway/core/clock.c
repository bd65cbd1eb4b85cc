/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library's calendar functions follow the process's locale and zone and take far more than
 * the protocols allow, so dates are read by a cursor and counted in whole numbers here.
 */
#include "gateway/core/clock.h"

#include <string.h>
#include <time.h>

enum {
    DAY_S = 86400,
    DAY_MS = DAY_S * 1000,
    DAYS_PER_400_YEARS = 146097,
    DAYS_BEFORE_1970 = 719468
};

struct civil { /* a date and a time of day, as written */
    int64_t year, month, day, hour, minute, second;
};

static const char *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const day_names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};

int64_t clock_wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t clock_steady_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* Days since 1970-01-01 in the Gregorian calendar. The year is counted from March, so that the leap
 * day is its last; 153 days are five months from there. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

    return era * DAYS_PER_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           DAYS_BEFORE_1970;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    int64_t next_year = month == 12 ? year + 1 : year;

    return days_of(next_year, month % 12 + 1, 1) - days_of(year, month, 1);
}

/* Seconds since 1970 of a time that is `offset_s` ahead of UTC. Second 60 is a leap second, which
 * there is only at the end of a UTC day; it counts as the second after it. */
static bool seconds_of(const struct civil *c, int64_t offset_s, int64_t *seconds)
{
    if (c->month < 1 || c->month > 12 || c->day < 1 || c->day > days_in_month(c->year, c->month) ||
        c->hour > 23 || c->minute > 59 || c->second > 60)
        return false;
    int64_t sum = days_of(c->year, c->month, c->day) * DAY_S + c->hour * 3600 + c->minute * 60 +
                  c->second - offset_s;
    if (c->second == 60 && sum % DAY_S != 0)
        return false;
    *seconds = sum;
    return true;
}

/* The cursor: each takes from the front of `*s` or leaves it as it is. */

static bool take(struct slice *s, struct slice expected)
{
    if (!slice_starts(*s, expected))
        return false;
    *s = slice_from_at(*s, expected.len);
    return true;
}

static bool take_digits(struct slice *s, size_t count, int64_t *number)
{
    uint64_t value = 0;

    if (s->len < count || !slice_number(slice_first(*s, count), &value))
        return false;
    *number = (int64_t)value;
    *s = slice_from_at(*s, count);
    return true;
}

static bool take_time(struct slice *s, struct civil *c)
{
    return take_digits(s, 2, &c->hour) && take(s, SLICE(":")) && take_digits(s, 2, &c->minute) &&
           take(s, SLICE(":")) && take_digits(s, 2, &c->second);
}

static bool take_month(struct slice *s, struct civil *c)
{
    for (int i = 0; i < 12; i++)
        if (take(s, slice_from(month_names[i]))) {
            c->month = i + 1;
            return true;
        }
    return false;
}

/* Decimals of a second, as milliseconds; what is finer is dropped. */
static bool take_fraction(struct slice *s, int64_t *ms)
{
    int64_t digit = 0, unit = 100;

    if (!take(s, SLICE(".")))
        return true;
    if (!take_digits(s, 1, &digit))
        return false;
    do {
        *ms += digit * unit;
        unit /= 10;
    } while (take_digits(s, 1, &digit));
    return true;
}

static bool take_offset(struct slice *s, int64_t *offset_s)
{
    int64_t hours = 0, minutes = 0;

    if (take(s, SLICE("Z")) || take(s, SLICE("z")))
        return true;
    bool behind = take(s, SLICE("-"));
    if (!behind && !take(s, SLICE("+")))
        return false;
    if (!take_digits(s, 2, &hours) || !take(s, SLICE(":")) || !take_digits(s, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *offset_s = (behind ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

bool clock_parse_iso(struct slice text, int64_t *wall_ms)
{
    struct civil c = {0};
    int64_t ms = 0, offset_s = 0, seconds = 0;

    if (!take_digits(&text, 4, &c.year) || !take(&text, SLICE("-")) ||
        !take_digits(&text, 2, &c.month) || !take(&text, SLICE("-")) ||
        !take_digits(&text, 2, &c.day) || (!take(&text, SLICE("T")) && !take(&text, SLICE("t"))))
        return false;
    if (!take_time(&text, &c) || !take_fraction(&text, &ms) || !take_offset(&text, &offset_s) ||
        text.len > 0 || !seconds_of(&c, offset_s, &seconds))
        return false;
    *wall_ms = seconds * 1000 + ms;
    return true;
}

/* "06 Nov 1994 08:49:37 GMT", after "Sun, " */
static bool take_fixdate(struct slice *s, struct civil *c)
{
    return take_digits(s, 2, &c->day) && take(s, SLICE(" ")) && take_month(s, c) &&
           take(s, SLICE(" ")) && take_digits(s, 4, &c->year) && take(s, SLICE(" ")) &&
           take_time(s, c) && take(s, SLICE(" GMT"));
}

/* "06-Nov-94 08:49:37 GMT", after "Sunday, ". Years below 70 are of this century, as POSIX has it:
 * the RFC's rule would need to know today. */
static bool take_rfc850(struct slice *s, struct civil *c)
{
    bool fine = take_digits(s, 2, &c->day) && take(s, SLICE("-")) && take_month(s, c) &&
                take(s, SLICE("-")) && take_digits(s, 2, &c->year) && take(s, SLICE(" ")) &&
                take_time(s, c) && take(s, SLICE(" GMT"));

    c->year += c->year < 70 ? 2000 : 1900;
    return fine;
}

/* "Nov  6 08:49:37 1994", after "Sun " */
static bool take_asctime(struct slice *s, struct civil *c)
{
    if (!take_month(s, c) || !take(s, SLICE(" ")))
        return false;
    size_t digits = take(s, SLICE(" ")) ? 1 : 2;
    return take_digits(s, digits, &c->day) && take(s, SLICE(" ")) && take_time(s, c) &&
           take(s, SLICE(" ")) && take_digits(s, 4, &c->year);
}

static bool take_any_form(struct slice *s, struct civil *c)
{
    for (size_t i = 0; i < sizeof(day_names) / sizeof(day_names[0]); i++) {
        struct slice full = slice_from(day_names[i]);
        if (take(s, full))
            return take(s, SLICE(", ")) && take_rfc850(s, c);
        if (!take(s, slice_first(full, 3)))
            continue;
        return take(s, SLICE(", ")) ? take_fixdate(s, c)
                                    : take(s, SLICE(" ")) && take_asctime(s, c);
    }
    return false;
}

bool clock_parse_http_date(struct slice text, int64_t *wall_ms)
{
    struct civil c = {0};
    int64_t seconds = 0;

    if (!take_any_form(&text, &c) || text.len > 0 || !seconds_of(&c, 0, &seconds))
        return false;
    *wall_ms = seconds * 1000;
    return true;
}

static void put_digits(char *text, size_t count, int64_t number)
{
    for (; count > 0; number /= 10)
        text[--count] = (char)('0' + number % 10);
}

void clock_format_iso(int64_t wall_ms, char text[static CLOCK_ISO_SIZE])
{
    const int64_t first_ms = days_of(0, 1, 1) * DAY_MS, last_ms = days_of(10000, 1, 1) * DAY_MS - 1;
    int64_t wall = wall_ms < first_ms ? first_ms : wall_ms > last_ms ? last_ms : wall_ms;
    int64_t days = floor_div(wall, DAY_MS), ms = wall - days * DAY_MS;
    int64_t year = 1970 + floor_div(days, days < 0 ? 365 : 366), month = 1; /* not after it */

    while (days_of(year + 1, 1, 1) <= days)
        year++;
    while (month < 12 && days_of(year, month + 1, 1) <= days)
        month++;
    int64_t day = days - days_of(year, month, 1) + 1;
    memcpy(text, "0000-00-00T00:00:00.000Z", CLOCK_ISO_SIZE);
    put_digits(text, 4, year);
    put_digits(text + 5, 2, month);
    put_digits(text + 8, 2, day);
    put_digits(text + 11, 2, ms / 3600000);
    put_digits(text + 14, 2, ms / 60000 % 60);
    put_digits(text + 17, 2, ms / 1000 % 60);
    put_digits(text + 20, 3, ms % 1000);
}
