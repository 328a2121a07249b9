/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a test: a worker, a memory domain and an interface, opened by the
 * public API. A test with two sides runs each in a child process, which opens
 * everything after fork(): nothing is shared with the test runner.
 */
#ifndef TCP_TEST_SIDE_H
#define TCP_TEST_SIDE_H

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
            side_die(__FILE__, __LINE__, #_a " == " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_GE(_a, _b) \
    do { \
        long long _x = (long long)(_a), _y = (long long)(_b); \
        if (_x < _y) { \
            side_die(__FILE__, __LINE__, #_a " >= " #_b, _x, _y); \
        } \
    } while (0)
#define EXPECT_TRUE(_c) \
    do { \
        if (!(_c)) { \
            side_die(__FILE__, __LINE__, #_c, 0, 1); \
        } \
    } while (0)

#define SIDE_ADDR_MAX 128

/* Timeout in seconds: much longer than needed, because the process that must
 * act may not get a processor. */
#define SIDE_TIMEOUT 20.0

typedef struct side_addr {
    uint8_t dev[SIDE_ADDR_MAX];
    uint8_t iface[SIDE_ADDR_MAX];
} side_addr_t;

typedef struct side {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_iface_h iface;
    uct_iface_attr_t attr;
    side_addr_t addr;
    int failures;       /* Number of calls of the error handler */
    uct_ep_h failed_ep; /* The endpoint that failed last */
    ucs_status_t failed_status;
} side_t;

void side_die(const char *file, int line, const char *what, long long a,
              long long b) __attribute__((noreturn));

/* Keepalive interval of interfaces that are opened afterwards; 0: the
 * transport's default. */
extern ucs_time_t side_keepalive;

/* Opens worker, domain and interface. `config`: variables of the interface as
 * NAME=VALUE,..., or NULL. */
void side_open(side_t *side, const char *config);
/* Opens another interface of the same worker, and stores its address. */
uct_iface_h side_open_iface(side_t *side, const char *config,
                            side_addr_t *addr);
void side_close(side_t *side);
uct_ep_h side_connect(side_t *side, const side_addr_t *peer);
void side_progress(side_t *side);

/* Progresses until *counter reaches `value`; exits with an error if progress
 * has reported no event for SIDE_TIMEOUT. */
void side_wait(side_t *side, volatile unsigned *counter, unsigned value,
               const char *what);
/* Flushes the endpoint with `flags`, and waits for completion. */
ucs_status_t side_flush(side_t *side, uct_ep_h ep, unsigned flags);

/* Sends a message; retries while there are no send resources. */
void side_am_short(side_t *side, uct_ep_h ep, uint8_t id, uint64_t header,
                   const void *data, unsigned length);

double side_now(void);
int side_count_fds(void);
int side_count_sockets(void);

/* Runs body(arg, fd) in a child process, which exits when body() returns. `fd`
 * and *fd_p are the two ends of a socket pair. */
pid_t side_fork(void (*body)(void *arg, int fd), void *arg, int *fd_p);
/* Runs both functions in child processes that are connected by a socket.
 * Returns true if both succeed. */
int side_run_pair(void (*first)(void *arg, int fd),
                  void (*second)(void *arg, int fd), void *arg);
/* Waits for a child process. Returns true if it succeeded. */
int side_join(pid_t pid);
void side_write(int fd, const void *data, size_t length);
void side_read(int fd, void *data, size_t length);
/* Progresses until the other side has written to the socket pair, then
 * reads. */
void side_read_later(side_t *side, int fd, void *data, size_t length);
/* Exchanges addresses with the other side, which calls this too, and returns an
 * endpoint to it. The other side's address is stored in *peer unless `peer` is
 * NULL. */
uct_ep_h side_meet(side_t *side, int fd, side_addr_t *peer);
/* Progresses until the other side has called this too. */
void side_barrier(side_t *side, int fd);

#endif
