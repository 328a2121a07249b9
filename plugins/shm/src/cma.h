/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between processes (process_vm_readv and process_vm_writev): the
 * domain, the interface, its peers, and operations in flight. Times are in
 * seconds of host->time().
 *
 * Two processes can share a large copy (cma_job.h): the initiator of the put or
 * get, and the helper, which is the process whose memory is accessed. The
 * initiator opens a job: the data, divided into chunks that either side may
 * copy. It describes the job in a message to the helper's inbox (an offer).
 *
 * Only one thread at a time may use an interface and its objects. Completions
 * and failures are passed to the user from cma_iface_progress(); closing calls
 * the remaining completions, except those of copies that a helper does not
 * finish in time (CLOSE_PATIENCE in cma_iface.c).
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
    CMA_JOBS    = 4,  /* Maximum number of jobs that one initiator has open with
                       * one helper */
    CMA_MAX_IOV = 64, /* Maximum number of local entries of an operation, after
                       * contiguous ones are merged */
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
    uint64_t pid_ns;   /* Inode of the PID namespace; 0: unknown */
    shm_space_t space; /* Creates and attaches the segments of inboxes */
    int has_space;     /* Non-zero: `space` is open. 0: no copies are shared */
} cma_md_t;

/* Registered local memory, to which a uct_mem_h points; also an unpacked remote
 * key. */
typedef struct cma_region {
    uint32_t token; /* Lower half of the token in cma_words_t */
    uint64_t address;
    uint64_t length;
} cma_region_t;

/* An unpacked key of all memory of a process, by the lower half of its token. It
 * is odd, and no address of a cma_region_t. */
static inline uct_rkey_t cma_process_rkey(uint32_t token)
{
    return ((uct_rkey_t)token << 1) | 1;
}

static inline int cma_rkey_is_process(uct_rkey_t rkey)
{
    return rkey & 1;
}

/* Whether the peer can help with a copy (cma_help.c). */
typedef enum {
    CMA_HELP_UNTRIED,  /* The peer has an inbox, but no offer was made yet */
    CMA_HELP_POSSIBLE, /* This interface has a slot in the peer's inbox */
    CMA_HELP_NEVER,    /* The peer has no inbox or is this process, sharing is
                        * disabled, or the peer has ended or has failed to
                        * help */
} cma_help_state_t;

/* The last long copy whose direction cma_copies_from_end() has returned. */
typedef struct cma_direction {
    uint64_t remote;
    const void *local;
    size_t length;
    int from_end;
} cma_direction_t;

/* A peer: a memory domain of a process, identified by PID, token and address of
 * its cma_words_t. All endpoints of an interface to the same peer share this
 * structure. */
struct cma_peer {
    cma_peer_t *next;      /* Next in the interface's list `peers` */
    cma_peer_t *next_busy; /* Next in the interface's list `busy` */
    cma_iface_t *iface;
    pid_t pid;
    uint64_t token;
    uint64_t words;      /* Address of the peer's cma_words_t, in the peer's
                          * process */
    double seen;         /* Time at which `token` was last read from the
                          * process */
    ucs_status_t status; /* UCS_OK, or the error if the peer is lost */
    uint8_t is_busy;     /* Non-zero: in the interface's list `busy` */
    unsigned refs;       /* Number of endpoints, including failed
                          * ones */

    cma_ep_t *eps;          /* Endpoints that have not failed */
    cma_op_t *head, **tail; /* Operations in the order of posting */
    uint32_t num_short;     /* Number of short operations in the queue
                             * (cma_op.c) */
    uint32_t epoch;         /* Number of fences that found operations in flight.
                             * An operation waits until all operations of
                             * earlier epochs are complete */
    cma_direction_t direction;

