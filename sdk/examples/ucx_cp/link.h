/* SPDX-License-Identifier: BSD-3-Clause */
/* One peer, reached through UCP: opening, waiting without burning a core,
 * noticing that the peer is gone, closing. It knows nothing of files. */
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
    int event_fd;           /* the worker's; readable when it has work */
    int socket;             /* the rendezvous; its end is the peer's end */
    bool peer_left;         /* the rendezvous ended */
    unsigned last_looks;    /* progress calls since then */
    ucs_status_t ep_status; /* UCS_OK until the endpoint failed */
};

/* One operation in flight. The caller keeps it where it is until link_busy()
 * says that it is over. */
struct link_op {
    void *request; /* valid while busy */
    bool busy;
    ucs_status_t status;
    size_t length; /* bytes received */
};

/* Takes over the rendezvous socket. Returns 0, or -1 after saying why. */
int link_open(struct link *link, int socket);

/* Ends what is in flight and frees everything; safe after a failed open. With
 * clean, what was sent reaches the peer first, if the peer is still there. */
void link_close(struct link *link, bool clean);

void link_send(struct link *link, struct link_op *op, const void *buffer,
               size_t length, uint64_t tag);
void link_recv(struct link *link, struct link_op *op, void *buffer,
               size_t length, uint64_t tag);
bool link_busy(const struct link_op *op);

/* Progresses once, asleep if need be, until something happened. Returns 0; or
 * -1 after saying why, if the peer is lost or the user interrupts. */
int link_step(struct link *link);

/* Progresses until op is over. Returns 0; or -1 if the peer is lost or the
 * user interrupts, and then op may still be in flight. */
int link_wait(struct link *link, const struct link_op *op);

/* Asks for op back. Its buffer must stay until link_close(). */
void link_cancel(struct link *link, struct link_op *op);

/* Progresses until the peer has closed the rendezvous: it has our last word. */
void link_wait_goodbye(struct link *link);

/* Asks link_wait to give up; for signal handlers. */
void link_interrupt(void);
bool link_interrupted(void);

#endif
