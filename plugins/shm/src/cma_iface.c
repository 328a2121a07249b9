/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of cma: opening and closing, attributes and costs, and
 * progress.
 */
#include "cma.h"
#include "speed.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Size of the inbox for requests to help, which has little traffic: number of
 * senders, and cells and bytes of the ring for each of them. Processes that get
 * no slot in it copy alone. */
enum {
    INBOX_SLOTS = 512,
    INBOX_CELLS = 64,
    INBOX_RING  = 4096,
};

/* Bandwidth in bytes per second before it is measured: of a copy by one process
 * alone, and of a copy that both processes share. UCP selects transports by
 * these values, and protocols by measured ones (cma_iface_estimate()). */
#define BW_ALONE  11.1e9
#define BW_SHARED 22e9

/* Factor by which a shared copy is faster than a copy by one process. Two
 * processes are at most twice as fast as one. They use the same memory, and the
 * helper begins later, so a value between one and two is assumed. */
#define SHARED_GAIN 1.5

/* Assumed duration of a call of process_vm_readv in seconds, if the kernel
 * denies the call that is measured. */
#define CALL_ASSUMED 1.4e-6

/* Rounds of progress between two calls of iface_sweep(), which reads the clock;
 * a power of two. */
enum { ROUNDS = 1u << 14 };

/* Maximum seconds that closing waits for helpers that still copy from or to our
 * memory. */
#define CLOSE_PATIENCE 1.0

/* --- Opening ------------------------------------------------------------- */

/* Permits other processes of the user to access this process's memory, unless
 * UCX_CMA_PTRACER is n. Needed only with Yama's ptrace_scope 1: then the kernel
 * permits access only to ancestors of a process, unless the process permits it
 * to all processes. */
static void iface_allow_readers(const cma_iface_t *iface)
{
#ifdef PR_SET_PTRACER
    const ucx_host_t *host = iface->host;
    char scope             = '0';
    int fd;

    if (!iface->config.ptracer) {
        return;
    }
    fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if ((read(fd, &scope, 1) == 1) && (scope == '1') &&
        (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0)) {
        ucx_diag("cma: processes of this user may read this one's memory from "
                 "now on; set UCX_CMA_PTRACER=n to forbid it, and to do "
                 "without copies between processes");
    }
    close(fd);
#endif
}

static void iface_open_inbox(cma_iface_t *iface)
{
    const ucx_host_t *host    = iface->host;
    shm_inbox_params_t params = {
        .num_slots    = INBOX_SLOTS,
        .num_cells    = INBOX_CELLS,
        .ring_max     = INBOX_RING,
        .private_size = CMA_JOBS * sizeof(cma_job_t),
        .max_length   = SHM_CELL_ROOM,
        .deliver      = cma_help_deliver,
        .joined       = cma_help_joined,
        .left         = cma_help_left,
        .worker       = iface->super.worker,
        .arg          = iface,
    };

    if (!iface->config.share || !iface->md->has_space) {
        return;
    }
    iface->helpers = calloc(INBOX_SLOTS, sizeof(*iface->helpers));
    if ((iface->helpers == NULL) ||
        (shm_inbox_open(&iface->inbox, &iface->md->space, &params) != UCS_OK)) {
        ucx_debug("cma: out of memory for sharing copies with others");
        return;
    }
    iface->has_inbox = 1;
}

static ucs_status_t iface_make_pool(cma_iface_t *iface)
{
    ucx_mpool_params_t params = {
        .size      = sizeof(params),
        .name      = "cma_op",
        .elem_size = sizeof(cma_op_t) + CMA_MAX_IOV * sizeof(struct iovec),
        .alignment = SHM_CACHE_LINE,
        .elems_per_chunk = 4,
        .max_elems       = UINT32_MAX,
    };

    return iface->host->mpool_create(&params, &iface->op_pool);
}

/* Releases what iface_setup() has created, even if it has failed halfway, and
 * frees the interface. */
static void iface_cleanup(cma_iface_t *iface)
{
    if (iface->has_inbox) {
        shm_inbox_close(&iface->inbox);
    }
    free(iface->helpers);
    if (iface->op_pool != NULL) {
        iface->host->mpool_destroy(iface->op_pool);
    }
    if (iface->event_fd >= 0) {
        close(iface->event_fd);
    }
    free(iface);
}

