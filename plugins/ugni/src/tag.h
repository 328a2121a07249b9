/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching by libfabric's tagged interface (FI_TAGGED).
 *
 * libfabric receives a message into a buffer of the plugin, not of the user.
 * The user gets the data as inline data and copies it. Thus a message that is
 * too long leaves the user's buffer unchanged, and a receive can be cancelled
 * by force without waiting for libfabric.
 *
 * Large data is sent by rendezvous: the sender announces it in a message, and
 * the receiver reads it from the sender's memory.
 *
 * libfabric keeps unexpected messages. Progress searches for them (FI_PEEK) and
 * receives those that it finds (FI_CLAIM).
 */
#ifndef UGNI_TAG_H
#define UGNI_TAG_H

#include "iface.h"

#include <rdma/fi_tagged.h>

#include <endian.h>
#include <string.h>

/* Kinds of tagged messages, in ugni_wire_head_t.id: EAGER contains the data;
 * RNDV announces data that the receiver reads; REQUEST contains only the user's
 * header of a rendezvous in software (tag_rndv_request) */
enum { UGNI_TAG_EAGER = 1, UGNI_TAG_RNDV, UGNI_TAG_REQUEST };

/* Follows the header of each tagged message; little-endian. */
typedef struct ugni_wire_tag {
    uint64_t imm; /* UGNI_TAG_EAGER: immediate data of the user; UGNI_TAG_RNDV:
                   * ugni_tag_op_t.id of the sender */
} ugni_wire_tag_t;

/* Follows the ugni_wire_tag_t of a UGNI_TAG_RNDV message; little-endian. After
 * this structure come the sender's interface address, the packed key and the
 * user's header. */
typedef struct ugni_wire_rndv {
    uint64_t address, length; /* Of the data in the sender's memory */
    /* Bytes of the sender's interface address, the key and the header */
    uint16_t name_length, key_length, header_length, unused[5];
} ugni_wire_rndv_t;

_Static_assert(sizeof(ugni_wire_rndv_t) == 32, "wire format");

typedef enum {
    /* Receives of the user */
    UGNI_TAG_HELD,     /* In tags->held: not passed to libfabric yet */
    UGNI_TAG_UNWANTED, /* In tags->held, cancelled: progress reports this */
    UGNI_TAG_POSTED,   /* Posted: libfabric has no message for it yet */
    /* Receives of the plugin, for unexpected messages */
    UGNI_TAG_PEEKING,  /* Searches for an unexpected message */
    UGNI_TAG_CLAIMING, /* Receives the message that was found */
    /* Receives of the user that have matched a rendezvous */
    UGNI_TAG_FETCH,      /* Waits for send resources to start the read */
    UGNI_TAG_FETCHING,   /* The read of the data is outstanding */
    UGNI_TAG_CONFIRM,    /* Waits for send resources to send UGNI_ID_FETCHED */
    UGNI_TAG_CONFIRMING, /* UGNI_ID_FETCHED is outstanding */
} ugni_tag_state_t;

/* A tagged receive. The buffer for the message follows the structure. */
typedef struct ugni_tag_recv {
    ugni_recv_t super; /* `head` points to the buffer after the structure */
    ugni_tag_state_t state;
    uct_tag_context_t *ctx; /* The user's receive; NULL: it was cancelled by
                             * force, or this is a receive of the plugin */
    uct_tag_t tag, mask;    /* Values that the user has posted */
    uct_tag_t stag;         /* The sender's tag */
    void *buffer;           /* The user's buffer */
    size_t size;            /* Bytes of `buffer` */
    uct_mem_h memh;         /* Memory handle of `buffer`, or NULL */
    ugni_link_t active;     /* Node in tags->held or tags->active */
    /* Members of a rendezvous */
    ugni_ep_t *ep; /* Internal endpoint to the sender */
    struct ugni_rkey *rkey;
    /* ugni_tag_op_t.id of the sender; address and key of the data for
     * libfabric; bytes of the data */
    uint64_t op, address, key, length;
    /* From UGNI_TAG_CONFIRM on: ugni_wire_fetched_t.is_failed, and how often
     * UGNI_ID_FETCHED was sent (after a success: MAX_ATTEMPTS of tag_rndv.c) */
    uint8_t is_failed, attempts;
    double retry_at; /* Time of the next attempt, after the first one */
} ugni_tag_recv_t;

/* A rendezvous that this interface has announced as the sender. It ends with
 * the receiver's UGNI_ID_FETCHED, or when the user cancels it, or with its
 * endpoint. */
typedef struct ugni_tag_op {
    struct ugni_tag_op *next; /* Next in ugni_tags_t.ops */
    uint64_t id;              /* Number of the rendezvous on this interface */
    ugni_ep_t *ep;
    uct_completion_t *comp;
} ugni_tag_op_t;