    /* Shared copies, with this peer as helper */
    cma_help_state_t help;
    uint32_t generation; /* Generation of the last job (cma_job.h) */
    uint32_t jobs_used;  /* Bit i: the words of job i are in use, because the
                          * job is open, or because its helper did not finish
                          * it */
    uint32_t unhelped;   /* log2(skip + 1) after the last job: grows by one with
                          * each job of which the peer has claimed no chunk, see
                          * share_end() */
    uint32_t skip;       /* Number of further copies that are not offered;
                          * copies of SHARE_ALWAYS bytes (cma_share.c) or more
                          * are neither skipped nor counted */
    uint32_t burst;      /* Grows by one, up to a limit, with each copy that may
                          * be shared and is posted while short ones are in the
                          * queue; shrinks by one with each other one */
    uint32_t waits;      /* Number of polls of open jobs in which the helper was
                          * still copying; 0 after the end of a job */
    double waits_from;   /* Time at which `waits` reached SHARE_CLOCK
                          * (cma_share.c); 0: not reached */
    double pause_until;  /* No copies are offered before this time, because the
                          * peer has delayed a job */
    double pause;        /* Duration of that pause in seconds */
    uint64_t proof;      /* Copy of the peer's secret. The peer reads it from
                          * our memory, to verify that we could read the peer's
                          * memory */
    shm_outbox_t *outbox;  /* Slot in the peer's inbox; NULL: none */
    size_t address_length; /* 0: the peer has no inbox */
    uint8_t address[];     /* Address of the segment of the peer's inbox */
};

struct cma_ep {
    uct_ep_t super;
    cma_peer_t *peer;
    cma_ep_t *next, **link; /* Node in the peer's list `eps`, or in the
                             * interface's list `failed`; link is NULL: in
                             * neither */
    ucs_status_t status;    /* UCS_OK, or the error if the endpoint failed */
};

typedef enum { CMA_OP_GET, CMA_OP_PUT, CMA_OP_FLUSH } cma_op_kind_t;

/* WAITING -> ALONE -> OVER if the copy is not shared, otherwise WAITING ->
 * SHARED -> OVER; SHARED -> WAITING if the copy exceeds one job. A flush:
 * WAITING -> OVER. */
typedef enum {
    CMA_OP_WAITING, /* Waits for earlier operations, for a free job, or for the
                     * next progress */
    CMA_OP_ALONE,   /* Only this process copies */
    CMA_OP_SHARED,  /* A job is open: see `share` */
    CMA_OP_OVER,    /* Complete, with the result in `status` */
} cma_op_state_t;

struct cma_op {
    cma_op_t *next; /* Next in the peer's queue, or in the interface's list
                     * `done` */
    cma_ep_t *ep;   /* NULL: a flush of the interface, or the endpoint was
                     * destroyed (the copy still continues) */
    uct_completion_t *comp;
    uint8_t kind;
    uint8_t state;
    uint8_t is_ending; /* SHARED: the operation failed or was cancelled. This
                        * process copies no more chunks, and waits only until
                        * the helper has finished its chunks */
    uint8_t job;       /* SHARED: index of the job, below CMA_JOBS */
    uint8_t may_share; /* Non-zero: one local entry, and cma_share_is_good() has
                        * returned non-zero */
    uint8_t from_end;  /* ALONE: this process copies from the end of the data to
                        * its beginning */
    uint32_t epoch;    /* The peer's epoch when the operation was posted */
    ucs_status_t status;
    uint64_t remote; /* Remote address of the first byte */
    size_t length;   /* Total bytes */
    size_t done;     /* SHARED: bytes copied before the job; other states: bytes
                      * copied from the beginning so far */
    size_t end;      /* The bytes from here on are copied (from_end); `length`:
                      * none */

    /* The open job, in the state SHARED */
    cma_share_t share;
    uint8_t job_from_end; /* Chunk 0 is at the end of the data */
    uint32_t num_copied; /* Chunks of the job that this process has copied, from
                          * chunk 0 on */
    size_t job_length, chunk; /* Bytes of the job, and of each of its chunks
                               * except the last */
    double began;             /* host->time() when the job began */
    double ending_at; /* Time at which share_is_abandoned() first found that the
                       * operation waits only for the helper; 0: not yet */

    unsigned iovcnt;    /* Number of entries of `iov` */
    struct iovec iov[]; /* Local memory */
};

