/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side of a conversation: a process of its own that does what it is
 * told over a pair of sockets. A transport that reaches only its own process
 * has the same party on both sides instead.
 */
#ifndef CONFORMANCE_PEER_H
#define CONFORMANCE_PEER_H

#include "party.h"

#define PEER_BLOB_MAX 4096

typedef enum peer_op {
    PEER_ADDRESS,    /* -> blob: device address, blob2: interface address */
    PEER_EP_CREATE,  /* blob, blob2: our addresses -> blob: address of its
                        endpoint, where endpoints are connected */
    PEER_EP_CONNECT, /* blob: device address, blob2: our endpoint's address */
    PEER_EP_DESTROY,
    PEER_SEND,       /* count messages of length bytes, by kind */
    PEER_SEND_LATER, /* the same, `value` microseconds after the answer */
    PEER_HOLD,       /* after the answer it progresses no more */
    PEER_STATS,      /* settle first -> rx */
    PEER_RESET,      /* counters back to 0 */
    PEER_MEM_GET,    /* length -> value: address, blob: packed key */
    PEER_MEM_SET,    /* bytes of `length` from `value` on from the pattern of
                        `count` bytes; count 0: all zero */
    PEER_MEM_CHECK,  /* the same range -> value: first bad byte */
    PEER_MEM_WORD,   /* at value; length 4 or 8; -> value */
    PEER_MEM_PUT,
    PEER_USAGE       /* settle first -> count: descriptors */
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
    party_t *party; /* ours, which progresses while we wait */
    int fd;
    pid_t pid;      /* 0: both sides are one */
    peer_op_t asked;
} peer_t;

/*
 * Forks the peer; to be called before anything of the plugin is loaded. The
 * peer opens the resource of the run. 0 and a finding on failure.
 */
int peer_start(run_t *run, peer_t *peer, size_t headroom);

/* Tells it to do something and waits for the answer, progressing our side.
 * `reply` may be the request. 0 and a finding if it fails or has died. */
int peer_call(peer_t *peer, const peer_message_t *request,
              peer_message_t *reply);

/* The same without the answer's contents. */
int peer_tell(peer_t *peer, peer_op_t op);

/* The two halves, for a peer that is another process: sending the request, and
 * waiting for the answer. Between them our side is not progressed. Requests are
 * answered in their order, each when it has been carried out. 0 and a finding
 * if the peer is lost, the first time. */
int peer_post(peer_t *peer, const peer_message_t *request);
int peer_answer(peer_t *peer, peer_message_t *reply);

/* Would peer_answer() return at once? Progresses nothing. */
int peer_has_answered(const peer_t *peer);

/* Can it stand still while we work? */
static inline int peer_is_other(const peer_t *peer)
{
    return peer->pid != 0;
}

void peer_kill(peer_t *peer);
void peer_stop(peer_t *peer);

/*
 * Both sides open, `party` with an endpoint to the peer and the peer with one
 * back. 0 with a finding or a skip. conversation_end() undoes all, the
 * endpoint too if it is still there.
 */
int conversation_begin(run_t *run, peer_t *peer, party_t *party,
                       size_t headroom);
void conversation_end(peer_t *peer, party_t *party);

/* Endpoints towards each other; party->ep is ours. */
int conversation_connect(peer_t *peer, party_t *party);
void conversation_disconnect(peer_t *peer, party_t *party);

/* Waits until the peer has received as many messages as expected, or no more
 * come, and tells what it has. 0 if it does not answer. */
int conversation_await(peer_t *peer, const party_rx_t *expected,
                       party_rx_t *rx);

/* Holds what the peer has received against what was sent. */
void conversation_compare(run_t *run, const char *who, const party_rx_t *rx,
                          const party_rx_t *expected);

#endif
