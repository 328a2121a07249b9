/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a conversation, in which a check exchanges messages with a peer
 * (peer.h): a worker with one interface on the resource under test, and
 * statistics of what it has received. This file counts and times callbacks; the
 * checks evaluate the results.
 */
#ifndef CONFORMANCE_PARTY_H
#define CONFORMANCE_PARTY_H

#include <sched.h>
#include <sys/types.h>

#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#include "check.h"
#include "clock.h"
#include "memory.h"

#define PARTY_ADDRESS_MAX 4096
#define PARTY_KEPT_MAX    32

/* Maximum bytes of the messages that the checks send. */
#define PARTY_ZCOPY_MAX ((size_t)4 << 20)

/* Requested alignment of received messages, if the interface has
 * UCX_IFACE_FLAG_ALIGNS_AM. The byte at the offset is aligned: a header of 8
 * bytes precedes the user's data. */
#define PARTY_ALIGNMENT    128
#define PARTY_ALIGN_OFFSET 8

/* Time limit in seconds for a step that takes about as long as a message.
 * Large, so that only a broken plugin reaches it: either side may have to wait
 * for a processor several times. */
#define PARTY_PATIENCE 30.0

/* A sending call that takes this many seconds has blocked, even on a slow
 * machine. */
#define PARTY_SLOW_CALL 1.0

typedef struct party party_t;

/* Received messages. */
typedef struct party_rx {
    uint64_t count;
    uint64_t bytes;
    uint64_t sum;        /* Sum of pattern_mix() (pattern.h) of all messages,
                          * regardless of their order */
    uint64_t order;      /* Hash of all messages in their order, by
                          * pattern_extend() */
    unsigned bad;        /* Messages that are damaged or have an unexpected
                          * id */
    unsigned foreign;    /* Messages delivered by another thread than the
                          * worker's */
    unsigned misaligned; /* Messages in a descriptor that are not aligned as
                          * advertised */
    char what[200];      /* Description of the first bad message */
} party_rx_t;

/* A received message whose buffer this side has not released yet. */
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
    uct_iface_attr_t attributes;
    const uct_iface_attr_t *attr; /* Points to `attributes` */
    pid_t tid;                    /* Thread id of the worker */
    int wake_fd;     /* eventfd that is signalled when the worker gets a
                      * one-shot call, which progress has to run */
    size_t headroom; /* Bytes before each received message */
    int aligns;      /* The interface has UCX_IFACE_FLAG_ALIGNS_AM */
    party_slot_t slots[UCT_AM_ID_MAX]; /* By message id */
    party_rx_t rx;
    int rushes;          /* Only count messages, to be fast: no other member of
                          * `rx` is updated */
    unsigned keep_every; /* Keep the buffer of every n-th message; 0: of none */
    party_kept_t kept[PARTY_KEPT_MAX];
    unsigned num_kept;

    uct_ep_h ep;           /* Endpoint to the peer */
    memory_t buffer;       /* Buffer to send from */
    size_t buffer_pattern; /* Length of the message with which `buffer` is
                            * filled; SIZE_MAX: it must be filled again */
    double longest;        /* Seconds of the longest sending call, measured by
                            * stretch.h */
    unsigned num_slow;     /* Number of sending calls that took PARTY_SLOW_CALL
                            * or longer */
    int sending;           /* Non-zero within a sending call */
    int packs_early;       /* A finding was recorded: am_bcopy packs the data
                            * and then returns UCS_ERR_NO_RESOURCE */

    unsigned failures;         /* Calls of the error handler */
    uint64_t rx_at_failure;    /* Messages received before the first call of the
                                * error handler */
    unsigned foreign_failures; /* Calls of the error handler by another
                                * thread */
    uct_ep_h failed_ep; /* Arguments of the last call of the error handler */
    ucs_status_t failure;
    int destroy_on_failure; /* The error handler destroys `ep` */
};

/* Result of an asynchronous operation. */
typedef struct party_done {
    uct_completion_t comp;
    party_t *party;
    unsigned calls;   /* Number of calls of the completion callback */
    unsigned foreign; /* Number of those calls by another thread than the
                       * worker's */
} party_done_t;

