/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of counters in memory that other processes may read. The layout is
 * self-describing: a reader needs these structures, but no knowledge of
 * counters.
 *
 *   0           header
 *   types_at    types of records
 *   counters_at names of counters, for all types in order
 *   records_at  records in order, up to
 *   used        unused, up to
 *   size        the end
 *
 *   record  | size 4 | type 4 | state 4 | number 4 | parent 4 | status 4 |
 *           | since 8 | until 8 | next 4 | name 84 | values 8 each |
 *
 * Writers: the one thread that owns the object of a record writes its values,
 * by plain stores; the process writes everything else under a lock. A record is
 * valid after the store of its state. Numbers are in native byte order, because
 * readers run on the same machine. A minor version appends fields; readers
 * reject an unknown major version.
 */
#ifndef UCS_STATS_LAYOUT_H
#define UCS_STATS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define UCS_STATS_MAGIC "UCXSTATS"

/* Name of the memory file in /proc/PID/fd. */
#define UCS_STATS_FILE_NAME "ucx-stats"

enum {
    UCS_STATS_MAJOR    = 1,
    UCS_STATS_MINOR    = 0,
    UCS_STATS_NAME_MAX = 84,
    UCS_STATS_SIZE_MAX = 1 << 30,
};

typedef struct {
    char magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t pid;
    uint64_t size; /* total size in bytes */
    uint64_t used; /* end of the records */
    uint32_t types_at;
    uint32_t num_types;
    uint32_t counters_at;
    uint32_t num_counters; /* of all types */
    uint32_t records_at;
    uint32_t reserved;
    uint64_t started; /* ns since 1970 */
    uint64_t lost;    /* records that did not fit */
    char host[64];
    char program[64];
} ucs_stats_header_t;

typedef struct {
    char name[24];
    uint32_t record_size;   /* in bytes, including its values */
    uint32_t first_counter; /* index in the array of counters */
    uint32_t num_counters;  /* values of a record */
    uint32_t reserved;
} ucs_stats_layout_type_t;

/* Unit of a value. MESSAGES and the following BYTES have the same name. */
enum {
    UCS_STATS_EVENTS   = 0,
    UCS_STATS_MESSAGES = 1,
    UCS_STATS_BYTES    = 2,
    UCS_STATS_UNIT_LAST,
};

typedef struct {
    char name[40];
    uint32_t unit;
    uint32_t reserved;
} ucs_stats_layout_counter_t;

enum {
    UCS_STATS_FREE  = 0, /* can be reused */
    UCS_STATS_LIVE  = 1,
    UCS_STATS_ENDED = 2, /* its object is destroyed */
    UCS_STATS_SUM   = 3, /* sum of records that were reused or did not fit */
    UCS_STATS_STATE_LAST,
};

typedef struct ucs_stats_record {
    uint32_t size; /* in bytes, including the values; a multiple of 64 */
    uint32_t type;
    uint32_t state;
    uint32_t number; /* from 1, in order of creation */
    uint32_t parent; /* `number` of the parent record; 0: none */
    int32_t status;  /* why the object was destroyed: a ucs_status_t */
    uint64_t since;  /* ns since 1970 */
    uint64_t until;  /* 0: the object exists */
    uint32_t next;   /* private to the writer */
    char name[UCS_STATS_NAME_MAX];
    uint64_t values[];
} ucs_stats_record_t;

_Static_assert(sizeof(ucs_stats_header_t) == 200, "layout");
_Static_assert(offsetof(ucs_stats_header_t, started) == 56, "layout");
_Static_assert(sizeof(ucs_stats_layout_type_t) == 40, "layout");
_Static_assert(sizeof(ucs_stats_layout_counter_t) == 48, "layout");
_Static_assert(sizeof(ucs_stats_record_t) == 128, "layout");
_Static_assert(offsetof(ucs_stats_record_t, name) == 44, "layout");

#endif
