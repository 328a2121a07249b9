/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of counters in memory that other processes may read. A record has the
 * counters of one object, such as an endpoint; its type defines which counters
 * these are. The layout contains the names of types and counters, so that a
 * reader needs these structures only.
 *
 *   0           header
 *   types_at    types of records
 *   counters_at names and units of the counters of all types
 *   records_at  records, one after the other
 *   used        end of the records; the rest is unused
 *   size        end of the memory
 *
 *   record  | size 4 | type 4 | state 4 | number 4 | parent 4 | status 4 |
 *           | since 8 | until 8 | next 4 | name 84 | values 8 each |
 *
 * Writers: the threads that use an object write the values of its record,
 * without a lock. All other parts are written under a lock of the process that
 * counts. The state of a new record is stored last, with release order, so that
 * the other members are valid when a reader sees it. Numbers are in native byte
 * order, because readers run on the same machine. A new minor version may
 * append members; readers reject an unknown major version.
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
    UCS_STATS_NAME_MAX = 84,      /* bytes, with the terminating zero */
    UCS_STATS_SIZE_MAX = 1 << 30, /* bytes of the whole memory */
};

typedef struct {
    char magic[8]; /* UCS_STATS_MAGIC without the terminating zero; stored last
                    * when the memory is initialized */
    uint16_t major;
    uint16_t minor;
    uint32_t pid;          /* process that counts */
    uint64_t size;         /* bytes of the whole memory */
    uint64_t used;         /* offset of the end of the records */
    uint32_t types_at;     /* offset of the array of types */
    uint32_t num_types;    /* number of types; may increase */
    uint32_t counters_at;  /* offset of the array of counters */
    uint32_t num_counters; /* length of that array; may increase */
    uint32_t records_at;   /* offset of the first record */
    uint32_t reserved;
    uint64_t started; /* when counting began, ns since 1970 */
    uint64_t lost;    /* number of records that could not be created for lack of
                       * space */
    char host[64];
    char program[64]; /* file name of the program */
} ucs_stats_header_t;

/* A type of records. */
typedef struct {
    char name[24];
    uint32_t record_size;   /* bytes of a record, including its values */
    uint32_t first_counter; /* index in the array of counters */
    uint32_t num_counters;  /* number of counters, and of values of a record */
    uint32_t reserved;
} ucs_stats_layout_type_t;

/* Unit of a counter. A counter of MESSAGES is followed by a counter of BYTES,
 * which has the same name and counts the bytes of these messages. */
enum {
    UCS_STATS_EVENTS   = 0,
    UCS_STATS_MESSAGES = 1,
    UCS_STATS_BYTES    = 2,
    UCS_STATS_UNIT_LAST,
};

typedef struct {
    char name[40];
    uint32_t unit; /* UCS_STATS_EVENTS, _MESSAGES or _BYTES */
    uint32_t reserved;
} ucs_stats_layout_counter_t;

/* State of a record. */
enum {
    UCS_STATS_FREE  = 0, /* not in use: only `size` is valid, by which readers
                          * skip the record */
    UCS_STATS_LIVE  = 1, /* the object exists */
    UCS_STATS_ENDED = 2, /* the object is destroyed; the record is kept until
                          * its space is needed */
    UCS_STATS_SUM   = 3, /* not of one object: sum of ended records whose space
                          * was reused, or of objects without a record */
    UCS_STATS_STATE_LAST,
};

typedef struct ucs_stats_record {
    uint32_t size;   /* bytes, including the values; a multiple of 64 */
    uint32_t type;   /* index of the type */
    uint32_t state;  /* UCS_STATS_FREE, _LIVE, _ENDED or _SUM */
    uint32_t number; /* from 1, in order of creation; not reused */
    uint32_t parent; /* `number` of the parent record; 0: none */
    int32_t status;  /* of an ended record: why the object was destroyed, a
                      * ucs_status_t */
    uint64_t since;  /* when the record was created, ns since 1970 */
    uint64_t until;  /* when it ended, ns since 1970; 0: not ended */
    uint32_t next;   /* offset of the next record in a list of the process that
                      * counts; readers ignore it */
    char name[UCS_STATS_NAME_MAX]; /* of the object */
    uint64_t values[];             /* one for each counter of the type */
} ucs_stats_record_t;

_Static_assert(sizeof(ucs_stats_header_t) == 200, "layout");
_Static_assert(offsetof(ucs_stats_header_t, started) == 56, "layout");
_Static_assert(sizeof(ucs_stats_layout_type_t) == 40, "layout");
_Static_assert(sizeof(ucs_stats_layout_counter_t) == 48, "layout");
_Static_assert(sizeof(ucs_stats_record_t) == 128, "layout");
_Static_assert(offsetof(ucs_stats_record_t, name) == 44, "layout");

#endif