typedef enum party_kind {
    PARTY_SHORT,
    PARTY_SHORT_IOV,
    PARTY_BCOPY,
    PARTY_ZCOPY,
    PARTY_NUM_KINDS,
} party_kind_t;

extern const char *const party_kind_names[];

/* Returns 0 and records a finding if something cannot be opened. */
int party_open(run_t *run, party_t *party, size_t headroom);
/* Closes a party. Its endpoint must have been destroyed. */
void party_close(party_t *party);

unsigned party_progress(party_t *party);

/* Evaluates the condition, which may contain a call, and calls progress, until
 * the condition is true. Returns 0 if that takes more than `_seconds`. */
#define party_wait(_party, _condition, _seconds) \
    ({ \
        double _end = clock_now() + (_seconds); \
        int _holds; \
\
        while (!(_holds = !!(_condition)) && (clock_now() < _end)) { \
            if (party_progress(_party) == 0) { \
                sched_yield(); \
            } \
        } \
        _holds; \
    })

/* Progresses until `seconds` have passed without an event. */
void party_settle(party_t *party, double seconds);

/* Return whether the interface supports messages of this kind, and the minimum
 * and maximum bytes of such a message (PARTY_ZCOPY_MAX at most). */
int party_has(const party_t *party, party_kind_t kind);
size_t party_min(const party_t *party, party_kind_t kind);
size_t party_max(const party_t *party, party_kind_t kind);

/* Returns a supported kind of message, or PARTY_NUM_KINDS if there is none.
 * *length_p receives the length nearest to 1000 bytes that this kind has. */
party_kind_t party_some_kind(const party_t *party, size_t *length_p);

/* Returns a kind for the smallest messages. The interface must have active
 * messages. */
party_kind_t party_small_kind(const party_t *party);

/* The reply side of a ping-pong by the shared counter run->record->tosses:
 * waits `count` times until the counter is odd, and adds one to it. Gives up
 * after PARTY_PATIENCE. */
void party_answer_tosses(party_t *party, uint64_t count);

/*
 * Tries once to send a message of `length` bytes. `header`: how many of these
 * bytes a zero-copy send passes as its header. `entries`: number of I/O vector
 * entries, for PARTY_SHORT_IOV and PARTY_ZCOPY. If it returns UCS_INPROGRESS,
 * `done` (NULL: none) is called when the message is sent.
 */
ucs_status_t party_try(party_t *party, party_kind_t kind, size_t length,
                       size_t header, size_t entries, party_done_t *done);

/* Records a finding if sending calls have blocked. A busy machine may delay a
 * single call, so more than one must have taken long. */
void party_check_calls(party_t *party);

/* Retries party_try() until the message is sent, waits until the send buffer
 * can be reused, and overwrites it. UCS_ERR_TIMED_OUT: there were no send
 * resources for PARTY_PATIENCE. */
ucs_status_t party_send(party_t *party, party_kind_t kind, size_t length,
                        size_t header, size_t entries);

/*
 * Sends to a peer that does not progress, until the interface accepts nothing
 * more although this side progresses. Counts the accepted messages in
 * `expected`. Returns 0 if the interface still accepts messages after 10 s or
 * 256 MiB, or if a send fails, which is a finding.
 */
int party_fill(party_t *party, party_kind_t kind, size_t length,
               party_rx_t *expected);

/* Adds a message of `length` bytes to the counters that the receiver is
 * expected to have. */
void party_expect(party_rx_t *expected, size_t length);

void party_done_init(party_done_t *done, party_t *party);

/* Waits until the worker needs progress: for an event on `fd`, the interface's
 * event descriptor, or for a one-shot call (wake_fd). Returns 1 if it was
 * woken, or interrupted by a signal; 0 on timeout. */
int party_sleep(party_t *party, int fd, int milliseconds);

/* Verifies and releases the messages that were kept. Those that were
 * overwritten meanwhile are recorded in `rx`. */
void party_release_kept(party_t *party);

#endif
