/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the files of this fuzz target share: the state of a run,
 * and a reader of the input. A run simulates a user of UCP and a peer that
 * sends arbitrary messages. user.c contains the user's operations, peer.c the
 * peer's messages, and am.c both for the active messages of UCP.
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
    NUM_EPS   = 4,   /* Maximum endpoints of the user at a time */
    NUM_OPS   = 48,  /* Maximum operations of the user in a run */
    MAX_STEPS = 160, /* Maximum steps in a run */
    MAX_HELD  = 256, /* Maximum puts and gets that the lane holds at a time */
    MAX_KEPT  = 32,  /* Maximum active messages that the user keeps at a time */
    MAX_KEYS  = 64,  /* Maximum bytes of the keys in a message */
    MAX_BYTES = 300, /* Maximum bytes of a message of arbitrary bytes */
};

/* First byte of an input: a mask of modes of the run. A lane is the transport's
 * endpoint that an endpoint of UCP uses. A put or get of a lane is never
 * executed: the lane holds its completion until a step of the input releases
 * it. */
enum {
    MODE_PUT      = 1 << 0, /* Lanes support put */
    MODE_ABRUPT   = 1 << 1, /* The worker is destroyed while operations are
                             * outstanding */
    MODE_ERR_MODE = 1 << 2, /* Endpoints have UCP_ERR_HANDLING_MODE_PEER */
    MODE_GET      = 1 << 3, /* Lanes support get */
};

/* An operation of the user. */
typedef struct {
    void *request;     /* NULL: there is no request, or it was freed */
    void *buffer;      /* Freed at the end of the run */
    ucp_dt_iov_t *iov; /* NULL: the data is not a list of buffers */
    int pending;       /* UCP must still call the callback */
    int calls;         /* How often UCP has called the callback: 0 or 1 */
    int action;        /* What the callback does; act() in user.c */
    int receive;       /* The operation is a receive */
    ucp_tag_t tag;
} op_t;

/* The rest of an input. */
typedef struct {
    const uint8_t *data;
    size_t left; /* Bytes that are not yet read */
} reader_t;

/* State of one run; `context` and `generic` are created once for all runs. */
typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h eps[NUM_EPS]; /* Endpoints of the user, to the worker itself; NULL:
                            * not open */
    op_t ops[NUM_OPS];
    unsigned num_ops;  /* Operations that were started in this run */
    int mode;          /* Mask of MODE_* */
    int ending;        /* The worker is being destroyed */
    ucx_ep_ops_t lane; /* Functions of all lanes */
    uct_completion_t *held[MAX_HELD]; /* Completions that the lanes hold */
    unsigned num_held;
    void *kept[MAX_KEPT]; /* Data of active messages that the user keeps */
    unsigned num_kept;
    ucp_datatype_t generic; /* A generic datatype */
} fuzz_t;

extern fuzz_t fuzz;

/* Ends the program with a message unless the condition is true. */
static inline void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_messages: %s\n", what);
        abort();
    }
}

/* Reads one byte; returns 0 at the end of the input. */
static inline unsigned next(reader_t *reader)
{
    if (reader->left == 0) {
        return 0;
    }
    --reader->left;
    return *reader->data++;
}

/* Reads a number of this many bytes, the highest first. */
static inline uint64_t next_number(reader_t *reader, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0) {
        value = (value << 8) | next(reader);
    }
    return value;
}

/* Reads an index of the table, and returns the size in bytes from it. The sizes
 * are below, at and above the limits of the lane and of the protocols. */
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
/* Starts to receive the data of an active message into a buffer of `size`
 * bytes. `kind` selects the datatype and flags; see prepare() in user.c.
 * Returns 0, without a start, if the run already has NUM_OPS operations. */
int fuzz_fetch(void *data, size_t size, unsigned kind);

/* am.c */
void fuzz_set_handlers(void);
void fuzz_use_kept(reader_t *reader);
void fuzz_say_am(reader_t *reader);
void fuzz_say_am_rts(reader_t *reader);
/* Reads the first field of an active message: its id, its flags, and the length
 * of the user's header, which is usually `header_length`. */
uint64_t fuzz_next_word(reader_t *reader, size_t header_length);

/* peer.c: fuzz_deliver() passes a message to its handler. fuzz_next_end() reads
 * the id of an endpoint. fuzz_next_rts() reads the announcement of a rendezvous
 * and the keys after it (at most MAX_KEYS bytes), and returns their size. */
void fuzz_deliver(uint8_t id, const void *data, size_t length);
ucp_wire_end_t fuzz_next_end(reader_t *reader);
size_t fuzz_next_rts(reader_t *reader, ucp_rndv_rts_t *rts);

/* peer.c: each of these builds one message from the input and delivers it */
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

/* Delivers the message FAREWELL, which says that the peer has closed its
 * endpoint, to each endpoint of the worker that the library has created
 * (internal endpoint) and that has not failed. */
void fuzz_say_farewells(void);

#endif
