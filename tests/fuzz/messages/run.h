/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the parts of the fuzz target of messages: the state of a run, and
 * the input as a stream of small numbers. user.c has the user's operations,
 * peer.c the messages of a hostile peer, am.c both for active messages;
 * fuzz_messages.c interprets the input.
 */
#ifndef FUZZ_MESSAGES_RUN_H
#define FUZZ_MESSAGES_RUN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucx/transport.h>

#include "ucp/rndv/rndv.h"

enum {
    NUM_EPS   = 4,  /* slots of endpoints */
    NUM_OPS   = 48, /* total operations of the user */
    MAX_STEPS = 160,
    MAX_HELD  = 256,
    MAX_KEPT  = 32,  /* active messages that the user has kept */
    MAX_KEYS  = 64,  /* bytes of a list of keys */
    MAX_BYTES = 300, /* maximum length of an arbitrary message */
};

/* First byte of an input: a mask of modes */
enum {
    MODE_PUT      = 1 << 0, /* lanes support put, and hold its completion */
    /* the worker is destroyed while operations are outstanding */
    MODE_ABRUPT   = 1 << 1,
    MODE_ERR_MODE = 1 << 2,
    MODE_GET      = 1 << 3, /* lanes support get, and hold its completion */
};

typedef struct {
    void *request; /* NULL: none, or freed */
    void *buffer;
    ucp_dt_iov_t *iov;
    int pending; /* a callback is expected */
    int calls;
    int action; /* of the callback: see act() */
    int receive;
    ucp_tag_t tag;
} op_t;

typedef struct {
    const uint8_t *data;
    size_t left;
} reader_t;

/* State of one run */
typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h eps[NUM_EPS];
    op_t ops[NUM_OPS];
    unsigned num_ops;
    int mode;
    int ending;        /* the worker is being destroyed */
    ucx_ep_ops_t lane; /* operations of all lanes */
    uct_completion_t *held[MAX_HELD];
    unsigned num_held;
    void *kept[MAX_KEPT];
    unsigned num_kept;
    ucp_datatype_t generic;
} fuzz_t;

extern fuzz_t fuzz;

static inline void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_messages: %s\n", what);
        abort();
    }
}

static inline unsigned next(reader_t *reader)
{
    if (reader->left == 0) {
        return 0;
    }
    --reader->left;
    return *reader->data++;
}

static inline uint64_t next_number(reader_t *reader, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0) {
        value = (value << 8) | next(reader);
    }
    return value;
}

/* Reads a size: below, at or above one of the lane's limits. */
static inline size_t next_size(reader_t *reader)
{
    static const size_t sizes[] = {0, 1, 8, 100, 255, 1000, 2001, 5000, 20000};

    return sizes[next(reader) % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* user.c */
extern const ucp_generic_dt_ops_t fuzz_generic_ops;
void fuzz_use_lane(void);
void fuzz_open_ep(unsigned slot);
void fuzz_close_ep(unsigned slot, int by_force);
void fuzz_post_recv(reader_t *reader);
void fuzz_post_send(reader_t *reader);
void fuzz_post_flush(reader_t *reader);
void fuzz_probe(reader_t *reader);
void fuzz_touch_op(reader_t *reader, int cancel);
void fuzz_release_held(ucs_status_t status);
void fuzz_progress(unsigned count);
void fuzz_post_am(reader_t *reader);
void fuzz_send_reply(ucp_ep_h ep);
/* Returns zero if the user can start no more operations. */
int fuzz_fetch(void *data, size_t size, unsigned kind);

/* am.c */
void fuzz_set_handlers(void);
void fuzz_use_kept(reader_t *reader);
void fuzz_say_am(reader_t *reader);
void fuzz_say_am_rts(reader_t *reader);
uint64_t fuzz_next_word(reader_t *reader, size_t header_length);

/* peer.c: parts of messages. At most MAX_KEYS bytes of keys follow an
 * announcement */
void fuzz_deliver(uint8_t id, const void *data, size_t length);
ucp_wire_end_t fuzz_next_end(reader_t *reader);
size_t fuzz_next_rts(reader_t *reader, ucp_rndv_rts_t *rts);

/* peer.c: each delivers one message */
void fuzz_say_bytes(reader_t *reader);
void fuzz_say_introduction(reader_t *reader);
void fuzz_say_farewell(reader_t *reader);
void fuzz_say_eager(reader_t *reader);
void fuzz_say_ack(reader_t *reader);
void fuzz_say_rts(reader_t *reader);
void fuzz_say_rtr(reader_t *reader);
void fuzz_say_ats(reader_t *reader);
void fuzz_say_data(reader_t *reader);
void fuzz_say_done(reader_t *reader);
void fuzz_say_fragment(reader_t *reader);

/* Delivers a FAREWELL (the peer has closed its endpoint) to each internal
 * endpoint of the worker that has not failed. */
void fuzz_say_farewells(void);

#endif
