/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the unit tests of UCT: checks of a status, an interface of the
 * built-in transport `self` with an endpoint to itself ("loopback"), and a
 * function that runs a suite.
 */
#ifndef TEST_UCT_COMMON_H
#define TEST_UCT_COMMON_H

#include <check.h>
#include <uct/api/uct.h>

/* Expects a status; a failure prints the texts of both. */
#define ck_status(_actual, _expected) \
    do { \
        ucs_status_t _ck_a = (ucs_status_t)(_actual); \
        ucs_status_t _ck_e = (ucs_status_t)(_expected); \
        ck_assert_msg(_ck_a == _ck_e, "%s is \"%s\", not \"%s\"", #_actual, \
                      ucs_status_string(_ck_a), ucs_status_string(_ck_e)); \
    } while (0)

#define ck_ok(_actual) ck_status(_actual, UCS_OK)

/* A worker with one interface of the transport `self` and an endpoint to that
 * interface. */
typedef struct loopback {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_iface_h iface;
    uct_ep_h ep;
    ucs_status_t failure; /* Status of the last call of the error handler */
    unsigned num_failures;
} loopback_t;

/* Parameters of an interface. The sizes are in bytes; 0: the default. */
typedef struct loopback_params {
    size_t rx_headroom;
    size_t am_alignment;
    size_t am_align_offset;
    const char *queue_len; /* Value of UCX_SELF_QUEUE_LEN; NULL: the default */
} loopback_params_t;

/* `params`: NULL: the defaults. */
void loopback_open(loopback_t *lo, const loopback_params_t *params);
void loopback_close(loopback_t *lo);

/* Opens one more interface on the memory domain and worker of `lo`, with
 * progress enabled. `params` must not be NULL. The caller closes it. */
uct_iface_h loopback_iface_open(loopback_t *lo,
                                const loopback_params_t *params);

/* Creates an endpoint from `iface` to itself. */
ucs_status_t loopback_ep_create(uct_iface_h iface, uct_ep_h *ep_p);

/* Progresses the worker until a round returns 0; returns the sum of all
 * rounds. */
unsigned loopback_progress(loopback_t *lo);

/* Runs the suite; returns the exit status for main(). */
int run_suite(Suite *suite);

#endif
