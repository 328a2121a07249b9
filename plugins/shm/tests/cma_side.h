/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a cma test: worker, domain, interface and memory, opened by the
 * public API; and its connections, operations and messages to other processes.
 */
#ifndef SHM_TEST_CMA_SIDE_H
#define SHM_TEST_CMA_SIDE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

/* Ends the process with an error that shows both values and the location. */
#define EXPECT_EQ(_a, _b) \
    do { \
        long long _x = (long long)(_a), _y = (long long)(_b); \
        if (_x != _y) { \
            cma_side_die(__FILE__, __LINE__, #_a " == " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_TRUE(_c) \
    do { \
        if (!(_c)) { \
            cma_side_die(__FILE__, __LINE__, #_c, 0, 1); \
        } \
    } while (0)

/* Data that a peer needs to connect; sent through a socket. */
typedef struct cma_card {
    uint8_t dev[64];    /* Device address */
    uint8_t iface[128]; /* Interface address */
    uint8_t key[64];    /* Packed key of the memory */
    uint64_t memory;    /* Address of the memory in its process */
    uint64_t length;    /* Length of the memory in bytes */
} cma_card_t;

typedef struct cma_side {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_iface_h iface;
    uct_iface_attr_t attr;
    uint8_t *memory; /* `length` bytes that other processes may access */
    size_t length;
    uct_mem_h memh;
    cma_card_t card;            /* Of this side, for its peers */
    int failures;               /* Number of calls of the error handler */
    ucs_status_t failed_status; /* Status passed to the last of these calls */
    unsigned events;            /* Sum of the return values of progress in
                                 * cma_side_serve() */
} cma_side_t;

/* A connection to a peer. */
typedef struct cma_link {
    cma_side_t *side;
    uct_ep_h ep;
    uct_rkey_bundle_t key; /* Key of the peer's memory */
    cma_card_t card;       /* Of the peer */
} cma_link_t;

/* An operation in flight. */
typedef struct cma_wait {
    uct_completion_t comp;
    unsigned done; /* Number of calls of the completion callback */
} cma_wait_t;

void cma_side_die(const char *file, int line, const char *what, long long a,
                  long long b) __attribute__((noreturn));
double cma_side_now(void);

/* Opens a side with `length` bytes of memory. `config`: configuration of the
 * interface (NAME=VALUE,...), or NULL. */
void cma_side_open(cma_side_t *side, size_t length, const char *config);
void cma_side_close(cma_side_t *side);

/* Exchanges cards with the peer at the other end of the socket `fd`, and
 * connects a link. */
void cma_side_meet(cma_side_t *side, int fd, cma_link_t *link);
void cma_side_connect(cma_side_t *side, const cma_card_t *card,
                      cma_link_t *link);
void cma_side_part(cma_link_t *link);
int cma_side_reaches(cma_side_t *side, const cma_card_t *card);

void cma_wait_init(cma_wait_t *wait);
/* Starts one put or get with an I/O vector of `pieces` entries (at most 16).
 * The entries are in `buffer`, with a gap of 7 bytes after each. `offset` is in
 * the peer's memory. */
ucs_status_t cma_side_start(cma_link_t *link, int is_put, void *buffer,
                            size_t offset, size_t length, unsigned pieces,
                            cma_wait_t *wait);
/* Progresses until the operation is complete, and returns its status.
 * `started`: the result of cma_side_start(). Exits with an error on timeout. */
ucs_status_t cma_side_finish(cma_side_t *side, ucs_status_t started,
                             cma_wait_t *wait);
/* Starts an operation and waits for it. */
ucs_status_t cma_side_copy(cma_link_t *link, int is_put, void *buffer,
                           size_t offset, size_t length, unsigned pieces);

/* Waits for a child process. Returns true if it succeeded. */
int cma_side_join(pid_t pid);
void cma_side_write(int fd, const void *data, size_t length);
/* Read `length` bytes from the other side. cma_side_read() blocks;
 * cma_side_serve() progresses `side` until data arrive. Neither has a timeout:
 * the test program has one, and child processes exit with it. */
void cma_side_read(int fd, void *data, size_t length);
void cma_side_serve(cma_side_t *side, int fd, void *data, size_t length);

#endif
