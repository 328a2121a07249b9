/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a conversation: a worker with one interface on the resource that
 * is checked, and what it has received. Callbacks are counted and timed here;
 * whether that is right is for the checks to say.
 */
#ifndef CONFORMANCE_PARTY_H
#define CONFORMANCE_PARTY_H

#include <sched.h>
#include <sys/types.h>

#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#include "check.h"
#include "memory.h"
#include "ucs/time/time.h"

#define PARTY_ADDRESS_MAX 4096
#define PARTY_KEPT_MAX    32

/* Zero-copy messages are tried up to this length. */
#define PARTY_ZCOPY_MAX ((size_t)4 << 20)

/* Longest time that anything should take which is no more than a message. So
 * long that only what is broken uses it up: either side may have to wait for a
 * processor, several times over. */
#define PARTY_PATIENCE 30.0

/* A sending call that takes so long itself has blocked, on any machine. */
#define PARTY_SLOW_CALL 1.0

typedef struct party party_t;

/* What has come in. */
typedef struct party_rx {
    uint64_t count;
    uint64_t bytes;
    uint64_t sum;        /* of pattern_mix() */
    unsigned bad;        /* damaged, or under another id */
    unsigned foreign;    /* delivered by another thread than the worker's */
    char what[200];      /* the first that was bad */
} party_rx_t;

typedef struct party_kept {
    void *data;
    size_t length;
} party_kept_t;

/* The argument of one message id's handler. */
typedef struct party_slot {
    party_t *party;
    unsigned id;
} party_slot_t;

struct party {
    run_t *run;
    uct_component_h component;
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_md_h md;
    uct_iface_h iface;
    const uct_iface_attr_t *attr;
    pid_t tid;                   /* of the worker */
    int wake_fd;                 /* signalled for one-shots */
    size_t headroom;

    party_slot_t slots[UCT_AM_ID_MAX];
    party_rx_t rx;
    unsigned keep_every;         /* 0: keep no descriptor */
    party_kept_t kept[PARTY_KEPT_MAX];
    unsigned num_kept;

    uct_ep_h ep;                 /* towards the other side */
    memory_t buffer;             /* to send from */
    size_t buffer_pattern;       /* the length that it is filled for */
    double longest;              /* s, of a sending call's own time */
    unsigned num_slow;           /* such calls of PARTY_SLOW_CALL or more */
    int sending;                 /* inside such a call */

    unsigned failures;           /* calls of the error handler */
    unsigned foreign_failures;   /* ... by another thread */
    uct_ep_h failed_ep;
    ucs_status_t failure;
    int destroy_on_failure;      /* destroys `ep` inside the handler */
};

/* What becomes of an operation that takes time. */
typedef struct party_done {
    uct_completion_t comp;
    party_t *party;
    unsigned calls;
    unsigned foreign;
} party_done_t;

typedef enum party_kind {
    PARTY_SHORT,
    PARTY_SHORT_IOV,
    PARTY_BCOPY,
    PARTY_ZCOPY,
    PARTY_NUM_KINDS
} party_kind_t;

extern const char *const party_kind_names[];

/* 0 and a finding if something does not open. */
int party_open(run_t *run, party_t *party, size_t headroom);
/* The endpoint has to be gone. */
void party_close(party_t *party);

unsigned party_progress(party_t *party);

/* Progresses until the condition holds; 0 if it does not within `_seconds`. */
#define party_wait(_party, _condition, _seconds)                             \
    ({                                                                       \
        ucs_time_t _end = ucs_get_time() + ucs_time_from_sec(_seconds);      \
        int _holds;                                                          \
                                                                             \
        while (!(_holds = !!(_condition)) && (ucs_get_time() < _end)) {      \
            if (party_progress(_party) == 0) {                               \
                sched_yield();                                               \
            }                                                                \
        }                                                                    \
        _holds;                                                              \
    })

/* Progresses as long as something happens, and `seconds` after that. */
void party_settle(party_t *party, double seconds);

/* Does the interface offer messages of this kind, and of what lengths? */
int party_has(const party_t *party, party_kind_t kind);
size_t party_min(const party_t *party, party_kind_t kind);
size_t party_max(const party_t *party, party_kind_t kind);

/* Some kind that it has, or PARTY_NUM_KINDS. The length is good for a message
 * that is neither large nor empty. */
party_kind_t party_some_kind(const party_t *party, size_t *length_p);

/*
 * One attempt to send a message of `length` bytes. `parts` divides it: bytes
 * of header for zero-copy, number of entries for both kinds with an I/O
 * vector. UCS_INPROGRESS: `done` will be told.
 */
ucs_status_t party_try(party_t *party, party_kind_t kind, size_t length,
                       size_t header, size_t entries, party_done_t *done);

/* Fails if sending calls have blocked: more than one has to, since one may have
 * slept for a moment and then been kept waiting by a busy machine. */
void party_check_calls(party_t *party);

/* Tries until it is sent, and waits until the buffer is free. */
ucs_status_t party_send(party_t *party, party_kind_t kind, size_t length,
                        size_t header, size_t entries);

/*
 * Sends without pause, until nothing more is taken although the interface is
 * progressed: for a peer that stands still. Returns 0 if there is no end of it
 * within reason.
 */
int party_fill(party_t *party, party_kind_t kind, size_t length,
               party_rx_t *expected);

/* What the receiver will have to find in its counters. */
void party_expect(party_rx_t *expected, size_t length);

void party_done_init(party_done_t *done, party_t *party);

/* The worker's wish to be progressed, by the interface's descriptor or a
 * one-shot: waits for it. 1: there is something, or a signal came; 0: nothing
 * in so many ms. */
int party_sleep(party_t *party, int fd, int milliseconds);

/* Gives back what was kept; damage goes to rx. */
void party_release_kept(party_t *party);

#endif
