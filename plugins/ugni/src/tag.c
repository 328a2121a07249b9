/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged receives: those that the user has posted, and those of unexpected
 * messages (see tag.h). */
#include "tag.h"
#include "mem.h"

#include <stdlib.h>

enum {
    MAX_HEADER = 256, /* Maximum bytes of the user's header of a rendezvous */
    /* Bytes of the headers of each tagged message */
    HEADS      = sizeof(ugni_wire_head_t) + sizeof(ugni_wire_tag_t)
};

/* --- Opening and closing -------------------------------------------------- */

/* Returns the maximum bytes of the user's header in an announcement of a
 * rendezvous; 0: no rendezvous is possible. */
static size_t max_header(const ugni_iface_t *iface)
{
    const ugni_md_t *md = iface->port->md;
    const size_t fixed  = HEADS + sizeof(ugni_wire_rndv_t) +
                         sizeof(ugni_wire_addr_t) + UGNI_MAX_NAME +
                         ugni_key_size(md);

    return (!(iface->port->info->caps & FI_RMA) || md->has_targets ||
            (fixed >= iface->config.seg_size)) ?
               0 :
               ugni_min(MAX_HEADER, iface->config.seg_size - fixed);
}

ucs_status_t ugni_tag_init(ugni_iface_t *iface,
                           const uct_iface_params_t *params)
{
    const uint64_t mask = params->field_mask;
    ugni_tags_t *tags;

    if (!(iface->port->md->caps & FI_TAGGED)) {
        return UCS_OK;
    }
    tags = calloc(1, sizeof(*tags));
    if (tags == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB) {
        tags->eager_cb = params->eager_cb;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG) {
        tags->eager_arg = params->eager_arg;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB) {
        tags->rndv_cb = params->rndv_cb;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG) {
        tags->rndv_arg = params->rndv_arg;
    }
    tags->searches    = (tags->eager_cb != NULL) && (tags->rndv_cb != NULL);
    tags->max_posted  = iface->config.rx_queue_len;
    tags->max_message = iface->config.seg_size + sizeof(ugni_wire_head_t);
    tags->max_header  = max_header(iface);
    ugni_link_init(&tags->held);
    ugni_link_init(&tags->active);
    iface->tags = tags;
    return ugni_pool_create(iface->host, iface->port, 1,
                            sizeof(ugni_tag_recv_t) + tags->max_message,
                            &iface->port->tag_recvs);
}

static void free_all(ugni_iface_t *iface, ugni_link_t *list)
{
    while (!ugni_link_is_alone(list)) {
        ugni_tag_recv_free(iface, ugni_container_of(list->next, ugni_tag_recv_t,
                                                    active));
    }
}

/* Posted receives are not freed here: libfabric uses their buffers until the
 * port is closed. */
void ugni_tag_cleanup(ugni_iface_t *iface)
{
    ugni_tags_t *tags = iface->tags;
    ugni_tag_op_t *op;

    if (tags == NULL) {
        return;
    }
    while ((op = tags->ops) != NULL) {
        tags->ops = op->next;
        free(op);
    }
    free_all(iface, &tags->held);
    free_all(iface, &tags->active);
    iface->tags = NULL;
    free(tags);
}

void ugni_tag_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr)
{
    const ugni_tags_t *tags = iface->tags;
    const size_t max        = iface->config.seg_size - sizeof(ugni_wire_tag_t);

    if (tags == NULL) {
        return;
    }
    attr->cap.flags |= UCT_IFACE_FLAG_TAG_EAGER_SHORT |
                       UCT_IFACE_FLAG_TAG_EAGER_BCOPY;
    attr->cap.tag.recv.max_zcopy       = SIZE_MAX;
    attr->cap.tag.recv.max_iov         = 1;
    attr->cap.tag.recv.max_outstanding = tags->max_posted;
    attr->cap.tag.eager.max_short      = max;
    attr->cap.tag.eager.max_bcopy      = max;
    attr->cap.tag.eager.max_iov        = 1;
    if (tags->max_header > 0) {
        attr->cap.flags |= UCT_IFACE_FLAG_TAG_RNDV_ZCOPY;
        attr->cap.tag.rndv.max_zcopy = iface->port->info->ep_attr->max_msg_size;
        attr->cap.tag.rndv.max_hdr   = tags->max_header;
        attr->cap.tag.rndv.max_iov   = 1;
    }
}