/* State of tag matching of an interface */
typedef struct ugni_tags {
    /* The user's callbacks for unexpected messages, and their arguments */
    uct_tag_unexp_eager_cb_t eager_cb;
    uct_tag_unexp_rndv_cb_t rndv_cb;
    void *eager_arg, *rndv_arg;
    int searches;     /* Progress searches for unexpected messages: the user has
                       * set both callbacks, and the provider supports it */
    int is_searching; /* A receive in UGNI_TAG_PEEKING or UGNI_TAG_CLAIMING
                       * exists */
    /* Receives that the user has posted while is_searching, and that are not
     * passed to libfabric yet. libfabric could match them with messages behind
     * the one that the search has found */
    ugni_link_t held;
    /* Number of receives that the user has posted and that are in `held` or
     * passed to libfabric, and maximum of this number */
    unsigned num_posted, max_posted;
    size_t max_message; /* Maximum bytes of a message with its header */
    size_t max_header;  /* Maximum bytes of the user's header of a rendezvous;
                         * 0: there is no rendezvous */
    ugni_link_t active; /* Receives in UGNI_TAG_FETCH and the states after it */
    ugni_tag_op_t *ops; /* Announced rendezvous */
    uint64_t last_op;   /* ugni_tag_op_t.id of the last announcement */
} ugni_tags_t;

/* tag.c */
ucs_status_t ugni_tag_init(ugni_iface_t *iface,
                           const uct_iface_params_t *params);
void ugni_tag_cleanup(ugni_iface_t *iface);
void ugni_tag_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr);
void ugni_tag_done(ugni_port_t *port, ugni_tag_recv_t *recv,
                   const struct fi_cq_tagged_entry *entry, int error);
/* Continues the receives in tags->active, passes those in tags->held to
 * libfabric, and searches for unexpected messages. Returns 0. */
unsigned ugni_tag_progress(ugni_iface_t *iface);
ucs_status_t ugni_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                 uct_tag_t mask, const uct_iov_t *iov,
                                 size_t iovcnt, uct_tag_context_t *ctx);
ucs_status_t ugni_tag_recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                  int force);
/* Frees a receive that is not posted. */
void ugni_tag_recv_free(ugni_iface_t *iface, ugni_tag_recv_t *recv);

/* tag_send.c */
ucs_status_t ugni_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag,
                                     const void *data, size_t length);
ssize_t ugni_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                uct_pack_callback_t pack_cb, void *arg,
                                unsigned flags);
ucs_status_ptr_t ugni_ep_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                        const void *header,
                                        unsigned header_length,
                                        const uct_iov_t *iov, size_t iovcnt,
                                        unsigned flags, uct_completion_t *comp);
ucs_status_t ugni_ep_tag_rndv_cancel(uct_ep_h ep, void *op);
ucs_status_t ugni_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                      const void *header,
                                      unsigned header_length, unsigned flags);
/* Ends a rendezvous. `data` is the content of the peer's message
 * UGNI_ID_FETCHED. */
void ugni_tag_confirmed(ugni_iface_t *iface, const void *data, size_t length);
/* Ends all rendezvous that an endpoint has announced. Their completions are
 * called with *status, or not at all if `status` is NULL. */
void ugni_tag_end_ops(ugni_ep_t *ep, const ucs_status_t *status);

/* tag_rndv.c: prepares the read of the data that the received UGNI_TAG_RNDV
 * announces. UCS_OK: the receive is in tags->active, until the sender is
 * notified. UCS_ERR_IO_ERROR: the message is malformed. Other errors: there is
 * no endpoint to the sender. */
ucs_status_t ugni_tag_fetch(ugni_iface_t *iface, ugni_tag_recv_t *recv);
/* Passes an unexpected announcement to the user. */
void ugni_tag_unexpected_rndv(ugni_iface_t *iface, ugni_tag_recv_t *recv);
/* Takes the next step of a receive of tags->active: starts the read of a
 * rendezvous, or sends UGNI_ID_FETCHED after the read. */
void ugni_tag_continue(ugni_iface_t *iface, ugni_tag_recv_t *recv);

/* Returns the content of a received message after its headers. Stores the bytes
 * of the content in *length_p. */
static inline void *ugni_tag_data(const ugni_tag_recv_t *recv, size_t *length_p)
{
    *length_p = recv->super.length - sizeof(ugni_wire_head_t) -
                sizeof(ugni_wire_tag_t);
    return (char *)(recv->super.head + 1) + sizeof(ugni_wire_tag_t);
}

static inline uint64_t ugni_tag_imm(const ugni_tag_recv_t *recv)
{
    ugni_wire_tag_t wire;

    memcpy(&wire, recv->super.head + 1, sizeof(wire));
    return le64toh(wire.imm);
}

#endif
