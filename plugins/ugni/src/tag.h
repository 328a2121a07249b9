/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching by libfabric's tagged interface (FI_TAGGED). A posted receive
 * has a buffer of the plugin, whose data the user copies (inline data): a
 * message that is too long leaves the user's buffer unchanged, and a receive
 * can be cancelled by force without waiting. Large data is announced, and read
 * by the receiver. libfabric keeps unexpected messages: progress searches and
 * claims them (FI_PEEK, FI_CLAIM).
 */
#ifndef UGNI_TAG_H
#define UGNI_TAG_H

#include "iface.h"

#include <rdma/fi_tagged.h>

#include <endian.h>
#include <string.h>

/* Kinds of tagged messages: ugni_wire_head::id */
enum { UGNI_TAG_EAGER = 1, UGNI_TAG_RNDV, UGNI_TAG_REQUEST };

/* Follows the header of each tagged message; little-endian. */
typedef struct ugni_wire_tag {
    uint64_t imm; /* UGNI_TAG_RNDV: number of the sender's operation */
} ugni_wire_tag_t;

/* Follows the ugni_wire_tag_t of a UGNI_TAG_RNDV message. The sender's address,
 * the packed key and the user's header come after it. */
typedef struct ugni_wire_rndv {
    uint64_t address, length;
    uint16_t name_length, key_length, header_length, unused[5];
} ugni_wire_rndv_t;

_Static_assert(sizeof(ugni_wire_rndv_t) == 32, "wire format");

typedef enum {
    UGNI_TAG_POSTED,   /* Posted by the user */
    UGNI_TAG_PEEKING,  /* Searches for an unexpected message */
    UGNI_TAG_CLAIMING, /* Receives the message that was found */
    UGNI_TAG_FETCH,    /* Matched; the read of the data is not started */
    UGNI_TAG_FETCHING,
    UGNI_TAG_CONFIRM, /* The sender must be told that the data was read */
} ugni_tag_state_t;

typedef struct ugni_tag_recv {
    ugni_recv_t super; /* `head` points to the buffer */
    ugni_tag_state_t state;
    uct_tag_context_t *ctx; /* NULL: cancelled by force, or unexpected */
    uct_tag_t tag, mask;    /* Values that the user has posted */
    uct_tag_t stag;         /* The sender's tag */
    void *buffer;           /* The user's buffer */
    size_t size;
    uct_mem_h memh;
    ugni_link_t active; /* Node in tags->active */
    /* Members of a rendezvous */
    ugni_ep_t *ep; /* Internal endpoint to the sender */
    struct ugni_rkey *rkey;
    uint64_t op, address, key, length;
} ugni_tag_recv_t;

/* A rendezvous that this interface has announced */
typedef struct ugni_tag_op {
    struct ugni_tag_op *next;
    uint64_t id;
    ugni_ep_t *ep;
    uct_completion_t *comp;
} ugni_tag_op_t;

typedef struct ugni_tags {
    uct_tag_unexp_eager_cb_t eager_cb;
    uct_tag_unexp_rndv_cb_t rndv_cb;
    void *eager_arg, *rndv_arg;
    int searches;     /* Progress searches for unexpected messages: the user has
                       * set both callbacks, and the provider supports it */
    int is_searching; /* A search is under way */
    unsigned num_posted, max_posted;
    size_t max_message; /* Bytes of a message with its header */
    size_t max_header;  /* Bytes of the user's header of a rendezvous; 0: no
                         * rendezvous */
    ugni_link_t active; /* Receives of a rendezvous whose transfer is under
                         * way */
    ugni_tag_op_t *ops;
    uint64_t last_op;
} ugni_tags_t;

/* tag.c */
ucs_status_t ugni_tag_init(ugni_iface_t *iface,
                           const uct_iface_params_t *params);
void ugni_tag_cleanup(ugni_iface_t *iface);
void ugni_tag_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr);
void ugni_tag_done(ugni_port_t *port, ugni_tag_recv_t *recv,
                   const struct fi_cq_tagged_entry *entry, int error);
/* Searches for unexpected messages, and continues transfers of data. */
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
/* Called when a peer has read the data of an operation. `data` is the content
 * of its message UGNI_ID_FETCHED. */
void ugni_tag_confirmed(ugni_iface_t *iface, const void *data, size_t length);
/* Ends the operations of an endpoint; without `status` no completion is
 * called. */
void ugni_tag_end_ops(ugni_ep_t *ep, const ucs_status_t *status);

/* tag_rndv.c: prepares the read of the data of an announcement that has
 * matched. Returns UCS_ERR_IO_ERROR for a malformed announcement. */
ucs_status_t ugni_tag_fetch(ugni_iface_t *iface, ugni_tag_recv_t *recv);
/* Passes an unexpected announcement to the user. */
void ugni_tag_unexpected_rndv(ugni_iface_t *iface, ugni_tag_recv_t *recv);
/* Continues a receive of tags->active. */
void ugni_tag_continue(ugni_iface_t *iface, ugni_tag_recv_t *recv);

/* Returns the data of a received message, and its length. */
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
