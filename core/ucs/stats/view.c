/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses counters (layout.h). The bytes may come from a process that is
 * changing them, or that is hostile. The caller has copied the bytes, so that
 * they do not change here, and every number in them is checked before use.
 */
#include "ucs/stats/internal.h"

#include "ucs/sys/sys.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TYPES_MAX = 64, COUNTERS_MAX = 4096 };

/* The bytes to parse; the header was checked. */
typedef struct {
    const char *bytes;
    const ucs_stats_header_t *header; /* the same address as `bytes` */
    size_t used; /* end of the records; not beyond the end of the bytes */
} source_t;

static ucs_status_t refuse(char *why, const char *what)
{
    snprintf(why, UCS_STATS_WHY_MAX, "%s", what);
    return UCS_ERR_INVALID_PARAM;
}

/* Copies a text of an untrusted process. Adds a terminating zero, and replaces
 * every character that is not printable ASCII by '?'. `size`: of both
 * arrays. */
static void take_text(char *dest, const char *src, size_t size)
{
    size_t i;

    for (i = 0; (i < size - 1) && (src[i] != '\0'); ++i) {
        dest[i] = ((src[i] >= ' ') && (src[i] < 127)) ? src[i] : '?';
    }
    dest[i] = '\0';
}

/* Returns whether an array at offset `at`, of `count` elements of `element`
 * bytes each, lies between the header and the first record. */
static int is_within(const source_t *source, uint64_t at, uint64_t count,
                     uint64_t element)
{
    uint64_t end = source->header->records_at;

    return (at >= sizeof(ucs_stats_header_t)) && ((at % 8) == 0) &&
           (at <= end) && (count <= (end - at) / element);
}

static ucs_status_t check_header(const void *bytes, size_t length,
                                 source_t *source, char *why)
{
    const ucs_stats_header_t *header = bytes;

    if ((length < sizeof(*header)) ||
        (memcmp(header->magic, UCS_STATS_MAGIC, sizeof(header->magic)) != 0)) {
        return refuse(why, "this is not a segment of counters");
    }
    if (header->major != UCS_STATS_MAJOR) {
        snprintf(why, UCS_STATS_WHY_MAX,
                 "the counters are laid out in version"
                 " %u.%u, and version %u.x is understood here: use the tool"
                 " that came with the program's library",
                 header->major, header->minor, UCS_STATS_MAJOR);
        return UCS_ERR_UNSUPPORTED;
    }

    source->bytes  = bytes;
    source->header = header;
    source->used   = (header->used < length) ? header->used : length;
    if (((header->records_at % 8) != 0) ||
        (header->records_at > source->used) ||
        (header->num_types > TYPES_MAX) ||
        (header->num_counters > COUNTERS_MAX) ||
        !is_within(source, header->types_at, header->num_types,
                   sizeof(ucs_stats_layout_type_t)) ||
        !is_within(source, header->counters_at, header->num_counters,
                   sizeof(ucs_stats_layout_counter_t))) {
        return refuse(why, "the header of the counters is inconsistent");
    }
    return UCS_OK;
}

/* --------------------------------------------------------------- schema -- */

/* Changes the units of the counters of one type, so that a counter of MESSAGES
 * is always followed by a counter of BYTES with the same name. Counters of
 * MESSAGES or BYTES that are not in such a pair become EVENTS. */
static void pair_up(ucs_stats_layout_counter_t *counters, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        if ((counters[i].unit == UCS_STATS_MESSAGES) && (i + 1 < count) &&
            (counters[i + 1].unit == UCS_STATS_BYTES) &&
            (strcmp(counters[i].name, counters[i + 1].name) == 0)) {
            ++i;
        } else {
            counters[i].unit = UCS_STATS_EVENTS;
        }
    }
}