struct cma_iface {
    uct_iface_t super;
    const ucx_host_t *host;
    cma_md_t *md;
    shm_cma_config_t config;
    pid_t pid;         /* This process */
    int has_inbox;     /* Non-zero: `inbox` is open, so this process can help */
    int event_fd;      /* Never becomes readable: see cma_iface.c; -1: none */
    shm_inbox_t inbox; /* Receives offers of other processes */
    uint32_t round;    /* Counts calls of progress */
    double sweep_at;   /* Time of the next check for senders that have exited */
    double now;        /* Time when the last put or get was posted, or a few
                        * milliseconds before */
    size_t burst_below; /* Shorter copies of a burst are not shared
                         * (cma_share.c); 0: not computed yet */
    ucx_mpool_t *op_pool;
    size_t inside; /* Bytes that calls of put and get have copied since the last
                    * progress; OP_INSIDE (cma_op.c) if one of them has begun a
                    * longer or a shared copy */

    cma_peer_t *peers;
    cma_peer_t *busy;            /* Peers with operations */
    cma_op_t *done, **done_tail; /* Complete operations, whose completions the
                                  * next progress calls */
    cma_ep_t *failed;            /* Endpoints whose failure is to be
                                  * reported */

    /* This process as helper (cma_help.c) */
    cma_helper_t **helpers; /* State for each initiator, by its slot of the
                             * inbox; NULL: none */
    cma_helper_t *helping;  /* Circular list of the initiators with open jobs */
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

/* Copies `length` bytes between the local vector of at most CMA_MAX_IOV
 * entries, from byte `offset` of it on, and the address `remote` of the
 * process: to the process if `is_put`, otherwise from it.
 * UCS_ERR_CONNECTION_RESET: the process does not exist. */
ucs_status_t cma_copy(pid_t pid, int is_put, const struct iovec *iov,
                      unsigned iovcnt, size_t offset, uint64_t remote,
                      size_t length);
/* Reads two words of the process at `address`. */
ucs_status_t cma_read_words(pid_t pid, uint64_t address, cma_words_t *words);
/* Non-zero if the kernel has the system calls and permits them. */
int cma_copy_is_allowed(void);
/* Copies between two vectors of at most CMA_MAX_IOV entries, of `length` bytes
 * each, in one system call. Returns zero if the kernel has not copied all of
 * them. */
int cma_copy_pieces(pid_t pid, int is_put, const struct iovec *local,
                    unsigned num_local, const struct iovec *remote,
                    unsigned num_remote, size_t length);

/* --- cma_md.c ------------------------------------------------------------ */
ucs_status_t cma_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

/* --- cma_reach.c: addresses and reachability ----------------------------- */
size_t cma_iface_address_length(const cma_iface_t *iface);
ucs_status_t cma_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);
ucs_status_t cma_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);
int cma_iface_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
/* Reads the cma_words_t at the address `words` of a process, verifies `token`,
 * and stores the secret. On failure returns UCS_ERR_UNREACHABLE and, unless
 * `reason` is NULL, writes the reason to it. */
ucs_status_t cma_probe(pid_t pid, uint64_t words, uint64_t token,
                       uint64_t *secret_p, char *reason, size_t reason_size);
/* Checks the bytes of an interface's address, and copies them in host byte
 * order. */
ucs_status_t cma_address_unpack(const void *address, size_t length,
                                cma_wire_iface_t *wire);

/* --- cma_peer.c: processes and endpoints --------------------------------- */
ucs_status_t cma_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
/* Sets iface->now, and returns the error if the peer is lost. If the last check
 * is older than 0.1 s, reads the peer's token by a system call, to verify that
 * its PID still belongs to the same process; returns the error if that
 * fails. */
ucs_status_t cma_peer_look(cma_peer_t *peer);
/* Marks all endpoints of the peer as failed. The next progress reports the
 * failure and cancels the operations. */
void cma_peer_lost(cma_peer_t *peer, ucs_status_t status);
/* Frees the peer if it has no endpoints and no operations. */
void cma_peer_put(cma_peer_t *peer);
void cma_peer_free(cma_peer_t *peer);
unsigned cma_report_failed(cma_iface_t *iface);

/* --- cma_op.c: put, get, flush ------------------------------------------- */
/* Progresses the operations of all busy peers once; returns the number of parts
 * copied and of operations completed. */
