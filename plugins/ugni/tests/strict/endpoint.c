/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints of the provider `strict`: messages and access to remote memory. */
#include "strict.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* --- Messages ------------------------------------------------------------- */

static ssize_t msg_recv(struct fid_ep *fid, void *buffer, size_t length,
                        void *desc, fi_addr_t source, void *context)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    ssize_t rc;

    strict_check_local(ep, buffer, length, desc, FI_RECV);
    if (ep->num_received == strict_options.receives) {
        return -FI_ENOMEM;
    }
    rc = fi_recv(ep->real, buffer, length, NULL, source, context);
    ep->num_received += (rc == 0);
    return rc;
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
                           uint64_t flags)
{
    strict_ep_t *ep    = (strict_ep_t *)fid;
    struct fi_msg real = *msg;

    if (msg->iov_count != 1) {
        return -FI_ENOSYS;
    }
    strict_check_local(ep, msg->msg_iov[0].iov_base, msg->msg_iov[0].iov_len,
                       (msg->desc == NULL) ? NULL : msg->desc[0], FI_RECV);
    real.desc = NULL;
    return fi_recvmsg(ep->real, &real, flags);
}

/* Returns `rc`, the result of the provider below. An operation that it has
 * rejected does not count as posted. */
static ssize_t posted(strict_ep_t *ep, ssize_t rc)
{
    if (rc != 0) {
        strict_unpost(ep->cq);
    }
    return rc;
}

static ssize_t msg_send(struct fid_ep *fid, const void *buffer, size_t length,
                        void *desc, fi_addr_t peer, void *context)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    int rc          = strict_post(ep->cq, length);

    strict_check_local(ep, buffer, length, desc, FI_SEND);
    if (rc != 0) {
        return rc;
    }
    if (ep->num_sent + 1 == strict_options.lose) {
        length = 0;
    }
    rc = (int)posted(ep,
                     fi_send(ep->real, buffer, length, NULL, peer, context));
    ep->num_sent += (rc == 0);
    return rc;
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buffer, size_t length,
                          fi_addr_t peer)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    int is_lost     = (ep->num_sent + 1 == strict_options.lose);
    ssize_t rc;

    if (length > ep->domain->info->tx_attr->inject_size) {
        strict_die("%zu bytes are injected, the limit is %zu", length,
                   ep->domain->info->tx_attr->inject_size);
    }
    rc = fi_inject(ep->real, buffer, is_lost ? 0 : length, peer);
    ep->num_sent += (rc == 0);
    return rc;
}

static struct fi_ops_msg msg_ops = {
    .size    = sizeof(msg_ops),
    .recv    = msg_recv,
    .recvmsg = msg_recvmsg,
    .send    = msg_send,
    .inject  = msg_inject,
};

/* --- Remote memory -------------------------------------------------------- */

/* Checks the buffers and returns the message for the provider below. */
static struct fi_msg_rma translate(strict_ep_t *ep,
                                   const struct fi_msg_rma *msg,
                                   struct fi_rma_iov *remote, uint64_t access,
                                   size_t *length_p)
{
    struct fi_msg_rma real = *msg;

    *length_p = 0;
    for (size_t i = 0; i < msg->iov_count; ++i) {
        strict_check_local(ep, msg->msg_iov[i].iov_base,
                           msg->msg_iov[i].iov_len,
                           (msg->desc == NULL) ? NULL : msg->desc[i], access);
        *length_p += msg->msg_iov[i].iov_len;
    }
    *remote      = msg->rma_iov[0];
    remote->key  = strict_real_key(ep, msg->addr, remote->key);
    real.rma_iov = remote;
    real.desc    = NULL;
    return real;
}

static ssize_t rma_read(struct fid_ep *fid, const struct fi_msg_rma *msg,
                        uint64_t flags)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    struct fi_rma_iov remote;
    size_t length;
    struct fi_msg_rma real = translate(ep, msg, &remote, FI_READ, &length);
    int rc                 = strict_post(ep->cq, length);

    return (rc != 0) ? rc : posted(ep, fi_readmsg(ep->real, &real, flags));
}

