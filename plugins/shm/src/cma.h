/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between processes (process_vm_readv and process_vm_writev): the
 * domain, the interface, its peers, and operations in flight. For the copies
 * that two processes share see cma_job.h. Times are in seconds of host->time().
 *
 * One thread at a time for an interface and its objects. All callbacks to the
 * user run from cma_iface_progress().
 */
#ifndef SHM_CMA_H
#define SHM_CMA_H

#include "cma_job.h"
#include "cma_wire.h"
#include "config.h"
#include "inbox.h"
#include "outbox.h"
#include "segment.h"

#include <sys/uio.h>

#define CMA_NAME "cma"

enum {
    CMA_JOBS    = 4, /* Maximum number of concurrent shared copies between two
                      * processes */
    CMA_MAX_IOV = 64,
};

typedef struct cma_iface cma_iface_t;
typedef struct cma_peer cma_peer_t;
typedef struct cma_ep cma_ep_t;
typedef struct cma_op cma_op_t;
typedef struct cma_helper cma_helper_t;

/* Two words that other processes read to verify that they have permission and
 * that this is the right process. The token is part of the interfaces'
 * addresses; a process that has the secret has read this memory. */
typedef struct cma_words {
    uint64_t token;
    uint64_t secret;
} cma_words_t;

typedef struct cma_md {
    uct_md_t super;
    const ucx_host_t *host;
    cma_words_t words;
    uint64_t pid_ns;
    shm_space_t space; /* Space for the segments of inboxes */
    int has_space;
} cma_md_t;

/* Registered local memory, to which a uct_mem_h points; also an unpacked remote
 * key. */
typedef struct cma_region {
    uint32_t token; /* Lower half of the token in cma_words_t */
    uint64_t address;
    uint64_t length;
} cma_region_t;

/* Whether the peer can help with a copy (cma_help.c). */
typedef enum {
    CMA_HELP_UNTRIED, /* The peer has an inbox; not tried yet */
    CMA_HELP_POSSIBLE,
    CMA_HELP_NEVER, /* The peer has no inbox, or using it failed */
} cma_help_state_t;

/* The process of a peer, identified by one of its interfaces. All endpoints of
 * an interface to the same peer share this structure. */
struct cma_peer {
    cma_peer_t *next; /* Node in the interface's list */
    cma_peer_t *next_busy;
    cma_iface_t *iface;
    pid_t pid;
    uint64_t token;
    uint64_t words;      /* Address of the peer's cma_words_t, in the peer's
                          * process */
    double seen;         /* Time of the last identity check */
    ucs_status_t status; /* UCS_OK, or the error if the peer is lost */
    uint8_t is_busy;     /* In the interface's list of busy peers */
    unsigned refs;       /* Number of endpoints, including failed
                          * ones */

    cma_ep_t *eps;          /* Endpoints that have not failed */
    cma_op_t *head, **tail; /* Operations in the order of posting */
    uint32_t epoch;         /* Incremented by fences */

    /* Shared copies */
    cma_help_state_t help;
    uint32_t generation; /* Generation of the last job */
    uint32_t jobs_used;  /* Bit mask of the jobs in use */
    uint32_t unhelped;   /* log2(skip + 1): grows with each job that the peer
                          * did not help with, see share_end() */
    uint32_t skip;       /* Number of offers to skip */
    uint32_t waits;      /* Number of polls in which the helper was still
                          * copying */
    double waits_from;   /* Start of a long wait; 0: none */
    double pause_until;  /* No offers before this time: the last
                          * helper was slow */
    double pause;        /* Duration of that pause */
    uint64_t proof;      /* The peer's secret */
    shm_outbox_t *outbox;
    size_t address_length;
    uint8_t address[]; /* Address of the segment of the peer's inbox */
};

struct cma_ep {
    uct_ep_t super;
    cma_peer_t *peer;
    cma_ep_t *next, **link; /* Node in the peer's list `eps`, or in the
                             * interface's list `failed` */
    ucs_status_t status;
};

typedef enum { CMA_OP_GET, CMA_OP_PUT, CMA_OP_FLUSH } cma_op_kind_t;

/* WAITING -> ALONE -> OVER, or WAITING -> SHARED -> OVER; SHARED -> WAITING if
 * the copy exceeds one job, or if the peer does not help. */
typedef enum {
    CMA_OP_WAITING,
    CMA_OP_ALONE,  /* Only this process copies */
    CMA_OP_SHARED, /* A job is open: see `share` */
    CMA_OP_OVER,
} cma_op_state_t;

struct cma_op {
    cma_op_t *next;
    cma_ep_t *ep; /* NULL: the endpoint was destroyed; the copy still
                   * continues */
    uct_completion_t *comp;
    uint8_t kind;
    uint8_t state;
    uint8_t is_ending; /* SHARED: the initiator claims no more chunks */
    uint8_t job;       /* SHARED: index of the job's words */
    uint8_t may_share;
    uint32_t epoch;
    ucs_status_t status;
    uint64_t remote; /* Remote address of the first byte */
    size_t length;
    size_t done; /* SHARED: bytes copied before the job; other states: bytes
                  * copied so far */

    cma_share_t share;
    uint32_t num_copied; /* Chunks of the job that this process has copied, from
                          * the front */
    size_t job_length, chunk;
    double began;     /* The interface's `now` when the job began */
    double ending_at; /* Start of the wait for the helper; 0: not waiting */

    unsigned iovcnt;
    struct iovec iov[];
};

struct cma_iface {
    uct_iface_t super;
    const ucx_host_t *host;
    cma_md_t *md;
    shm_cma_config_t config;
    pid_t pid;
    int has_inbox;
    int event_fd;
    shm_inbox_t inbox;
    uint32_t round;
    double sweep_at;
    double now; /* Time when the last operation was posted */
    ucx_mpool_t *op_pool;

