/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of the tests that kill processes (kill_rounds.c and others): an
 * interface of any transport of this plugin, whose peers may exit at any
 * moment, so that every wait has a limit. It sends active messages if the
 * transport supports them, and otherwise puts and gets (cma).
 */
#ifndef SHM_TEST_KILL_SIDE_H
#define SHM_TEST_KILL_SIDE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#define EXPECT_EQ(_a, _b) \
    do { \
        long long _x = (long long)(_a), _y = (long long)(_b); \
        if (_x != _y) { \
            kill_die(__FILE__, __LINE__, #_a " == " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_TRUE(_c) \
    do { \
        if (!(_c)) { \
            kill_die(__FILE__, __LINE__, #_c, 0, 1); \
        } \
    } while (0)

enum {
    KILL_MEMORY  = 4 << 20, /* Bytes of each process that other processes
                             * access; the first half is read, the second
                             * written */
    KILL_SENDERS = 16, /* Number of senders whose next message is remembered */
    KILL_AM_ID   = 3,
};

/* Data that a peer needs to connect. */
typedef struct kill_card {
    uint32_t pid;
    uint64_t memory;    /* Address of KILL_MEMORY bytes in that process */
    uint8_t dev[64];    /* Device address */
    uint8_t iface[128]; /* Interface address */
    uint8_t key[64];    /* Packed key of the memory */
} kill_card_t;

/* The first bytes of a message. All other bytes are computed from them, so that
 * the receiver can check them. */
typedef struct kill_header {
    uint32_t pid;    /* Of the sender */
    uint32_t number; /* Counts the sender's messages over one link, from 0 */
} kill_header_t;

typedef struct kill_side {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_iface_h iface;
    uct_iface_attr_t attr;
    uct_mem_h memh; /* NULL: the transport sends messages */
    uint8_t *memory;
    kill_card_t card; /* Of this side, for its peers */
    uint64_t random;  /* State of kill_random() */
    /* The next message of each sender. A sender without an entry replaces the
     * oldest one */
    kill_header_t expected[KILL_SENDERS];
    unsigned num_senders; /* Number of senders that have got an entry so far */
    uint64_t received;    /* Number of messages received */
    uint64_t copied;      /* Number of puts and gets completed */
    unsigned failures;    /* Number of calls of the error handler since the last
                           * kill_link_open(), without those for `twin` */
    uct_ep_h twin;        /* A second endpoint to the same peer, or NULL. The
                           * error handler destroys it when it fails */
} kill_side_t;

/* An endpoint that sends messages, or executes one put or get at a time. */
typedef struct kill_link {
    kill_side_t *side;
    uct_ep_h ep;
    uct_rkey_bundle_t key; /* Key of the peer's memory */
    uint64_t memory;       /* Address of the peer's memory in its process */
    uint32_t sent;         /* Number of messages sent */
    uct_completion_t comp;
    unsigned busy;       /* Non-zero while a put or get is in flight */
    ucs_status_t status; /* Status of the last put or get that completed */
    size_t length;       /* Bytes of the last message, put or get; 0: no put or
                          * get has to be checked */
    int is_get;          /* Whether the last copy was a get */
    uint8_t *buffer;     /* KILL_MEMORY / 2 bytes of local memory */
} kill_link_t;

void kill_die(const char *file, int line, const char *what, long long a,
              long long b) __attribute__((noreturn));
double kill_now(void);
uint64_t kill_random(uint64_t *state);

void kill_side_open(kill_side_t *side, const char *tl);
/* Opens a side that checks its peers at this interval; 0: the transport's
 * default. */
void kill_side_open_keepalive(kill_side_t *side, const char *tl,
                              ucs_time_t interval);
void kill_side_close(kill_side_t *side);

/* Returns the entry with the next message that is expected of a process.
 * Creates the entry if there is none. */
kill_header_t *kill_side_expected(kill_side_t *side, uint32_t pid);

/* Creates an endpoint, and at random a twin (see kill_side_t). Returns zero if
 * the peer is no longer reachable. */
int kill_link_open(kill_link_t *link, kill_side_t *side,
                   const kill_card_t *card);
void kill_link_close(kill_link_t *link);

/* Sends one message, or starts one put or get, of random size and kind. Does
 * nothing without send resources or while a put or get is in flight. An error
 * can only mean that the peer has exited. */
ucs_status_t kill_link_step(kill_link_t *link);

#endif
