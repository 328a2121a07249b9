/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side of a conversation: a process that executes requests received
 * over a socket pair. For a transport that reaches only its own process, one
 * party is both sides.
 */
#ifndef CONFORMANCE_PEER_H
#define CONFORMANCE_PEER_H

#include "party.h"

#define PEER_BLOB_MAX 4096

typedef enum peer_op {
    PEER_ADDRESS,    /* -> blob: device address, blob2: interface address */
    PEER_EP_CREATE,  /* blob, blob2: our addresses -> blob: address of the
                      * peer's endpoint, for transports that connect
                      * endpoints */
    PEER_EP_CONNECT, /* blob: device address, blob2: our endpoint's address */
    PEER_EP_DESTROY,
    PEER_SEND,       /* count messages of length bytes, by kind */
    PEER_SEND_LATER, /* like PEER_SEND, `value` microseconds after the answer */
    PEER_SEND_MANY,  /* up to `count` such messages, while they leave without
                      * progress of the other side -> value: how many have left;
                      * one more may be accepted */
    PEER_ECHO,       /* after the answer: `count` times, waits for `value`
                      * messages and sends a small one; contents are not
                      * verified until PEER_RESET */
    PEER_TOSS,       /* after the answer: answers the next `count` tosses */
    PEER_HOLD,       /* stops progress after the answer */
    PEER_FLUSH,      /* answers UCS_OK when everything sent has left */
    PEER_STATS,      /* settle first -> rx */
    PEER_RESET,      /* resets the counters */
    PEER_MEM_GET,    /* length -> value: address, blob: packed key */
    PEER_MEM_SET,    /* fills `length` bytes from `value` on with the pattern of
                      * `count` bytes; count 0: with zeros */
    PEER_MEM_CHECK,  /* checks the range of PEER_MEM_SET -> value: first bad
                      * byte */
    PEER_MEM_WORD,   /* at value; length 4 or 8; -> value */
    PEER_MEM_PUT,
    PEER_USAGE, /* settle first -> count: descriptors */
} peer_op_t;

typedef struct peer_message {
    peer_op_t op;
    ucs_status_t status;
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
    party_t *party; /* the local side, progressed while we wait */
    int fd;
    pid_t pid; /* 0: both sides are one party */
    peer_op_t asked;
} peer_t;

/*
 * Forks the peer; call it before anything of the plugin is loaded. The peer
 * opens the resource of the run. Returns 0 and records a finding on failure.
 */
int peer_start(run_t *run, peer_t *peer, size_t headroom);

/* Sends a request and waits for the answer, progressing our side. `reply` may
 * be the request. Returns 0 and records a finding if it fails or the peer has
 * died. */
int peer_call(peer_t *peer, const peer_message_t *request,
              peer_message_t *reply);

/* Sends a request and waits for the answer, whose contents are ignored. */
int peer_tell(peer_t *peer, peer_op_t op);

/* Returns the counters in the last answer to PEER_STATS by peer_tell(). */
void peer_last_rx(party_rx_t *rx);

/* Both halves of peer_call(), for a peer in another process: send the request,
 * and wait for the answer, progressing our side. It is not progressed in
 * between. The peer executes and answers requests in order. Returns 0 if the
 * peer is lost, and records a finding the first time. */
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
void peer_stop(peer_t *peer);

/*
 * Opens both sides and connects them. Returns 0 with a finding or a skip.
 * conversation_end() closes everything, including the endpoint if it still
 * exists.
 */
int conversation_begin(run_t *run, peer_t *peer, party_t *party,
                       size_t headroom);
void conversation_end(peer_t *peer, party_t *party);

/* Connects both sides; party->ep is our endpoint. */
int conversation_connect(peer_t *peer, party_t *party);
void conversation_disconnect(peer_t *peer, party_t *party);

/* Waits until the peer has received the expected messages or no more arrive,
 * and returns its counters. Returns 0 if it does not answer. */
int conversation_await(peer_t *peer, const party_rx_t *expected,
                       party_rx_t *rx);

/* Compares what the peer has received with what was sent. */
void conversation_compare(run_t *run, const char *who, const party_rx_t *rx,
                          const party_rx_t *expected);

#endif
