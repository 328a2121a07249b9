/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to one peer through UCP: opening, waiting without busy polling,
 * detecting a lost peer, closing. It is independent of files. */
#ifndef UCX_CP_LINK_H
#define UCX_CP_LINK_H

#include <ucp/api/ucp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    int event_fd;           /* Descriptor of the worker; readable when the
                             * worker has events */
    int socket;             /* Bootstrap socket, by which the worker addresses
                             * were exchanged; the peer closes it when it
                             * exits */
    bool peer_left;         /* The peer has closed the bootstrap socket */
    unsigned last_looks;    /* Number of calls of progress by link_step() since
                             * peer_left was set */
    ucs_status_t ep_status; /* UCS_OK until the endpoint failed */
};

/* An operation in flight. The caller must not move the structure until
 * link_busy() returns false. */
struct link_op {
    void *request; /* UCP request; valid while busy */
    bool busy;
    ucs_status_t status; /* Valid when no longer busy */
    size_t length;       /* Bytes received */
};

/* Opens the link and connects to the peer, by means of the bootstrap socket,
 * which link_close() closes. Returns 0, or -1 after printing an error. */
int link_open(struct link *link, int socket);

/* Cancels operations in flight and frees everything; safe after a failed open.
 * With clean, it first waits until the peer has received all data, if the peer
 * is still connected; at most for 5 seconds. */
void link_close(struct link *link, bool clean);

void link_send(struct link *link, struct link_op *op, const void *buffer,
               size_t length, uint64_t tag);
void link_recv(struct link *link, struct link_op *op, void *buffer,
               size_t length, uint64_t tag);
bool link_busy(const struct link_op *op);

/* Calls progress until it has done something; after many calls without effect,
 * sleeps until the worker has an event or the peer closes the bootstrap socket.
 * Returns 0; or -1 after printing an error, if the peer is lost or the user has
 * interrupted the program. */
int link_step(struct link *link);

/* Calls link_step() until op is complete. Returns 0; or -1 if the peer is lost
 * or the user has interrupted the program: then op may still be in flight. */
int link_wait(struct link *link, const struct link_op *op);

/* Cancels op. Its buffer must stay valid until link_close(). */
void link_cancel(struct link *link, struct link_op *op);

/* Progresses until the peer has closed the bootstrap socket, which shows that
 * it has received our last message; at most for 5 seconds, or until the peer is
 * lost or the user interrupts the program. */
void link_wait_goodbye(struct link *link);

/* Makes link_step(), link_wait() and link_wait_goodbye() return; may be called
 * by a signal handler. */
void link_interrupt(void);
bool link_interrupted(void);

#endif