/* --- Posting -------------------------------------------------------------- */

static ugni_tag_recv_t *recv_new(ugni_iface_t *iface, ugni_tag_state_t state)
{
    ugni_tag_recv_t *recv = ucx_mpool_get(iface->host, iface->port->tag_recvs);
    void *desc;

    if (recv == NULL) {
        return NULL;
    }
    desc = recv->super.desc;
    memset(recv, 0, sizeof(*recv));
    recv->super.desc       = desc;
    recv->super.head       = (ugni_wire_head_t *)(recv + 1);
    recv->super.op.kind    = UGNI_SMSG;
    recv->super.op.is_recv = 1;
    recv->super.op.is_tag  = 1;
    recv->state            = state;
    ugni_link_init(&recv->super.link);
    ugni_link_init(&recv->active);
    return recv;
}

void ugni_tag_recv_free(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    ugni_link_remove(&recv->super.link);
    ugni_link_remove(&recv->active);
    if (recv->rkey != NULL) {
        (void)ugni_rkey_release(((uct_md_t *)iface->port->md)->component,
                                (uintptr_t)recv->rkey, NULL);
    }
    ucx_mpool_put(iface->port->tag_recvs, recv);
}

/* Posts a receive or, in the state UGNI_TAG_PEEKING, a search, which has no
 * buffer. Returns the result of libfabric. */
static ssize_t post(ugni_iface_t *iface, ugni_tag_recv_t *recv, uint64_t flags)
{
    struct iovec iov = {
        .iov_base = recv->super.head,
        .iov_len  = iface->tags->max_message,
    };
    const struct fi_msg_tagged msg = {
        .msg_iov   = &iov,
        .desc      = &recv->super.desc,
        .iov_count = (recv->state == UGNI_TAG_PEEKING) ? 0 : 1,
        .addr      = FI_ADDR_UNSPEC,
        .tag       = recv->tag,
        .ignore    = ~recv->mask,
        .context   = &recv->super.op.context,
    };
    ssize_t rc = fi_trecvmsg(iface->port->ep, &msg, flags | FI_COMPLETION);

    if (rc == 0) {
        ugni_link_remove(&recv->super.link);
        ugni_link_add(&iface->port->receiving, &recv->super.link);
    }
    return rc;
}

