/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive buffers and received messages. A buffer is for one message, which the
 * receiver may keep, or an area for many (FI_MULTI_RECV): the provider writes
 * messages behind each other and releases the area when it is full. A message
 * in an area is valid until it is delivered; code that holds it longer makes a
 * copy.
 */
#include "iface.h"
#include "tag.h"

#include <endian.h>
#include <string.h>

enum {
    NUM_AREAS = 4, /* Areas of an interface: while the provider fills one,
                    * messages of another one are delivered */
    ALIGNMENT = 8, /* Alignment of messages for the receiver */
};

/* --- Opening and closing -------------------------------------------------- */

static void recv_release(ucx_recv_desc_owner_t *self, void *desc)
{
    ugni_iface_t *iface = ugni_container_of(self, ugni_iface_t, recv_owner);

    ucx_mpool_put(iface->port->recvs,
                  (char *)desc + iface->headroom - iface->recv_data);
}

/* Sets the number of free bytes below which the provider releases an area: the
 * maximum size of a message. */
static int set_message_size(const ugni_iface_t *iface)
{
    size_t size = iface->config.seg_size + sizeof(ugni_wire_head_t);

    return fi_setopt(&iface->port->ep->fid, FI_OPT_ENDPOINT,
                     FI_OPT_MIN_MULTI_RECV, &size, sizeof(size));
}

/* Creates the pool of areas. Together they have about as many bytes as the
 * buffers that they replace. If areas cannot be used, each message has its own
 * buffer. */
static ucs_status_t areas_init(ugni_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    ugni_port_t *port      = iface->port;
    int rc;

    if (!port->receives_many) {
        return UCS_OK;
    }
    rc = set_message_size(iface);
    if (rc != 0) {
        ucx_diag("ugni: %s has no buffers for many messages: %s",
                 port->info->domain_attr->name, fi_strerror(-rc));
        return UCS_OK;
    }
    iface->area_size = ((size_t)iface->config.rx_queue_len / NUM_AREAS) *
                       (iface->config.seg_size + sizeof(ugni_wire_head_t));
    iface->num_missing = NUM_AREAS;
    iface->max_missing = 1;
    return ugni_pool_create(host, port, 1, iface->recv_data + iface->area_size,
                            &port->areas);
}

ucs_status_t ugni_recv_init(ugni_iface_t *iface)
{
    ucs_status_t status;

    /* The buffer contains the ugni_recv_t, the word in which
     * ucx_recv_desc_set() stores the owner, the headroom and the data. The
     * message's header, directly before the data, overlaps the headroom. */
    iface->recv_data = (sizeof(ugni_recv_t) + sizeof(void *) + iface->headroom +
                        sizeof(ugni_wire_head_t) + 63) &
                       ~(size_t)63;
    iface->recv_owner.release = recv_release;
    iface->num_missing        = iface->config.rx_queue_len;
    iface->max_missing        = (iface->config.rx_queue_len + 7) / 8;
    status                    = ugni_pool_create(iface->host, iface->port, 1,
                                                 iface->recv_data + iface->config.seg_size,
                                                 &iface->port->recvs);
    return (status == UCS_OK) ? areas_init(iface) : status;
}

/* --- Posting -------------------------------------------------------------- */

static int post(ugni_iface_t *iface, ugni_recv_t *recv)
{
    const ugni_port_t *port = iface->port;
    const int is_multi      = port->areas != NULL;
    struct iovec iov        = {
               .iov_base = (char *)recv + iface->recv_data - sizeof(*recv->head),
               .iov_len  = is_multi ? iface->area_size :
                                      iface->config.seg_size + sizeof(*recv->head),
    };
    const struct fi_msg msg = {
        .msg_iov   = &iov,
        .desc      = &recv->desc,
        .iov_count = 1,
        .addr      = FI_ADDR_UNSPEC,
        .context   = &recv->op.context,
    };

    recv->op.kind     = UGNI_SMSG;
    recv->op.is_recv  = 1;
    recv->op.is_multi = (uint8_t)is_multi;
    recv->op.is_tag   = 0;
    recv->is_shared   = 0;
    recv->head        = iov.iov_base;
    ugni_link_init(&recv->link);
    return is_multi ?
               (int)fi_recvmsg(port->ep, &msg, FI_MULTI_RECV | FI_COMPLETION) :
               (int)fi_recv(port->ep, iov.iov_base, iov.iov_len, recv->desc,
                            FI_ADDR_UNSPEC, &recv->op.context);
}

/* Logs the first failure to post a receive buffer. -FI_EAGAIN is no failure.
 * The next progress tries again in any case. */
static void report_failed_post(ugni_iface_t *iface, int rc)
{
    const ucx_host_t *host  = iface->host;
    const ugni_port_t *port = iface->port;

    if ((rc != -FI_EAGAIN) && !iface->is_recv_told) {
        iface->is_recv_told = 1;
        ucx_error("ugni: %s (provider %s) accepts no more receive buffers, %u "
                  "are missing: %s; messages that need them wait%s",
                  port->info->domain_attr->name,
                  port->info->fabric_attr->prov_name, iface->num_missing,
                  fi_strerror(-rc),
                  (port->areas != NULL) ? ". Set UCX_UGNI_MULTI_RECV=n" : "");
    }
}

void ugni_recv_post(ugni_iface_t *iface)
{
    ugni_port_t *port = iface->port;
    ucx_mpool_t *pool = (port->areas != NULL) ? port->areas : port->recvs;
    ugni_recv_t *recv;
    int rc;

    for (; iface->num_missing > 0; --iface->num_missing) {
        recv = ucx_mpool_get(iface->host, pool);
        if (recv == NULL) {
            return;
        }
        rc = post(iface, recv);
        if (rc != 0) {
            ucx_mpool_put(pool, recv);
            report_failed_post(iface, rc);
            return;
        }
        ugni_link_add(&port->receiving, &recv->link);
    }
}

