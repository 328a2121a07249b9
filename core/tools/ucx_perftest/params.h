/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters that both sides of a test must share, and their form as text,
 * which the command line, batch files and the protocol between the sides use.
 * Options of one side only, such as its output, are not here. */
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
    PARAMS_ERROR_MAX   = 256,
};

/* Bits of params.flags. The table in params.c names the option of each bit. */
enum params_flag {
    PARAMS_LOOPBACK              = 1 << 0,
    PARAMS_NO_RESPONDER_PROGRESS = 1 << 1,
    PARAMS_NONBLOCK    = 1 << 2, /* memory is registered without pinning */
    PARAMS_WILDCARD    = 1 << 3,
    PARAMS_PROBE       = 1 << 4,
    PARAMS_WAKEUP      = 1 << 5,
    PARAMS_ERRORS      = 1 << 6, /* endpoints handle errors
                                  * (UCP_ERR_HANDLING_MODE_PEER) */
    PARAMS_SLEEP       = 1 << 7,
    PARAMS_HANDLES     = 1 << 8, /* sends and receives pass memory handles */
    PARAMS_STREAM_DATA = 1 << 9, /* streams: receive without a copy
                                  * (stream_recv_data) */
    PARAMS_CHECK       = 1 << 10,
    PARAMS_IOV_SEND    = 1 << 11,
    PARAMS_IOV_RECV    = 1 << 12,
};

enum params_layout {
    LAYOUT_SHORT,
    LAYOUT_SHORT_IOV,
    LAYOUT_BCOPY,
    LAYOUT_ZCOPY,
};

struct params {
    char test[PARAMS_NAME_MAX];
    char transport[PARAMS_NAME_MAX];
    char device[PARAMS_NAME_MAX];
    /* Bytes of each buffer of a message, of which there are size_count */
    uint64_t sizes[PARAMS_MAX_SIZES];
    unsigned size_count;
    uint64_t stride; /* distance in bytes between the starts of two buffers; 0:
                      * no gaps */
    uint64_t iterations;
    uint64_t warmup;
    uint64_t milliseconds; /* maximum time of the measurement, which reduces the
                            * number of iterations; 0: no maximum */
    unsigned outstanding;  /* operations in flight; 0: default of the test */
    unsigned threads;
    unsigned thread_mode; /* a ucs_thread_mode_t */
    unsigned layout;      /* an enum params_layout, of UCT */
    int header;           /* size of the header of active messages in bytes; -1:
                           * not given (8 for UCT, no header for UCP) */
    unsigned window;      /* maximum number of unacknowledged active messages of
                           * UCT */
    unsigned async_mode;  /* a ucs_async_mode_t */
    unsigned send_memory; /* a ucs_memory_type_t */
    unsigned recv_memory;
    unsigned flags; /* bits of enum params_flag */
};

void params_init(struct params *params);

/*
 * Sets the option `key`: a letter (s) or a long name (check). On failure
 * (invalid value, unknown key) returns false and sets `error`. `value` is NULL
 * for flags.
 */
bool params_set(struct params *params, const char *key, const char *value,
                char error[PARAMS_ERROR_MAX]);

/* Returns whether params_set() accepts the option `key`, and in *takes_value
 * whether the option has a value. */
bool params_has(const char *key, bool *takes_value);

/* params_write() writes all parameters as lines "key value"; params_read()
 * parses such lines. Text from a peer is checked like that of a user. Unknown
 * keys of a newer peer are rejected, because the test would differ. */
size_t params_write(const struct params *params, char *text, size_t length);
bool params_read(struct params *params, const char *text, size_t length,
                 char error[PARAMS_ERROR_MAX]);

/* Returns the length of one message in bytes. */
uint64_t params_size(const struct params *params);
/* Returns the bytes of memory from the first to the last byte of a message.
 * `iov`: the message has one buffer for each size; otherwise it is
 * contiguous. */
uint64_t params_extent(const struct params *params, bool iov);

/* Parses a number with an optional suffix k, m or g (powers of 1024). Returns
 * false if it is invalid, or above `max`. */
bool params_number(const char *text, uint64_t max, uint64_t *number_p);

/* Return the names of values, for output. */
const char *params_layout_name(const struct params *params);
const char *params_memory_name(unsigned type);

#endif