static ucs_status_t take_schema(const source_t *source, ucs_stats_view_t *view,
                                char *why)
{
    const ucs_stats_header_t *header     = source->header;
    const ucs_stats_layout_type_t *types = (const void *)(source->bytes +
                                                          header->types_at);
    const ucs_stats_layout_counter_t *counters =
        (const void *)(source->bytes + header->counters_at);
    unsigned i;

    view->num_types = header->num_types;
    view->types     = calloc(header->num_types + 1, sizeof(*view->types));
    view->counters  = calloc(header->num_counters + 1, sizeof(*view->counters));
    if ((view->types == NULL) || (view->counters == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < header->num_counters; ++i) {
        take_text(view->counters[i].name, counters[i].name,
                  sizeof(counters[i].name));
        view->counters[i].unit = counters[i].unit;
    }
    for (i = 0; i < header->num_types; ++i) {
        ucs_stats_view_type_t *type = &view->types[i];

        take_text(type->name, types[i].name, sizeof(type->name));
        type->first_counter = types[i].first_counter;
        type->num_counters  = types[i].num_counters;
        if ((type->first_counter > header->num_counters) ||
            (type->num_counters > header->num_counters - type->first_counter)) {
            return refuse(why, "a type of record refers to counters that do "
                               "not exist");
        }
        pair_up(view->counters + type->first_counter, type->num_counters);
    }
    return UCS_OK;
}

/* -------------------------------------------------------------- records -- */

/* Returns whether the members of a record, other than its size, are valid. Of a
 * free record they need not be: the space of a new record is counted in
 * `used` before they are set. */
static int is_valid(const ucs_stats_record_t *record,
                    const ucs_stats_view_t *view)
{
    return (record->state == UCS_STATS_FREE) ||
           ((record->state < UCS_STATS_STATE_LAST) &&
            (record->type < view->num_types) &&
            (view->types[record->type].num_counters <=
             (record->size - sizeof(*record)) / sizeof(uint64_t)));
}

/* Returns the record at `offset`, or NULL if it is not valid. */
static const ucs_stats_record_t *
record_at(const source_t *source, const ucs_stats_view_t *view, size_t offset)
{
    const ucs_stats_record_t *record = (const void *)(source->bytes + offset);
    size_t left                      = source->used - offset;

    if ((left < sizeof(*record)) || (record->size < sizeof(*record)) ||
        ((record->size % 8) != 0) || (record->size > left) ||
        !is_valid(record, view)) {
        return NULL;
    }
    return record;
}

/* Counts the records that are not free, in view->num_records, and their values,
 * in *values_p. */
static ucs_status_t count_records(const source_t *source,
                                  ucs_stats_view_t *view, size_t *values_p,
                                  char *why)
{
    size_t offset = source->header->records_at;
    const ucs_stats_record_t *record;

    *values_p = 0;
    for (; offset < source->used; offset += record->size) {
        record = record_at(source, view, offset);
        if (record == NULL) {
            return refuse(why, "a record of the counters is inconsistent");
        }
        if (record->state != UCS_STATS_FREE) {
            ++view->num_records;
            *values_p += view->types[record->type].num_counters;
        }
    }
    return UCS_OK;
}

static void take_record(const ucs_stats_record_t *from, unsigned num_values,
                        ucs_stats_view_record_t *record, uint64_t *values)
{
    record->type   = from->type;
    record->state  = from->state;
    record->number = from->number;
    /* A parent was created before its child. The check excludes cycles, in
     * which printers would loop forever. */
    record->parent = (from->parent < from->number) ? from->parent : 0;
    record->status = from->status;
    record->since  = from->since;
    record->until  = from->until;
    record->values = values;
    take_text(record->name, from->name, sizeof(record->name));
    memcpy(values, from->values, num_values * sizeof(*values));
}

static int by_number(const void *a, const void *b)
{
    uint32_t left  = ((const ucs_stats_view_record_t *)a)->number;
    uint32_t right = ((const ucs_stats_view_record_t *)b)->number;

    return (left > right) - (left < right);
}

static ucs_status_t take_records(const source_t *source, ucs_stats_view_t *view,
                                 char *why)
{
    size_t offset = source->header->records_at;
    const ucs_stats_record_t *record;
    size_t num_values, next = 0;
    ucs_status_t status;
    unsigned i = 0;

    status = count_records(source, view, &num_values, why);
    if (status != UCS_OK) {
        return status;
    }

    view->records = calloc(view->num_records + 1, sizeof(*view->records));
    view->values  = calloc(num_values + 1, sizeof(*view->values));
    if ((view->records == NULL) || (view->values == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }

    for (; offset < source->used; offset += record->size) {
        record = record_at(source, view, offset);
        if (record->state != UCS_STATS_FREE) {
            num_values = view->types[record->type].num_counters;
            take_record(record, (unsigned)num_values, &view->records[i++],
                        view->values + next);
            next += num_values;
        }
    }
    qsort(view->records, view->num_records, sizeof(*view->records), by_number);
    return UCS_OK;
}

/* ------------------------------------------------------ complete views -- */

ucs_status_t ucs_stats_view_parse(const void *bytes, size_t length,
                                  ucs_stats_view_t **view_p, char *why)
{
    ucs_stats_view_t *view;
    struct timespec time;
    ucs_status_t status;
    source_t source;

    why[0] = '\0';
    status = check_header(bytes, length, &source, why);
    if (status != UCS_OK) {
        return status;
    }

    view = calloc(1, sizeof(*view));
    if (view == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    clock_gettime(CLOCK_REALTIME, &time);
    view->taken = (uint64_t)time.tv_sec * 1000000000ul + (uint64_t)time.tv_nsec;
    view->pid   = (pid_t)(source.header->pid & INT32_MAX);
    view->started = source.header->started;
    view->lost    = source.header->lost;
    take_text(view->host, source.header->host, sizeof(view->host));
    take_text(view->program, source.header->program, sizeof(view->program));
    status = take_schema(&source, view, why);
    if (status == UCS_OK) {
        status = take_records(&source, view, why);
    }
    if (status != UCS_OK) {
        ucs_stats_view_free(view);
        return status;
    }
    *view_p = view;
    return UCS_OK;
}

ucs_status_t ucs_stats_view_self(ucs_stats_view_t **view_p)
{
    char why[UCS_STATS_WHY_MAX];
    ucs_status_t status;
    size_t length;
    void *copy;

    copy = stats_segment_copy(&length);
    if (copy == NULL) {
        return UCS_ERR_NO_ELEM;
    }
    status = ucs_stats_view_parse(copy, length, view_p, why);
    free(copy);
    return status;
}

void ucs_stats_view_free(ucs_stats_view_t *view)
{
    if (view != NULL) {
        free(view->types);
        free(view->counters);
        free(view->records);
        free(view->values);
        free(view);
    }
}