static ucs_status_t iface_setup(cma_iface_t *iface)
{
    const ucx_host_t *host   = iface->host;
    shm_cma_config_t *config = &iface->config;
    double measured;

    if ((config->max_iov < 1) || (config->max_iov > CMA_MAX_IOV) ||
        (config->chunk < 4096)) {
        ucx_error("cma: UCX_CMA_MAX_IOV must be from 1 to %d, UCX_CMA_CHUNK "
                  "4k or more",
                  CMA_MAX_IOV);
        return UCS_ERR_INVALID_PARAM;
    }
    /* The descriptor never becomes readable: a peer's request for help need not
     * wake this process, and while this process has operations of its own,
     * arming returns UCS_ERR_BUSY */
    iface->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (iface->event_fd < 0) {
        ucx_error("cma: no descriptor is left; raise the limit (ulimit -n)");
        return UCS_ERR_IO_ERROR;
    }
    if (config->overhead < 0) {
        measured         = shm_speed_call();
        config->overhead = (measured > 0) ? shm_speed_rounded(measured) :
                                            CALL_ASSUMED;
    }
    iface_allow_readers(iface);
    iface_open_inbox(iface);
    return iface_make_pool(iface);
}

static ucs_status_t cma_iface_open(uct_md_h md,
                                   const ucx_iface_open_args_t *args,
                                   uct_iface_h *iface_p)
{
    cma_iface_t *iface;
    ucs_status_t status;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->md               = (cma_md_t *)md;
    iface->host             = iface->md->host;
    iface->config           = *(const shm_cma_config_t *)args->config;
    iface->config.keepalive = ucx_iface_keepalive(args, iface->config.keepalive,
                                                  SHM_KEEPALIVE_DEFAULT);
    iface->pid              = getpid();
    iface->event_fd         = -1;
    iface->done_tail        = &iface->done;
    status                  = iface_setup(iface);
    if (status != UCS_OK) {
        iface_cleanup(iface);
        return status;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

/* Waits, at most CLOSE_PATIENCE seconds, for operations that a helper still
 * copies: their memory may be freed after this call, and a helper must not
 * write to it then. Operations that are not complete after that time end
 * without a completion. */
static void cma_iface_close(uct_iface_h uct_iface)
{
    cma_iface_t *iface = cma_iface(uct_iface);
    double end         = iface->host->time() + CLOSE_PATIENCE;
    cma_peer_t *peer;
    cma_op_t *op;

    for (peer = iface->busy; peer != NULL; peer = peer->next_busy) {
        cma_ops_cancel(peer, NULL, UCS_ERR_CANCELED);
    }
    while ((iface->busy != NULL) && (iface->host->time() < end)) {
        if (cma_ops_progress(iface) == 0) {
            sched_yield();
        }
    }
    cma_ops_dispatch(iface);

    while ((peer = iface->peers) != NULL) {
        while ((op = peer->head) != NULL) {
            peer->head = op->next;
            ucx_mpool_put(iface->op_pool, op);
        }
        cma_peer_free(peer);
    }
    iface_cleanup(iface);
}

/* --- Attributes ---------------------------------------------------------- */

static ucs_status_t cma_iface_query(uct_iface_h uct_iface,
                                    ucx_iface_attr_t *attr)
{
    cma_iface_t *iface             = cma_iface(uct_iface);
    const shm_cma_config_t *config = &iface->config;
    uct_iface_attr_t *base         = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF |
                      UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;

    base->cap.put.max_zcopy       = SSIZE_MAX;
    base->cap.put.opt_zcopy_align = 1;
    base->cap.put.align_mtu       = 1;
    base->cap.put.max_iov         = config->max_iov;
    base->cap.get.max_zcopy       = SSIZE_MAX;
    base->cap.get.opt_zcopy_align = 1;
    base->cap.get.align_mtu       = 1;
    base->cap.get.max_iov         = config->max_iov;

    base->device_addr_len = sizeof(cma_wire_device_t);
    base->iface_addr_len  = cma_iface_address_length(iface);
    base->max_num_eps     = SIZE_MAX;
    base->dev_num_paths   = 1;

    base->overhead            = config->overhead;
    base->latency             = ucs_linear_func_make(config->latency, 0);
    base->bandwidth.dedicated = 0;
    base->bandwidth.shared    = (config->bw > 0)   ? config->bw :
                                (iface->has_inbox) ? BW_SHARED :
                                                     BW_ALONE;

    attr->flags            = UCX_IFACE_FLAG_TESTED_REACHABILITY;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

/* Returns the bandwidth of copies from and to this peer in bytes per second; 0:
 * it cannot be measured. */
static double measured_bandwidth(const cma_iface_t *iface,
                                 const cma_peer_t *peer)
{
    return shm_speed()->kernel *
           ((iface->config.share && (peer->help != CMA_HELP_NEVER)) ?
                SHARED_GAIN :
                1);
}

/* Estimates no overhead of the peer's process, because it helps only while it
 * is idle. */
static ucs_status_t cma_iface_estimate(uct_iface_h uct_iface, ucx_perf_t *perf)
{
    cma_iface_t *iface = cma_iface(uct_iface);
    double bandwidth;

    perf->send_pre_overhead  = iface->config.overhead;
    perf->send_post_overhead = 0;
    perf->recv_overhead      = 0;
    if ((perf->ep != NULL) && (iface->config.bw <= 0)) {
        bandwidth = measured_bandwidth(iface, cma_ep(perf->ep)->peer);
        if (bandwidth > 0) {
            perf->bandwidth.shared = bandwidth;
        }
    }
    return UCS_OK;
}

/* --- Progress ------------------------------------------------------------ */

static void iface_sweep(cma_iface_t *iface)
{
    double now = iface->host->time();

    if (now >= iface->sweep_at) {
        iface->sweep_at = now + iface->config.keepalive;
        shm_inbox_review(&iface->inbox);
        if (shm_inbox_has_dead(&iface->inbox)) {
            shm_inbox_sweep(&iface->inbox);
        }
    }
}

/* Progresses this interface's own operations first. Helps other processes only
 * if its own operations caused no event. */
static unsigned cma_iface_progress(uct_iface_h uct_iface)
{
    cma_iface_t *iface = cma_iface(uct_iface);
    unsigned count     = 0;
    unsigned copied    = 0;

    iface->inside = 0;
    if (shm_likely(iface->has_inbox)) {
        count = shm_inbox_progress(&iface->inbox, cma_help_deliver);
        if (shm_unlikely((++iface->round % ROUNDS) == 0)) {
            iface_sweep(iface);
        }
    }
    if (shm_unlikely(iface->busy != NULL)) {
        copied = cma_ops_progress(iface);
    }
    if (shm_unlikely(iface->helping != NULL) && (copied == 0)) {
        copied = cma_help(iface);
    }
    if (shm_unlikely(iface->done != NULL)) {
        count += cma_ops_dispatch(iface);
    }
    if (shm_unlikely(iface->failed != NULL)) {
        count += cma_report_failed(iface);
    }
    return count + copied;
}

static ucs_status_t cma_iface_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = cma_iface(iface)->event_fd;
    return UCS_OK;
}

/* Returns UCS_ERR_BUSY while there is work that needs progress. New requests
 * for help do not wake this process: the initiators copy alone while it
 * sleeps. */
static ucs_status_t cma_iface_event_arm(uct_iface_h uct_iface, unsigned events)
{
    cma_iface_t *iface = cma_iface(uct_iface);

    return ((iface->busy != NULL) || (iface->done != NULL) ||
            (iface->failed != NULL) || (iface->helping != NULL)) ?
               UCS_ERR_BUSY :
               UCS_OK;
}

/* ------------------------------------------------------------------------- */

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = cma_iface_close,
    .query              = cma_iface_query,
    .estimate           = cma_iface_estimate,
    .get_device_address = cma_iface_get_device_address,
    .get_address        = cma_iface_get_address,
    .is_reachable       = cma_iface_is_reachable,
    .ep_create          = cma_ep_create,
    .progress           = cma_iface_progress,
    .flush              = cma_iface_flush,
    .fence              = cma_iface_fence,
    .event_fd_get       = cma_iface_event_fd_get,
    .event_arm          = cma_iface_event_arm,
};

const ucx_transport_t shm_cma_transport = {
    .size          = sizeof(shm_cma_transport),
    .name          = CMA_NAME,
    .config        = &shm_cma_config_table,
    .query_devices = cma_md_query_devices,
    .iface_open    = cma_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &cma_ep_ops,
};