unsigned cma_ops_progress(cma_iface_t *iface);
unsigned cma_ops_dispatch(cma_iface_t *iface);
/* Cancels the operations of one endpoint, or all operations of the peer if `ep`
 * is NULL. The next progress calls their completions with `status`. An
 * operation with an open job completes later, when the helper has finished the
 * chunks that it has claimed. Returns whether any operation was cancelled. */
int cma_ops_cancel(cma_peer_t *peer, const cma_ep_t *ep, ucs_status_t status);
void cma_ops_forget(cma_peer_t *peer, const cma_ep_t *ep);
/* Calls `comp` from progress, after the completions of all operations that are
 * in flight to `peer` now or, if `peer` is NULL, are in iface->done. `ep`: see
 * cma_op_t; may be NULL. */
ucs_status_t cma_ops_flush(cma_iface_t *iface, cma_peer_t *peer, cma_ep_t *ep,
                           uct_completion_t *comp);
ucs_status_t cma_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);
ucs_status_t cma_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

/* Returns whether no fence delays the operation, which is in the queue. */
static SHM_INLINE int cma_op_may_begin(const cma_peer_t *peer,
                                       const cma_op_t *op)
{
    return peer->head->epoch == op->epoch;
}

/* --- cma_batch.c --------------------------------------------------------- */
/* Copies the operation `first` of the queue and those behind it in one system
 * call: short ones of the same kind that are not shared, of at most `max` bytes
 * together. They are CMA_OP_OVER then. Returns the number of bytes copied; 0,
 * and all of them still wait, if there are fewer than two such operations, or
 * if one of them fails: the caller then copies them one by one. */
size_t cma_batch_copy(cma_peer_t *peer, cma_op_t *first, size_t max);

/* --- cma_share.c: the initiator's side of shared copies ------------------ */
typedef enum {
    CMA_BEGIN_SHARED, /* A job was opened */
    CMA_BEGIN_ALONE,  /* No job was opened: this process must copy alone */
    CMA_BEGIN_LATER, /* All jobs are in use: the caller must try again after one
                      * has ended */
} cma_begin_t;

/* Returns non-zero if the copy of this many bytes should be offered to the
 * peer. Must be called at most once for each operation, because it counts
 * the offers to skip (peer->skip). */
int cma_share_is_good(cma_peer_t *peer, size_t length);
/* If the copy can be shared now, opens a job for the bytes of `op` that are not
 * copied yet (at most CMA_JOB_MAX_CHUNKS chunks), and claims the first chunks
 * for this process. */
cma_begin_t cma_share_begin(cma_peer_t *peer, cma_op_t *op);
/* True if this process has claimed chunks that it has not copied yet. */
int cma_share_has_own(const cma_op_t *op);
/* Copies one chunk that this process has claimed; if there is none, claims some
 * and copies them. An error is stored in op->status. Returns zero if no chunk
 * is left to claim, or if the helper has written invalid values. */
int cma_share_copy(cma_peer_t *peer, cma_op_t *op);
/* Ends the job, with the result in op->done and op->status. Returns zero if the
 * helper is still copying: the job stays open then. */
int cma_share_finish(cma_peer_t *peer, cma_op_t *op);

/* --- cma_direction.c ----------------------------------------------------- */
/* Returns whether the copy of an operation that this process makes alone begins
 * at the end of the data. Called once for each long operation. */
int cma_copies_from_end(cma_peer_t *peer, const cma_op_t *op);

/* --- cma_help.c: the helper's side --------------------------------------- */
ucs_status_t cma_help_deliver(void *arg, unsigned slot, uint8_t id, void *data,
                              uint32_t length);
void cma_help_joined(void *arg, unsigned slot, void *private_area);
void cma_help_left(void *arg, unsigned slot, void *private_area);
/* Claims at most one chunk of another process's job, and copies it. Returns the
 * number of chunks claimed, 0 or 1. */
unsigned cma_help(cma_iface_t *iface);

/* --- cma_flush.c --------------------------------------------------------- */
ucs_status_t cma_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t cma_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t cma_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);
ucs_status_t cma_iface_fence(uct_iface_h iface, unsigned flags);

extern const ucx_ep_ops_t cma_ep_ops;

#endif
