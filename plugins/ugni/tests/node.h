/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes, between which a test communicates. A node is a worker with one
 * interface of each transport of ugni. All nodes of a test are in one process
 * and use one memory domain. Failures of the functions fail the test.
 */
#ifndef UGNI_TEST_NODE_H
#define UGNI_TEST_NODE_H

#include <check.h>
#include <stdint.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

enum { NODE_SMSG, NODE_RDMA, NODE_KINDS, NODE_ADDR_MAX = 128, NODE_AM_ID = 3 };

/* The memory domain of a test. */
typedef struct domain {
    uct_component_h component;
    uct_md_h md;
    const char *device; /* Name of the device of all interfaces */
} domain_t;

typedef struct node {
    domain_t *domain;
    ucs_async_context_t *async;
    uct_worker_h worker;
    /* Interfaces with their device and interface addresses, by NODE_SMSG and
     * NODE_RDMA */
    uct_iface_h ifaces[NODE_KINDS];
    char dev[NODE_KINDS][NODE_ADDR_MAX];
    char addr[NODE_KINDS][NODE_ADDR_MAX];
    unsigned received;   /* Number of received messages NODE_AM_ID */
    uint64_t last;       /* Header of the last message */
    unsigned failures;   /* Number of calls of the error handler */
    ucs_status_t failed; /* Status of the last call */
} node_t;

/* Two nodes of a domain, and registered memory of their process */
typedef struct pair {
    domain_t domain;
    node_t a, b;
    uct_mem_h memh;
    uct_rkey_bundle_t rkey; /* The unpacked key of the memory */
} pair_t;

/* Seconds after which a wait fails the test: much longer than any wait
 * needs. */
#define NODE_TIMEOUT 30.0

#define ASSERT_OK(_status) ck_assert_int_eq(_status, UCS_OK)

/* Calls the progress of both nodes until the condition is true. */
#define NODE_WAIT(_a, _b, _condition) \
    do { \
        double _end = node_now() + NODE_TIMEOUT; \
        while (!(_condition)) { \
            uct_worker_progress((_a)->worker); \
            uct_worker_progress((_b)->worker); \
            ck_assert_msg(node_now() < _end, "waited too long: %s", \
                          #_condition); \
        } \
    } while (0)

/* Returns the monotonic time in seconds. */
double node_now(void);
void domain_open(domain_t *domain);
void node_open(node_t *node, domain_t *domain);
/* As node_open(), with the user's callbacks for unexpected tagged messages;
 * `callbacks` may be NULL. */
void node_open_with(node_t *node, domain_t *domain,
                    const uct_iface_params_t *callbacks);
/* As node_open(), but the user of the node only polls: no event
 * descriptors. */
void node_open_polled(node_t *node, domain_t *domain);
void node_close(node_t *node);
/* Arms the event descriptors of the node. Calls progress while there are events
 * left; fails if there are always some. */
void node_arm(node_t *node);
/* After node_arm(): waits until a descriptor of the node is readable. Only the
 * peer makes progress. */
void node_sleep(node_t *node, node_t *peer);
/* Creates an endpoint from an interface of the node to the peer's interface of
 * the same kind. Returns the status. */
ucs_status_t node_connect(node_t *node, int kind, const node_t *peer,
                          uct_ep_h *ep_p);
/* Sends a message and waits until the peer has received it. */
void node_say(node_t *node, uct_ep_h ep, node_t *peer, uint64_t header);
/* Registers memory and stores its unpacked key in *rkey. Returns the memory
 * handle. */
uct_mem_h node_register(domain_t *domain, void *address, size_t length,
                        uct_rkey_bundle_t *rkey);
/* Flushes the endpoint of `node`, and calls the progress of both nodes until
 * the flush is complete. Returns its status. */
ucs_status_t node_flush(node_t *node, uct_ep_h ep, node_t *peer);

void pair_open(pair_t *pair, void *memory, size_t length);
void pair_close(pair_t *pair);
/* Closes the objects of the pair, except the unpacked key. */
void pair_close_but_key(pair_t *pair);

/* Runs the tests of `tcase`. Returns the exit status of the program. */
int node_run(TCase *tcase);

#endif
