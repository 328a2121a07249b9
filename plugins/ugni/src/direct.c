/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get over the provider shm by system calls of this plugin. The
 * provider (libfabric 1.17) makes the same calls, but meanwhile holds a lock in
 * the peer's shared memory: the peer cannot receive until the copy ends, and
 * never again if this process is killed during the copy. If a call fails here,
 * the provider executes the operation and reports its error; but if the peer
 * process has exited, the endpoint fails.
 */
#include "rma.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

int ugni_direct_is_possible(const ugni_md_t *md, const struct fi_info *info)
{
    return (strcmp(info->fabric_attr->prov_name, "shm") == 0) &&
           (md->mr_mode & FI_MR_VIRT_ADDR) && !(md->caps & FI_HMEM);
}

/* Called before the first copy: stores in ep->direct whether the process id in
 * the peer's address is one of this PID namespace (UCS_ERR_UNSUPPORTED: it is
 * not). The address may be stale or wrong, so the process must have the start
 * time in it. Returns UCS_ERR_CONNECTION_RESET if the peer process has
 * exited. */
static ucs_status_t identify(ugni_ep_t *ep)
{
    const ugni_wire_addr_t *peer = &ep->addr;

    if ((peer->space != ugni_iface_of(ep)->addr.space) || (peer->pid == 0) ||
        (peer->pid > INT32_MAX)) {
        ep->direct = UGNI_DIRECT_NO;
        return UCS_ERR_UNSUPPORTED;
    }
    if (ugni_process_is_gone(peer->pid, peer->start)) {
        return UCS_ERR_CONNECTION_RESET;
    }
    ep->direct = UGNI_DIRECT_YES;
    return UCS_OK;
}

ucs_status_t ugni_direct_copy(ugni_ep_t *ep, ugni_rma_t *rma, int is_write)
{
    const ugni_iface_t *iface = ugni_iface_of(ep);
    const struct iovec remote = {.iov_base = (void *)rma->remote.addr,
                                 .iov_len  = rma->length};
    ucs_status_t status;
    ssize_t size;

    rma->super.number = iface->next_number;
    if (!iface->port->is_direct || (ep->direct == UGNI_DIRECT_NO) ||
        (!ugni_link_is_alone(&iface->outstanding) &&
         ugni_is_fenced(ep, &rma->super))) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (ep->direct == UGNI_DIRECT_UNKNOWN) {
        status = identify(ep);
        if (status != UCS_OK) {
            return status;
        }
    }
    size = is_write ? process_vm_writev((pid_t)ep->addr.pid, rma->iov,
                                        rma->iovcnt, &remote, 1, 0) :
                      process_vm_readv((pid_t)ep->addr.pid, rma->iov,
                                       rma->iovcnt, &remote, 1, 0);
    if (size == (ssize_t)rma->length) {
        return UCS_OK;
    }
    if ((size < 0) && ((errno == EPERM) || (errno == ENOSYS))) {
        ep->direct = UGNI_DIRECT_NO;
    }
    return ((size < 0) && (errno == ESRCH)) ? UCS_ERR_CONNECTION_RESET :
                                              UCS_ERR_UNSUPPORTED;
}