/* --- Messages ------------------------------------------------------------- */

void ugni_recv_drop(ugni_iface_t *iface, ugni_recv_t *recv)
{
    if (!recv->is_shared) {
        ucx_mpool_put(iface->port->recvs, recv);
    }
}

ugni_recv_t *ugni_recv_keep(ugni_iface_t *iface, ugni_recv_t *recv)
{
    ugni_recv_t *copy;

    if (!recv->is_shared) {
        return recv;
    }
    copy = ucx_mpool_get(iface->host, iface->port->recvs);
    if (copy == NULL) {
        return NULL;
    }
    copy->is_shared = 0;
    copy->length    = recv->length;
    copy->head      = (ugni_wire_head_t *)((char *)copy + iface->recv_data) - 1;
    memcpy(copy->head, recv->head, recv->length);
    return copy;
}

/* Delivers a message of an area. Without UCT_CB_PARAM_FLAG_DESC the user's
 * handler cannot keep the buffer, and copies the data that it needs. */
static void deliver_shared(ugni_iface_t *iface, const ugni_recv_t *recv,
                           uint8_t id)
{
    (void)ucx_iface_deliver_am(&iface->super, id, recv->head + 1,
                               (unsigned)(recv->length - sizeof(*recv->head)),
                               0);
}

/* If the headroom is shorter than the message's header, ucx_recv_desc_set()
 * overwrites the header, which is not read any more. */
static void deliver_own(ugni_iface_t *iface, ugni_recv_t *recv, uint8_t id)
{
    char *data    = (char *)(recv->head + 1);
    size_t length = recv->length - sizeof(*recv->head);

    ucx_recv_desc_set(data - iface->headroom, &iface->recv_owner);
    if (ucx_iface_deliver_am(&iface->super, id, data, (unsigned)length,
                             UCT_CB_PARAM_FLAG_DESC) != UCS_INPROGRESS) {
        ugni_recv_drop(iface, recv);
    }
}

void ugni_recv_deliver(ugni_iface_t *iface, ugni_recv_t *recv)
{
    const ugni_wire_head_t *wire = recv->head;

    if (wire->id >= UCT_AM_ID_MAX) {
        if ((wire->id == UGNI_ID_LOST) || (wire->id == UGNI_ID_CLOSED)) {
            ugni_lost_told(iface, le64toh(wire->source));
        } else if (wire->id == UGNI_ID_FETCHED) {
            ugni_tag_confirmed(iface, wire + 1, recv->length - sizeof(*wire));
        }
        ugni_recv_drop(iface, recv);
    } else if (recv->is_shared) {
        deliver_shared(iface, recv, wire->id);
    } else {
        deliver_own(iface, recv, wire->id);
    }
}

/* --- Completions ---------------------------------------------------------- */

static int is_for(const ugni_iface_t *iface, const ugni_wire_head_t *wire,
                  size_t length)
{
    return (iface != NULL) && !iface->is_closing && (length >= sizeof(*wire)) &&
           (le32toh(wire->key) == iface->addr.key);
}

/* Takes a message of an area. Messages follow each other without gaps in an
 * area, so that some are not aligned: these are copied. */
static void take_shared(ugni_iface_t *iface, void *buffer, size_t length)
{
    ugni_recv_t recv = {.head = buffer, .length = length, .is_shared = 1};
    ugni_recv_t *copy;

    if ((uintptr_t)buffer % ALIGNMENT != 0) {
        copy = ugni_recv_keep(iface, &recv);
        if (copy != NULL) {
            if (is_for(iface, copy->head, length)) {
                ugni_order_take(iface, copy);
            } else {
                ugni_recv_drop(iface, copy);
            }
        }
    } else if (is_for(iface, recv.head, length)) {
        ugni_order_take(iface, &recv);
    }
}

static void area_done(ugni_port_t *port, ugni_recv_t *area,
                      const struct fi_cq_tagged_entry *entry, int is_error)
{
    ugni_iface_t *iface = port->ifaces[UGNI_SMSG];
    const size_t max    = (iface == NULL) ?
                              0 :
                              iface->config.seg_size + sizeof(ugni_wire_head_t);

    if (!is_error && (entry->len >= sizeof(ugni_wire_head_t)) &&
        (entry->len <= max)) {
        take_shared(iface, entry->buf, entry->len);
    }
    if (!(entry->flags & FI_MULTI_RECV)) {
        return; /* The provider continues to fill this area */
    }
    ugni_link_remove(&area->link);
    ucx_mpool_put(port->areas, area);
    if (iface != NULL) {
        ++iface->num_missing;
    }
}

void ugni_recv_done(ugni_port_t *port, ugni_recv_t *recv,
                    const struct fi_cq_tagged_entry *entry, int is_error)
{
    ugni_iface_t *iface = port->ifaces[UGNI_SMSG];

    if (recv->op.is_multi) {
        area_done(port, recv, entry, is_error);
        return;
    }
    ugni_link_remove(&recv->link);
    if (iface == NULL) {
        ucx_mpool_put(port->recvs, recv);
        return;
    }
    ++iface->num_missing;
    if (is_error || !is_for(iface, recv->head, entry->len)) {
        ugni_recv_drop(iface, recv);
        return;
    }
    recv->length = entry->len;
    ugni_order_take(iface, recv);
}
