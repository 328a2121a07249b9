/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side of a conversation: a process with a party (party.h) of its
 * own. The check, "our side", sends it requests over a socket pair. For a
 * transport that reaches only its own process, one party is both sides.
 */
#ifndef CONFORMANCE_PEER_H
#define CONFORMANCE_PEER_H

#include "party.h"

#define PEER_BLOB_MAX 4096

/* Requests to the peer. The comments name the members of peer_message_t that
 * the request contains and, after "->", those that the answer contains. */
typedef enum peer_op {
    PEER_ADDRESS,    /* -> blob: device address, blob2: interface address */
    PEER_EP_CREATE,  /* blob, blob2: our addresses -> blob: address of the
                      * peer's endpoint, for transports that connect
                      * endpoints */
    PEER_EP_CONNECT, /* blob: our device address, blob2: our endpoint's
                      * address */
    PEER_EP_DESTROY,
    PEER_SEND,       /* sends `count` messages of `length` bytes, by `kind` */
    PEER_SEND_LATER, /* like PEER_SEND, `value` microseconds after the answer */
    PEER_SEND_MANY,  /* like PEER_SEND, but stops at a message that does not
                      * leave without progress of our side -> value: number of
                      * messages that have left; the transport may have accepted
                      * one more */
    PEER_ECHO,       /* after the answer: `count` times, waits for `value`
                      * messages and sends a small one; contents are not
                      * verified until PEER_RESET */
    PEER_TOSS,       /* after the answer: party_answer_tosses(`count`) */
    PEER_HOLD,       /* stops progress after the answer, until the next
                      * request */
    PEER_FLUSH,      /* -> status: UCS_OK if everything sent has left */
    PEER_STATS,      /* waits until nothing arrives any more -> rx */
    PEER_RESET,      /* sets the counters in `rx` of the peer's party to 0 */
    PEER_MEM_GET,    /* provides `length` bytes of memory -> value: their
                      * address, blob: packed key */
    PEER_MEM_SET,    /* fills `length` bytes at address `value` with the pattern
                      * of a message of `count` bytes (pattern.h); count 0: with
                      * zeros */
    PEER_MEM_CHECK,  /* compares the same range and pattern -> value: offset of
                      * the first wrong byte, or `length` */
    PEER_MEM_WORD,   /* reads `length` (4 or 8) bytes at address `value` ->
                      * value: the word */
    PEER_MEM_PUT,    /* releases the memory of PEER_MEM_GET */
    PEER_USAGE,      /* waits until nothing happens any more -> count: number of
                      * open descriptors */
} peer_op_t;

typedef struct peer_message {
    peer_op_t op;
    ucs_status_t status; /* Only in an answer */
    party_kind_t kind;
    size_t length;
    uint64_t count;
    uint64_t value;
    party_rx_t rx;
    size_t blob_size, blob2_size;
    char blob[PEER_BLOB_MAX];
    char blob2[PEER_BLOB_MAX];
} peer_message_t;

typedef struct peer {
    run_t *run;
    party_t *party; /* Our side, progressed while it waits for an answer; NULL:
                     * none */
    int fd;         /* Socket to the peer process; -1: none */
    pid_t pid;      /* 0: both sides are one party; -1: the process has ended */
    peer_op_t asked; /* The last request, for findings */
} peer_t;

/*
 * Forks the peer; call it before anything of the plugin is loaded. The peer
 * opens a party on the resource of the run. Returns 0 and records a finding on
 * failure.
 */
int peer_start(run_t *run, peer_t *peer, size_t headroom);

/* Sends a request and waits for the answer, progressing our side. `reply` may
 * point to the request. Returns 0 and records a finding if the request fails or
 * the peer has died. */
int peer_call(peer_t *peer, const peer_message_t *request,
              peer_message_t *reply);

/* Sends a request and waits for the answer, whose contents are ignored. */
int peer_tell(peer_t *peer, peer_op_t op);

/* Returns the counters of the peer after peer_tell(PEER_STATS). */
void peer_last_rx(party_rx_t *rx);

/* The two halves of peer_call(), for a peer in another process: peer_post()
 * sends the request; peer_answer() waits for the answer and progresses our
 * side. Between the two calls, our side is not progressed. The peer executes
 * and answers requests in order. Both return 0 if the peer is lost, and record
 * a finding the first time. */
int peer_post(peer_t *peer, const peer_message_t *request);
int peer_answer(peer_t *peer, peer_message_t *reply);

/* Waits for the answer without progress of our side. Returns 0 if there is none
 * within PARTY_PATIENCE. peer_answer() then returns at once. */
int peer_await_answer(const peer_t *peer);

/* Returns whether peer_answer() would return at once. Makes no progress. */
int peer_has_answered(const peer_t *peer);

/* Returns whether the peer is another process, which can be stopped while our
 * side runs. */
static inline int peer_is_other(const peer_t *peer)
{
    return peer->pid != 0;
}

void peer_kill(peer_t *peer);
/* Closes the socket, so that the peer closes its party and exits, and waits for
 * that. A peer that hangs or crashes then is a finding. */
void peer_stop(peer_t *peer);

/*
 * Opens both sides and connects them. On failure, records a finding or marks
 * the check as skipped, and returns 0. conversation_end() closes everything,
 * including our endpoint if it still exists.
 */
int conversation_begin(run_t *run, peer_t *peer, party_t *party,
                       size_t headroom);
void conversation_end(peer_t *peer, party_t *party);

/* Connects both sides; party->ep is our endpoint. */
int conversation_connect(peer_t *peer, party_t *party);
void conversation_disconnect(peer_t *peer, party_t *party);

/* Waits until the peer has received the expected number of messages, or no more
 * have arrived for PARTY_PATIENCE. *rx receives the peer's counters. Returns 0
 * if the peer does not answer. */
int conversation_await(peer_t *peer, const party_rx_t *expected,
                       party_rx_t *rx);

/* Compares what a receiver has received (`rx`) with what was sent to it; `who`
 * names the receiver in findings. */
void conversation_compare(run_t *run, const char *who, const party_rx_t *rx,
                          const party_rx_t *expected);

#endif
