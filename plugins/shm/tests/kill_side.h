/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of the kill test: an interface of any transport of this plugin,
 * with peers that may exit at any moment, so that every wait has a limit.
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
    KILL_SENDERS = 16,
    KILL_AM_ID   = 3,
};

/* Data that a peer needs to connect. */
typedef struct kill_card {
    uint32_t pid;
    uint64_t memory;
    uint8_t dev[64];
    uint8_t iface[128];
    uint8_t key[64];
} kill_card_t;

/* The first bytes of a message; the rest depends on them. */
typedef struct kill_header {
    uint32_t pid;
    uint32_t number;
} kill_header_t;

typedef struct kill_side {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_iface_h iface;
    uct_iface_attr_t attr;
    uct_mem_h memh;
    uint8_t *memory;
    kill_card_t card;
    uint64_t random;
    kill_header_t expected[KILL_SENDERS]; /* The next message of each sender; a
                                           * new sender replaces the oldest
                                           * entry */
    unsigned num_senders;                 /* Total number */
    uint64_t received;
    uint64_t copied;
    unsigned failures;
    uct_ep_h twin; /* A second endpoint to the same peer,
                    * destroyed in the handler of its failure */
} kill_side_t;

/* An endpoint that executes one copy at a time. */
typedef struct kill_link {
    kill_side_t *side;
    uct_ep_h ep;
    uct_rkey_bundle_t key;
    uint64_t memory;
    uint32_t sent;
    uct_completion_t comp;
    unsigned busy;
    ucs_status_t status;
    size_t length;
    int is_get;
    uint8_t *buffer;
} kill_link_t;

void kill_die(const char *file, int line, const char *what, long long a,
              long long b) __attribute__((noreturn));
double kill_now(void);
uint64_t kill_random(uint64_t *state);

void kill_side_open(kill_side_t *side, const char *tl);
/* Opens a side with an interval of checks; 0: the transport's default. */
void kill_side_open_keepalive(kill_side_t *side, const char *tl,
                              ucs_time_t interval);
void kill_side_close(kill_side_t *side);

/* Returns the expected next message of a process; there is an entry for any
 * process. */
kill_header_t *kill_side_expected(kill_side_t *side, uint32_t pid);

/* Creates an endpoint. Returns zero if the peer is no longer reachable. */
int kill_link_open(kill_link_t *link, kill_side_t *side,
                   const kill_card_t *card);
void kill_link_close(kill_link_t *link);

/* Sends one message, or copies one part, of any size and kind; does nothing
 * without send resources. An error must be that of a peer that has exited. */
ucs_status_t kill_link_step(kill_link_t *link);

#endif
