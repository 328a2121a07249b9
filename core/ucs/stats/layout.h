/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What counters look like in memory that other processes may read. It describes
 * itself: a reader needs to know these structures and no counter.
 *
 *   0                 header
 *   types_at          what kinds of records there are
 *   counters_at       what their values are called, type after type
 *   records_at        records, one behind the other
 *   used              nothing yet, up to
 *   size              the end
 *
 *   record   | size 4 | type 4 | state 4 | number 4 | parent 4 | status 4 |
 *            | since 8 | until 8 | next 4 | name 84 | values 8 each |
 *
 * Who writes: a record's values the one thread that owns what they are about,
 * by plain stores; everything else the process under a lock. A record is valid
 * from the store of its state. Numbers are of the machine's byte order: nobody
 * reads this on another one. Fields are added behind those that are there, with
 * a new minor; a new major is a layout that old readers refuse.
 */
#ifndef UCS_STATS_LAYOUT_H
#define UCS_STATS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define UCS_STATS_MAGIC "UCXSTATS"

/* The name of the memory file, as /proc/PID/fd shows it. */
#define UCS_STATS_FILE_NAME "ucx-stats"

enum {
    UCS_STATS_MAJOR    = 1,
    UCS_STATS_MINOR    = 0,
    UCS_STATS_NAME_MAX = 84,
    UCS_STATS_SIZE_MAX = 1 << 30
};

typedef struct {
    char     magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t pid;
    uint64_t size;          /* of all of it, bytes */
    uint64_t used;          /* up to here records were made */
    uint32_t types_at;
    uint32_t num_types;
    uint32_t counters_at;
    uint32_t num_counters;  /* of all types together */
    uint32_t records_at;
    uint32_t reserved;
    uint64_t started;       /* ns since 1970 */
    uint64_t lost;          /* records that there was no room for */
    char     host[64];
    char     program[64];
} ucs_stats_header_t;

typedef struct {
    char     name[24];
    uint32_t record_size;   /* bytes, with its values */
    uint32_t first_counter; /* in the array of counters */
    uint32_t num_counters;  /* values of a record */
    uint32_t reserved;
} ucs_stats_layout_type_t;

/* What a value counts. MESSAGES and the BYTES behind it are of one name. */
enum {
    UCS_STATS_EVENTS   = 0,
    UCS_STATS_MESSAGES = 1,
    UCS_STATS_BYTES    = 2,
    UCS_STATS_UNIT_LAST
};

typedef struct {
    char     name[40];
    uint32_t unit;
    uint32_t reserved;
} ucs_stats_layout_counter_t;

enum {
    UCS_STATS_FREE  = 0,    /* may become another one */
    UCS_STATS_LIVE  = 1,
    UCS_STATS_ENDED = 2,    /* what it counted is no more */
    UCS_STATS_SUM   = 3,    /* of those that had to make room, or found none */
    UCS_STATS_STATE_LAST
};

typedef struct ucs_stats_record {
    uint32_t size;          /* bytes, with the values; a multiple of 64 */
    uint32_t type;
    uint32_t state;
    uint32_t number;        /* from 1, in order of making */
    uint32_t parent;        /* a number; 0: none */
    int32_t  status;        /* why it ended: a ucs_status_t */
    uint64_t since;         /* ns since 1970 */
    uint64_t until;         /* 0: still there */
    uint32_t next;          /* the writer's own */
    char     name[UCS_STATS_NAME_MAX];
    uint64_t values[];
} ucs_stats_record_t;

_Static_assert(sizeof(ucs_stats_header_t) == 200, "layout");
_Static_assert(offsetof(ucs_stats_header_t, started) == 56, "layout");
_Static_assert(sizeof(ucs_stats_layout_type_t) == 40, "layout");
_Static_assert(sizeof(ucs_stats_layout_counter_t) == 48, "layout");
_Static_assert(sizeof(ucs_stats_record_t) == 128, "layout");
_Static_assert(offsetof(ucs_stats_record_t, name) == 44, "layout");

#endif
