/* SPDX-License-Identifier: BSD-3-Clause */
/* What both sides of a test must agree on, and its form as text: the same words
 * come from the command line, from batch files and from the client. Not here:
 * what concerns one side only, such as its output. */
#ifndef PERFTEST_PARAMS_H
#define PERFTEST_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PARAMS_MAX_SIZES   = 64,
    PARAMS_MAX_THREADS = 64,
    PARAMS_NAME_MAX    = 32,
    PARAMS_TEXT_MAX    = 4096,
    PARAMS_ERROR_MAX   = 256
};

enum params_flag {
    PARAMS_LOOPBACK    = 1 << 0,
    PARAMS_NO_RESPONDER_PROGRESS = 1 << 1,
    PARAMS_NONBLOCK    = 1 << 2,  /* memory is registered late */
    PARAMS_WILDCARD    = 1 << 3,
    PARAMS_PROBE       = 1 << 4,
    PARAMS_WAKEUP      = 1 << 5,
    PARAMS_ERRORS      = 1 << 6,  /* endpoints with error handling */
    PARAMS_SLEEP       = 1 << 7,
    PARAMS_HANDLES     = 1 << 8,  /* sends and receives name their memory */
    PARAMS_STREAM_DATA = 1 << 9,  /* streams: take data where it lies */
    PARAMS_CHECK       = 1 << 10,
    PARAMS_IOV_SEND    = 1 << 11,
    PARAMS_IOV_RECV    = 1 << 12
};

enum params_layout {
    LAYOUT_SHORT,
    LAYOUT_SHORT_IOV,
    LAYOUT_BCOPY,
    LAYOUT_ZCOPY
};

struct params {
    char test[PARAMS_NAME_MAX];
    char transport[PARAMS_NAME_MAX];
    char device[PARAMS_NAME_MAX];
    uint64_t sizes[PARAMS_MAX_SIZES];
    unsigned size_count;
    uint64_t stride;       /* 0: the pieces lie side by side */
    uint64_t iterations;
    uint64_t warmup;
    uint64_t milliseconds; /* fewer iterations if they took longer; 0: no */
    unsigned outstanding;  /* 0: the test's own */
    unsigned threads;
    unsigned thread_mode;  /* a ucs_thread_mode_t */
    unsigned layout;       /* an enum params_layout, of UCT */
    int header;            /* of active messages; -1: the API's default */
    unsigned window;       /* active messages of UCT until an answer */
    unsigned async_mode;   /* a ucs_async_mode_t */
    unsigned send_memory;  /* a ucs_memory_type_t */
    unsigned recv_memory;
    unsigned flags;        /* of enum params_flag */
};

void params_init(struct params *params);

/*
 * Sets what the option `key` stands for: a letter (s) or a long name (check).
 * Returns false, and what is wrong in `error`, if the value is not one, and
 * likewise if there is no such key. `value` is NULL for flags.
 */
bool params_set(struct params *params, const char *key, const char *value,
                char error[PARAMS_ERROR_MAX]);

/* Whether the option is one of these, and takes a value. */
bool params_has(const char *key, bool *takes_value);

/* All of them as lines "key value", and back. What a peer sends is checked as
 * what a user types; keys that a newer peer adds are refused, since the test
 * would not be the same. */
size_t params_write(const struct params *params, char *text, size_t length);
bool params_read(struct params *params, const char *text, size_t length,
                 char error[PARAMS_ERROR_MAX]);

/* Bytes of one message, and those from its first to its last byte in memory
 * when it lies in pieces. */
uint64_t params_size(const struct params *params);
uint64_t params_extent(const struct params *params, bool pieces);

/* A number with k, m or g behind it; false if it is none, or over `max`. */
bool params_number(const char *text, uint64_t max, uint64_t *number_p);

/* Names of values, for what is printed. */
const char *params_layout_name(const struct params *params);
const char *params_memory_name(unsigned type);

#endif