static ssize_t rma_write(struct fid_ep *fid, const struct fi_msg_rma *msg,
                         uint64_t flags)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    struct fi_rma_iov remote;
    size_t length;
    struct fi_msg_rma real = translate(ep, msg, &remote, FI_WRITE, &length);
    int rc                 = strict_post(ep->cq, length);

    return (rc != 0) ? rc : posted(ep, fi_writemsg(ep->real, &real, flags));
}

static struct fi_ops_rma rma_ops = {
    .size     = sizeof(rma_ops),
    .readmsg  = rma_read,
    .writemsg = rma_write,
};

/* --- Life ----------------------------------------------------------------- */

static int cm_getname(fid_t fid, void *address, size_t *length)
{
    return fi_getname(&((strict_ep_t *)fid)->real->fid, address, length);
}

static struct fi_ops_cm cm_ops = {
    .size    = sizeof(cm_ops),
    .getname = cm_getname,
};

static int ep_close(struct fid *fid)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    int rc;

    if (ep->num_mrs > 0) {
        strict_die("an endpoint is closed before the memory bound to it");
    }
    rc = fi_close(&ep->real->fid);
    free(ep);
    return rc;
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    strict_ep_t *ep = (strict_ep_t *)fid;

    switch (other->fclass) {
    case FI_CLASS_AV:
        ep->av = (strict_av_t *)other;
        return fi_ep_bind(ep->real, &ep->av->real->fid, flags);
    case FI_CLASS_CQ:
        ep->cq = (strict_cq_t *)other;
        return fi_ep_bind(ep->real, &ep->cq->real->fid, flags);
    default:
        return -FI_EINVAL;
    }
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    strict_ep_t *ep = (strict_ep_t *)fid;
    char address[sizeof(struct sockaddr_in6)];
    size_t length = sizeof(address);
    int rc;

    rc = fi_control(&ep->real->fid, command, arg);
    if ((rc == 0) && (command == FI_ENABLE)) {
        rc       = fi_getname(&ep->real->fid, address, &length);
        ep->hash = strict_hash(address, length);
    }
    return rc;
}

static struct fi_ops ep_fid_ops = {
    .size     = sizeof(ep_fid_ops),
    .close    = ep_close,
    .bind     = ep_bind,
    .control  = ep_control,
    .ops_open = strict_no_ops,
};

static int ep_setopt(fid_t fid, int level, int name, const void *value,
                     size_t length)
{
    return fi_setopt(&((strict_ep_t *)fid)->real->fid, level, name, value,
                     length);
}

static struct fi_ops_ep ep_ops = {
    .size   = sizeof(ep_ops),
    .setopt = ep_setopt,
};

int strict_endpoint(struct fid_domain *domain, struct fi_info *info,
                    struct fid_ep **ep_p, void *context)
{
    strict_ep_t *ep      = calloc(1, sizeof(*ep));
    struct fi_info *real = (ep == NULL) ?
                               NULL :
                               fi_dupinfo(((strict_domain_t *)domain)->info);
    int rc;

    if (real == NULL) {
        free(ep);
        return -FI_ENOMEM;
    }
    ep->domain          = (strict_domain_t *)domain;
    real->tx_attr->size = info->tx_attr->size;
    real->rx_attr->size = info->rx_attr->size;
    rc = fi_endpoint(ep->domain->real, real, &ep->real, context);
    fi_freeinfo(real);
    if (rc != 0) {
        free(ep);
        return rc;
    }
    ep->fid.fid.fclass  = FI_CLASS_EP;
    ep->fid.fid.context = context;
    ep->fid.fid.ops     = &ep_fid_ops;
    ep->fid.ops         = &ep_ops;
    ep->fid.cm          = &cm_ops;
    ep->fid.msg         = &msg_ops;
    ep->fid.rma         = &rma_ops;
    *ep_p               = &ep->fid;
    return 0;
}