    cma_peer_t *peers;
    cma_peer_t *busy; /* Peers with operations */
    cma_op_t *done, **done_tail;
    cma_ep_t *failed; /* Endpoints whose failure is to be
                       * reported */

    cma_helper_t **helpers; /* Helpers by slot of the inbox */
    cma_helper_t *helping;  /* Helpers with open jobs; a circular list */
};

static inline cma_iface_t *cma_iface(uct_iface_h iface)
{
    return (cma_iface_t *)iface;
}

static inline cma_ep_t *cma_ep(uct_ep_h ep)
{
    return (cma_ep_t *)ep;
}

/* --- cma_copy.c: the system calls ---------------------------------------- */

/* Copies between `length` local bytes, from `offset` of the vector on, and the
 * same number at `remote` of the process. UCS_ERR_CONNECTION_RESET: the process
 * does not exist. */
ucs_status_t cma_copy(pid_t pid, int is_put, const struct iovec *iov,
                      unsigned iovcnt, size_t offset, uint64_t remote,
                      size_t length);
/* Reads two words of the process at `address`. */
ucs_status_t cma_read_words(pid_t pid, uint64_t address, cma_words_t *words);
/* Non-zero if the kernel has the system calls and permits them. */
int cma_copy_is_allowed(void);

/* --- cma_md.c ------------------------------------------------------------ */
ucs_status_t cma_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

/* --- cma_reach.c: addresses and reachability ----------------------------- */
size_t cma_iface_address_length(const cma_iface_t *iface);
ucs_status_t cma_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);
ucs_status_t cma_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);
int cma_iface_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
/* Reads and verifies the words of the process. On failure returns
 * UCS_ERR_UNREACHABLE and, unless `reason` is NULL, writes the reason to it. */
ucs_status_t cma_probe(pid_t pid, uint64_t words, uint64_t token,
                       uint64_t *secret_p, char *reason, size_t reason_size);
/* Checks the bytes of an interface's address, and copies them. */
ucs_status_t cma_address_unpack(const void *address, size_t length,
                                cma_wire_iface_t *wire);

/* --- cma_peer.c: processes and endpoints --------------------------------- */
ucs_status_t cma_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
/* Returns the error if the peer is lost. Verifies by a system call that it is
 * still the same process, if the last check is older than 0.1 s. */
ucs_status_t cma_peer_look(cma_peer_t *peer);
/* Fails all endpoints of the peer, from progress. */
void cma_peer_lost(cma_peer_t *peer, ucs_status_t status);
/* Frees the peer if it is unused. */
void cma_peer_put(cma_peer_t *peer);
void cma_peer_free(cma_peer_t *peer);
unsigned cma_report_failed(cma_iface_t *iface);

/* --- cma_op.c: put, get, flush ------------------------------------------- */
/* Progresses the operations of all busy peers once; returns the number of
 * events. */
unsigned cma_ops_progress(cma_iface_t *iface);
unsigned cma_ops_dispatch(cma_iface_t *iface);
/* Cancels the operations of one endpoint, or all operations of the peer if
 * `ep` is NULL: the next progress completes them with `status`, except those of
 * which the helper is copying chunks: these complete when it has finished.
 * Returns whether there were any. */
int cma_ops_cancel(cma_peer_t *peer, const cma_ep_t *ep, ucs_status_t status);
void cma_ops_forget(cma_peer_t *peer, const cma_ep_t *ep);
/* Calls `comp` when the operations that are in flight to the peer now are
 * complete and reported. */
ucs_status_t cma_ops_flush(cma_iface_t *iface, cma_peer_t *peer, cma_ep_t *ep,
                           uct_completion_t *comp);
ucs_status_t cma_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);
ucs_status_t cma_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

/* --- cma_share.c: the initiator's side of shared copies ------------------ */
typedef enum {
    CMA_BEGIN_SHARED,
    CMA_BEGIN_ALONE, /* The peer does not help: copy alone */
    CMA_BEGIN_LATER, /* All jobs are in use: try again after one has ended */
} cma_begin_t;

/* Returns non-zero if an offer saves time for this many bytes. Call it once for
 * each operation, because it counts skipped offers. */
int cma_share_is_good(cma_peer_t *peer, size_t length);
/* Opens a job for the bytes of `op` that are not copied yet, and claims the
 * first part for this process. */
cma_begin_t cma_share_begin(cma_peer_t *peer, cma_op_t *op);
/* True if this process has claimed chunks that it has not copied yet. */
int cma_share_has_own(const cma_op_t *op);
/* Copies claimed chunks, else claims and copies one, or records an error.
 * Returns zero if nothing is left to claim. */
int cma_share_copy(cma_peer_t *peer, cma_op_t *op);
/* Ends the job if possible; op->done and op->status are the result. Returns
 * zero if the helper is still copying. */
int cma_share_finish(cma_peer_t *peer, cma_op_t *op);

/* --- cma_help.c: the helper's side --------------------------------------- */
ucs_status_t cma_help_deliver(void *arg, unsigned slot, uint8_t id, void *data,
                              uint32_t length);
void cma_help_joined(void *arg, unsigned slot, void *private_area);
void cma_help_left(void *arg, unsigned slot, void *private_area);
/* Copies at most one chunk for another process; returns the number of chunks,
 * 0 or 1. */
unsigned cma_help(cma_iface_t *iface);

/* --- cma_flush.c --------------------------------------------------------- */
ucs_status_t cma_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t cma_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t cma_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);
ucs_status_t cma_iface_fence(uct_iface_h iface, unsigned flags);

extern const ucx_ep_ops_t cma_ep_ops;

#endif
