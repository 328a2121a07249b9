/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: objects that the interfaces of a worker share on a device. */
#include "iface.h"
#include "mem.h"
#include "tag.h"

#include <string.h>

enum {
    MAX_POLL    = 16,  /* Maximum number of completions of one poll */
    CLOSE_POLLS = 300, /* Number of polls before the endpoint is closed */
};

/* --- Opening -------------------------------------------------------------- */

static int open_cq(ugni_port_t *port)
{
    /* One entry for each operation of both interfaces: the queue cannot
     * overrun. */
    struct fi_cq_attr attr = {
        .size = UGNI_NUM_KINDS * port->info->tx_attr->size +
                port->info->rx_attr->size,
        .format   = FI_CQ_FORMAT_TAGGED,
        .wait_obj = FI_WAIT_FD,
    };
    int fd;

    if (!port->is_polled &&
        (fi_cq_open(port->device->domain, &attr, &port->cq, NULL) == 0)) {
        /* ofi_rxd accepts FI_WAIT_FD but has no descriptor */
        port->has_fd = (fi_control(&port->cq->fid, FI_GETWAIT, &fd) == 0);
        return 0;
    }
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(port->device->domain, &attr, &port->cq, NULL);
}

static ucs_status_t open_endpoint(const ucx_host_t *host, ugni_port_t *port)
{
    struct fid_domain *domain = port->device->domain;
    struct fi_av_attr av_attr = {.type = port->info->domain_attr->av_type};
    const char *what          = "create the completion queue";
    int rc                    = open_cq(port);

    if (rc == 0) {
        what = "create the address vector";
        rc   = fi_av_open(domain, &av_attr, &port->av, NULL);
    }
    if (rc == 0) {
        what = "create the endpoint";
        rc   = fi_endpoint(domain, port->info, &port->ep, NULL);
    }
    if (rc == 0) {
        what = "name the endpoint";
        rc   = ugni_region_name(port);
    }
    if (rc == 0) {
        what = "bind the endpoint";
        rc   = fi_ep_bind(port->ep, &port->av->fid, 0);
    }
    if (rc == 0) {
        rc = fi_ep_bind(port->ep, &port->cq->fid, FI_TRANSMIT | FI_RECV);
    }
    if (rc == 0) {
        what = "enable the endpoint";
        rc   = fi_enable(port->ep);
    }
    if (rc == 0) {
        what              = "get the address of the endpoint";
        port->name_length = sizeof(port->name);
        rc = fi_getname(&port->ep->fid, port->name, &port->name_length);
    }
    if (port->info->addr_format == FI_ADDR_STR) {
        /* Address strings of peers may be longer than that of this endpoint */
        port->name_length = sizeof(port->name);
    }
    if (rc == 0) {
        return UCS_OK;
    }
    ucx_error("ugni: cannot %s of %s (provider %s): %s", what,
              port->info->domain_attr->name, port->info->fabric_attr->prov_name,
              fi_strerror(-rc));
    return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

/* --- Closing -------------------------------------------------------------- */

static void close_fid(struct fid *fid)
{
    if (fid != NULL) {
        fi_close(fid);
    }
}

#define CLOSE(_object) close_fid(((_object) == NULL) ? NULL : &(_object)->fid)

static void free_buffers(const ucx_host_t *host, ugni_port_t *port)
{
    ugni_recv_t *recv;

    while (!ugni_link_is_alone(&port->disowned)) {
        ugni_send_free(port, ugni_container_of(port->disowned.next, ugni_send_t,
                                               link));
    }
    while (!ugni_link_is_alone(&port->receiving)) {
        recv = ugni_container_of(port->receiving.next, ugni_recv_t, link);
        ugni_link_remove(&recv->link);
        ucx_mpool_put(recv->op.is_tag   ? port->tag_recvs :
                      recv->op.is_multi ? port->areas :
                                          port->recvs,
                      recv);
    }
    for (int i = 0; i < UGNI_NUM_KINDS; ++i) {
        if (port->sends[i] != NULL) {
            host->mpool_destroy(port->sends[i]);
        }
    }
    if (port->recvs != NULL) {
        host->mpool_destroy(port->recvs);
    }
    if (port->areas != NULL) {
        host->mpool_destroy(port->areas);
    }
    if (port->tag_recvs != NULL) {
        host->mpool_destroy(port->tag_recvs);
    }
}

/* Reads the completion queue and ignores the entries. ofi_rxm of libfabric 1.17
 * handles those that are left when it closes the endpoint, after it has freed
 * the connections that they belong to. */
static void drain(ugni_port_t *port)
{
    struct fi_cq_tagged_entry entries[MAX_POLL];
    struct fi_cq_err_entry error = {0};

    if ((port->ep == NULL) || (port->cq == NULL)) {
        return;
    }
    for (int i = 0; i < CLOSE_POLLS; ++i) {
        if (fi_cq_read(port->cq, entries, MAX_POLL) == -FI_EAVAIL) {
            error.err_data_size = 0;
            (void)fi_cq_readerr(port->cq, &error, 0);
        }
    }
}

/* Frees the objects that were created; also called after a failed open. The
 * endpoint is closed before the buffers are freed, because it uses them. */
static void port_free(const ucx_host_t *host, ugni_port_t *port)
{
    ugni_peer_t *peer;

    ugni_service_stop(host, port);
    drain(port);
    CLOSE(port->ep);
    CLOSE(port->av);
    CLOSE(port->cq);
    free_buffers(host, port);
    while ((peer = port->peers) != NULL) {
        port->peers = peer->next;
        free(peer);
    }
    if (port->info != NULL) {
        fi_freeinfo(port->info);
    }
    free(port);
}

/* --- Sharing -------------------------------------------------------------- */

/* Returns the number of receives that may be posted on the port: as many tagged
 * ones as others. */
static size_t num_recvs(const ugni_iface_t *iface)
{
    const ugni_md_t *md = (ugni_md_t *)iface->super.md;

    return (size_t)iface->config.rx_queue_len *
           ((md->caps & FI_TAGGED) ? 2 : 1);
}

static ucs_status_t port_new(ugni_iface_t *iface, ugni_device_t *device,
                             uct_worker_h worker, ugni_port_t **port_p)
{
    ugni_port_t *port = calloc(1, sizeof(*port));
    ucs_status_t status;

    if (port == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    port->md              = (ugni_md_t *)iface->super.md;
    port->device          = device;
    port->worker          = worker;
    port->is_polled       = iface->is_polled;
    port->info            = fi_dupinfo(device->info);
    port->is_local        = (port->md->mr_mode & FI_MR_LOCAL) != 0;
    port->loses_contexts  = strcmp(device->info->fabric_attr->prov_name,
                                   "shm") == 0;
    port->fetches_atomics = port->loses_contexts;
    port->receives_many   = (port->md->caps & FI_MULTI_RECV) != 0;
    port->is_direct       = ugni_direct_is_possible(port->md, device->info);
    ugni_link_init(&port->disowned);
    ugni_link_init(&port->receiving);
    if (port->info == NULL) {
        free(port);
        return UCS_ERR_NO_MEMORY;
    }
    /* Request queues of the configured length, because some providers allocate
     * buffers for the whole length of their queues. */
    port->info->tx_attr->size = ugni_min(iface->config.tx_queue_len,
                                         port->info->tx_attr->size);
    port->info->rx_attr->size = ugni_min(num_recvs(iface),
                                         port->info->rx_attr->size);
    status                    = open_endpoint(iface->host, port);
    if (status == UCS_OK) {
        status = ugni_service_start(iface->host, port);
    }
    if (status != UCS_OK) {
        port_free(iface->host, port);
        return status;
    }
    *port_p = port;
    return UCS_OK;
}

/* Returns the worker's port on the device, or NULL. A port that had an
 * interface of the same kind is not used: buffers of that interface may still
 * be posted. */
static ugni_port_t *find_port(ugni_md_t *md, const ugni_device_t *device,
                              uct_worker_h worker, int kind)
{
    ugni_port_t *port;

    for (port = md->ports; port != NULL; port = port->next) {
        if ((port->device == device) && (port->worker == worker) &&
            !(port->used & (1u << kind))) {
            return port;
        }
    }
    return NULL;
}

static ucs_status_t add_port(ugni_md_t *md, ugni_port_t *port)
{
    ucs_status_t status = ugni_mems_add_port(md, port);

    if (status != UCS_OK) {
        port_free(md->host, port);
        return status;
    }
    port->next = md->ports;
    md->ports  = port;
    return UCS_OK;
}

ucs_status_t ugni_port_get(ugni_iface_t *iface, ugni_device_t *device,
                           uct_worker_h worker)
{
    ugni_md_t *md       = (ugni_md_t *)iface->super.md;
    ucs_status_t status = UCS_OK;
    ugni_port_t *port;

    pthread_mutex_lock(&md->lock);
    port = find_port(md, device, worker, iface->kind);
    if (port == NULL) {
        status = port_new(iface, device, worker, &port);
        if (status == UCS_OK) {
            status = add_port(md, port);
        }
    }
    if (status == UCS_OK) {
        ++port->refcount;
        port->used |= 1u << iface->kind;
        port->ifaces[iface->kind] = iface;
        iface->port               = port;
    }
    pthread_mutex_unlock(&md->lock);
    return status;
}

void ugni_port_put(ugni_iface_t *iface)
{
    ugni_port_t *port = iface->port, **link;
    ugni_md_t *md     = (ugni_md_t *)iface->super.md;

    port->ifaces[iface->kind] = NULL;
    pthread_mutex_lock(&md->lock);
    if (--port->refcount > 0) {
        pthread_mutex_unlock(&md->lock);
        return;
    }
    for (link = &md->ports; *link != port; link = &(*link)->next) {
    }
    *link = port->next;
    ugni_mems_remove_port(md, port);
    pthread_mutex_unlock(&md->lock);
    port_free(iface->host, port);
}

/* --- Peers ---------------------------------------------------------------- */

/* The address of a peer stays in the address vector until the port is closed,
 * because its removal may close a connection over which the peer still sends.
 * Interfaces with the same address but different keys are different peers: a
 * new interface of a process may get the address of an earlier one. */
ucs_status_t ugni_port_peer(ugni_port_t *port, const void *name, uint32_t key,
                            ugni_peer_t **peer_p)
{
    const ucx_host_t *host = port->md->host;
    ugni_peer_t *peer, *same_name = NULL;
    int num;

    for (peer = port->peers; peer != NULL; peer = peer->next) {
        if (memcmp(peer->name, name, port->name_length) == 0) {
            if (peer->key == key) {
                *peer_p = peer;
                return UCS_OK;
            }
            same_name = peer;
        }
    }
    peer = calloc(1, sizeof(*peer));
    if (peer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(peer->name, name, port->name_length);
    peer->key = key;
    num       = 1;
    if (same_name != NULL) {
        peer->fi_addr = same_name->fi_addr;
    } else {
        num = fi_av_insert(port->av, peer->name, 1, &peer->fi_addr, 0, NULL);
    }
    if (num != 1) {
        free(peer);
        ucx_error("ugni: the address vector of %s (provider %s) accepts no "
                  "further address: %s",
                  port->info->domain_attr->name,
                  port->info->fabric_attr->prov_name,
                  (num < 0) ? fi_strerror(-num) : "it is full");
        return ((num == 0) || (num == -FI_ENOMEM)) ? UCS_ERR_NO_MEMORY :
                                                     UCS_ERR_INVALID_ADDR;
    }
    peer->next  = port->peers;
    port->peers = peer;
    *peer_p     = peer;
    return UCS_OK;
}

/* --- Completions ---------------------------------------------------------- */

/* Converts an error of libfabric to a status. UCS_ERR_IO_ERROR: the memory's
 * owner has rejected an access. UCS_ERR_CONNECTION_RESET: any other error,
 * after which the peer counts as lost. */
static ucs_status_t status_of(int error)
{
    switch (error) {
    case 0:
        return UCS_OK;
    case FI_EACCES:
    case FI_EINVAL:
    case FI_ENOKEY:
    case FI_EKEYREJECTED:
        return UCS_ERR_IO_ERROR;
    default:
        return UCS_ERR_CONNECTION_RESET;
    }
}

/* Handles the completion of an operation. `error`: an error code of libfabric,
 * or 0. */
static void op_done(ugni_port_t *port, const struct fi_cq_tagged_entry *entry,
                    int error)
{
    ugni_op_t *op = entry->op_context;

    if (op->is_tag) {
        ugni_tag_done(port, (ugni_tag_recv_t *)op, entry, error);
    } else if (op->is_recv) {
        ugni_recv_done(port, ugni_container_of(op, ugni_recv_t, op), entry,
                       error != 0);
    } else {
        ugni_send_done(port, ugni_container_of(op, ugni_send_t, op),
                       status_of(error));
    }
}

/* Handles an error that does not identify its operation. The provider shm
 * (libfabric 1.17) executes a put or get when it is posted, and reports a
 * failed one in this way. The completion queue is in order, and the completions
 * of all earlier puts and gets were read before this error. Therefore the
 * oldest incomplete put or get is the one that has failed. Atomics are executed
 * later, and their errors identify them. */
static void fail_first(ugni_port_t *port)
{
    ugni_send_t *send = ugni_send_first(port);
    const ugni_ep_t *ep;

    if (send != NULL) {
        ep = send->ep;
        ugni_send_done(port, send,
                       ((ep != NULL) &&
                        ugni_peer_is_dead(ugni_iface_of(ep), &ep->addr)) ?
                           UCS_ERR_CONNECTION_RESET :
                           UCS_ERR_IO_ERROR);
    }
}

/* Takes an error from the completion queue and handles it. Returns its code, or
 * 0 if there is none. */
static int take_error(ugni_port_t *port)
{
    const ucx_host_t *host          = port->md->host;
    struct fi_cq_err_entry error    = {0};
    struct fi_cq_tagged_entry entry = {0};

    if (fi_cq_readerr(port->cq, &error, 0) != 1) {
        return 0;
    }
    /* FI_ENOMSG: a search for tagged messages has found nothing, which is no
     * failure */
    if (error.err != FI_ENOMSG) {
        ucx_debug("ugni: an operation of %s failed: %s",
                  port->info->domain_attr->name, fi_strerror(error.err));
    }
    if (error.op_context != NULL) {
        entry.op_context = error.op_context;
        entry.flags      = error.flags;
        op_done(port, &entry, error.err);
    } else if (port->loses_contexts) {
        fail_first(port);
    }
    return error.err;
}

/* Reads the completion queue once and handles the entries. Sets
 * port->is_drained, unless the queue contains only the result of an
 * unsuccessful search for tagged messages (tag.c). Returns the number of the
 * other entries. */
static unsigned read_queue(ugni_port_t *port)
{
    struct fi_cq_tagged_entry entries[MAX_POLL];
    ssize_t num = fi_cq_read(port->cq, entries, MAX_POLL);
    int error   = (num == -FI_EAVAIL) ? take_error(port) : 0;

    if (error == FI_ENOMSG) {
        return 0;
    }
    port->is_drained = (num <= 0) && (error == 0);
    for (ssize_t i = 0; i < num; ++i) {
        op_done(port, &entries[i], 0);
    }
    return (num > 0) ? (unsigned)num : (error != 0);
}

/* Continues tag matching. ofi_rxm ends a search at once. Its result is read
 * here, because a result that stays in the queue would keep the user from
 * sleeping (ugni_event_arm()). */
static unsigned match_tags(ugni_iface_t *iface)
{
    (void)ugni_tag_progress(iface);
    return iface->tags->is_searching ? read_queue(iface->port) : 0;
}

unsigned ugni_port_progress(ugni_port_t *port)
{
    ugni_iface_t *smsg;
    unsigned count;

    port->is_drained = 0;
    count            = read_queue(port);
    if (port->device->target != NULL) {
        ugni_target_progress(port->device->target);
    }
    smsg = port->ifaces[UGNI_SMSG];
    /* Receive buffers are posted when the queue is empty, so that a reply to
     * the message that was just delivered does not wait for this. */
    if ((smsg != NULL) && (smsg->num_missing > 0) &&
        ((count == 0) || (smsg->num_missing >= smsg->max_missing))) {
        ugni_recv_post(smsg);
    }
    if ((smsg != NULL) && (smsg->tags != NULL) && !smsg->is_closing) {
        count += match_tags(smsg);
    }
    return count;
}