ucs_status_t ugni_tag_recv_zcopy(uct_iface_h uct_iface, uct_tag_t tag,
                                 uct_tag_t mask, const uct_iov_t *iov,
                                 size_t iovcnt, uct_tag_context_t *ctx)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    ugni_tags_t *tags   = iface->tags;
    ugni_tag_recv_t *recv;

    if (tags == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((iovcnt > 1) || ((iovcnt == 1) && (iov->count > 1))) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (tags->num_posted == tags->max_posted) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    recv = recv_new(iface, UGNI_TAG_POSTED);
    if (recv == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    recv->ctx  = ctx;
    recv->tag  = tag & mask;
    recv->mask = mask;
    if ((iovcnt == 1) && (iov->count == 1)) {
        recv->buffer = iov->buffer;
        recv->size   = iov->length;
        recv->memh   = iov->memh;
    }
    if (tags->is_searching || !ugni_link_is_alone(&tags->held)) {
        recv->state = UGNI_TAG_HELD;
        ugni_link_add(&tags->held, &recv->active);
    } else if (post(iface, recv, 0) != 0) {
        ugni_tag_recv_free(iface, recv);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    ++tags->num_posted;
    memcpy(ctx->priv, &recv, sizeof(recv));
    return UCS_OK;
}

ucs_status_t ugni_tag_recv_cancel(uct_iface_h uct_iface, uct_tag_context_t *ctx,
                                  int force)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    ugni_tag_recv_t *recv;

    memcpy(&recv, ctx->priv, sizeof(recv));
    if ((recv == NULL) || (recv->ctx != ctx)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((recv->state == UGNI_TAG_HELD) || (recv->state == UGNI_TAG_UNWANTED)) {
        recv->state = UGNI_TAG_UNWANTED;
        if (force) {
            --iface->tags->num_posted;
            ugni_tag_recv_free(iface, recv);
        }
        return UCS_OK;
    }
    if (recv->state != UGNI_TAG_POSTED) {
        /* The data is being transferred to the user's buffer */
        return force ? UCS_ERR_INVALID_PARAM : UCS_OK;
    }
    if (force) {
        recv->ctx = NULL;
    }
    /* If libfabric has already matched a message, the receive completes with
     * this message and not as cancelled; after a forced cancel, the message
     * counts as unexpected. */
    (void)fi_cancel(&iface->port->ep->fid, &recv->super.op.context);
    return UCS_OK;
}

/* --- Messages ------------------------------------------------------------- */

static int is_valid(const ugni_iface_t *iface, const ugni_tag_recv_t *recv)
{
    const ugni_wire_head_t *head = recv->super.head;

    return (recv->super.length >= HEADS) &&
           (le32toh(head->key) == iface->addr.key) &&
           (head->id >= UGNI_TAG_EAGER) && (head->id <= UGNI_TAG_REQUEST);
}

/* Passes an unexpected message to the user's callbacks. */
static void unexpected(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    const ugni_tags_t *tags = iface->tags;
    void *context           = NULL, *data;
    size_t length;

    data = ugni_tag_data(recv, &length);
    if (!tags->searches) { /* A message for a receive that was cancelled by
                            * force; there are no callbacks for it */
    } else if (recv->super.head->id == UGNI_TAG_EAGER) {
        (void)tags->eager_cb(tags->eager_arg, data, length,
                             UCT_CB_PARAM_FLAG_FIRST, recv->stag,
                             ugni_tag_imm(recv), &context);
    } else if (recv->super.head->id == UGNI_TAG_REQUEST) {
        (void)tags->rndv_cb(tags->rndv_arg, 0, recv->stag, data,
                            (unsigned)length, 0, 0, NULL);
    } else {
        ugni_tag_unexpected_rndv(iface, recv);
    }
    ugni_tag_recv_free(iface, recv);
}

/* Handles the message that a posted receive has received. */
static void matched(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    uct_tag_context_t *ctx = recv->ctx;
    ucs_status_t status    = UCS_OK;
    size_t length;
    void *data = ugni_tag_data(recv, &length);

    ctx->tag_consumed_cb(ctx);
    switch (recv->super.head->id) {
    case UGNI_TAG_RNDV:
        status = ugni_tag_fetch(iface, recv);
        if (status == UCS_OK) {
            return;
        }
        ctx->completed_cb(ctx, recv->stag, 0, 0, NULL, status);
        break;
    case UGNI_TAG_REQUEST:
        ctx->rndv_cb(ctx, recv->stag, data, (unsigned)length, UCS_OK, 0);
        break;
    default:
        if (length > recv->size) {
            status = UCS_ERR_MESSAGE_TRUNCATED;
        }
        ctx->completed_cb(ctx, recv->stag, ugni_tag_imm(recv), length,
                          (status == UCS_OK) ? data : NULL, status);
        break;
    }
    ugni_tag_recv_free(iface, recv);
}

/* Handles the message that a search has found and received (`recv`). The first
 * matching receive among those that were posted during the search gets the
 * message. If there is none, the message is unexpected. */
static void found(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    ugni_link_t *link, *held = &iface->tags->held;
    ugni_tag_recv_t *other;

    for (link = held->next; link != held; link = link->next) {
        other = ugni_container_of(link, ugni_tag_recv_t, active);
        if ((other->state == UGNI_TAG_HELD) &&
            (((recv->stag ^ other->tag) & other->mask) == 0)) {
            recv->ctx    = other->ctx;
            recv->buffer = other->buffer;
            recv->size   = other->size;
            recv->memh   = other->memh;
            memcpy(recv->ctx->priv, &recv, sizeof(recv));
            --iface->tags->num_posted;
            ugni_tag_recv_free(iface, other);
            matched(iface, recv);
            return;
        }
    }
    unexpected(iface, recv);
}

/* --- Completions ---------------------------------------------------------- */

/* Called when a search has ended. If it has found a message (`error` is 0),
 * starts to receive the message. */
static void searched(ugni_iface_t *iface, ugni_tag_recv_t *recv, int error)
{
    recv->state = UGNI_TAG_CLAIMING;
    if ((error != 0) || (post(iface, recv, FI_CLAIM) != 0)) {
        iface->tags->is_searching = 0;
        ugni_tag_recv_free(iface, recv);
    }
}

/* Called when a posted receive has ended with an error. */
static void failed(ugni_iface_t *iface, ugni_tag_recv_t *recv, int error)
{
    uct_tag_context_t *ctx = recv->ctx;

    ugni_tag_recv_free(iface, recv);
    if (ctx != NULL) {
        ctx->completed_cb(ctx, 0, 0, 0, NULL,
                          (error == FI_ECANCELED) ? UCS_ERR_CANCELED :
                                                    UCS_ERR_IO_ERROR);
    }
}

static void posted_done(ugni_iface_t *iface, ugni_tag_recv_t *recv, int error)
{
    if ((error == 0) && !is_valid(iface, recv) && (recv->ctx != NULL) &&
        (post(iface, recv, 0) == 0)) {
        return; /* The message was malformed, or for an earlier interface with
                 * the same address: post() has posted the receive again */
    }
    --iface->tags->num_posted;
    if (error != 0) {
        failed(iface, recv, error);
    } else if (!is_valid(iface, recv)) {
        failed(iface, recv, FI_EIO);
    } else if (recv->ctx == NULL) {
        unexpected(iface, recv);
    } else {
        matched(iface, recv);
    }
}

void ugni_tag_done(ugni_port_t *port, ugni_tag_recv_t *recv,
                   const struct fi_cq_tagged_entry *entry, int error)
{
    ugni_iface_t *iface = port->ifaces[UGNI_SMSG];

    ugni_link_remove(&recv->super.link);
    if ((iface == NULL) || iface->is_closing || (iface->tags == NULL)) {
        ucx_mpool_put(port->tag_recvs, recv);
        return;
    }
    recv->super.length = entry->len;
    recv->stag         = entry->tag;
    switch (recv->state) {
    case UGNI_TAG_PEEKING:
        searched(iface, recv, error);
        break;
    case UGNI_TAG_CLAIMING:
        iface->tags->is_searching = 0;
        if ((error == 0) && is_valid(iface, recv)) {
            found(iface, recv);
        } else {
            ugni_tag_recv_free(iface, recv);
        }
        break;
    default:
        posted_done(iface, recv, error);
        break;
    }
}

/* Posts the receives that were held back during a search, in order. Reports
 * those that were cancelled. Those that libfabric does not accept now
 * (-FI_EAGAIN) stay in the list. */
static void post_held(ugni_iface_t *iface)
{
    ugni_tags_t *tags = iface->tags;
    ugni_tag_recv_t *recv;
    ssize_t rc = -FI_ECANCELED;

    while (!ugni_link_is_alone(&tags->held)) {
        recv = ugni_container_of(tags->held.next, ugni_tag_recv_t, active);
        if (recv->state == UGNI_TAG_HELD) {
            rc = post(iface, recv, 0);
        }
        if (rc == -FI_EAGAIN) {
            return;
        }
        ugni_link_remove(&recv->active);
        if (rc == 0) {
            recv->state = UGNI_TAG_POSTED;
        } else {
            --tags->num_posted;
            failed(iface, recv, (int)-rc);
        }
        rc = -FI_ECANCELED;
    }
}

/* --- Progress ------------------------------------------------------------- */

static void search(ugni_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    ugni_tag_recv_t *recv  = recv_new(iface, UGNI_TAG_PEEKING);
    ssize_t rc;

    if (recv == NULL) {
        return;
    }
    iface->tags->is_searching = 1;
    rc                        = post(iface, recv, FI_PEEK | FI_CLAIM);
    if (rc == 0) {
        return;
    }
    iface->tags->is_searching = 0;
    ugni_tag_recv_free(iface, recv);
    if (rc == -FI_ENOMSG) {
        return;
    }
    if (rc != -FI_EAGAIN) {
        iface->tags->searches = 0;
        ucx_error("ugni: the provider %s cannot search tagged messages (%s): "
                  "unexpected ones are not reported",
                  iface->port->info->fabric_attr->prov_name,
                  fi_strerror((int)-rc));
    }
}

unsigned ugni_tag_progress(ugni_iface_t *iface)
{
    ugni_tags_t *tags = iface->tags;
    ugni_link_t *link = tags->active.next;
    ugni_tag_recv_t *recv;

    while (link != &tags->active) {
        recv = ugni_container_of(link, ugni_tag_recv_t, active);
        link = link->next;
        ugni_tag_continue(iface, recv);
    }
    if (!tags->is_searching) {
        post_held(iface);
        if (tags->searches && ugni_link_is_alone(&tags->held)) {
            search(iface);
        }
    }
    return 0;
}
