/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between processes (process_vm_readv and process_vm_writev): the
 * domain, the interface, its peers, and the operations on their way.
 *
 * One thread at a time for an interface and all that hangs on it. Whatever
 * calls the user back runs from cma_iface_progress().
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
    CMA_JOBS    = 4,     /* Shared copies of a pair at one time */
    CMA_MAX_IOV = 64
};

typedef struct cma_iface  cma_iface_t;
typedef struct cma_peer   cma_peer_t;
typedef struct cma_ep     cma_ep_t;
typedef struct cma_op     cma_op_t;
typedef struct cma_helper cma_helper_t;

/* The two words that others read to find out that they may, and that it is us.
 * The token stands in our address; the secret is known to those who have read
 * it here. */
typedef struct cma_words {
    uint64_t token;
    uint64_t secret;
} cma_words_t;

typedef struct cma_md {
    uct_md_t         super;
    const ucx_host_t *host;
    cma_words_t      words;
    uint64_t         pid_ns;
    shm_space_t      space;      /* For inboxes */
    int              has_space;
} cma_md_t;

/* Memory of ours: what a uct_mem_h points to; and an unpacked key of others. */
typedef struct cma_region {
    uint32_t token;      /* The lower half of cma_words_t's */
    uint64_t address;
    uint64_t length;
} cma_region_t;

/* Whether the helper of a peer is worth asking. */
typedef enum {
    CMA_HELP_UNTRIED,   /* There is an inbox; nobody has looked at it yet */
    CMA_HELP_POSSIBLE,
    CMA_HELP_NEVER      /* No inbox, or trouble with it */
} cma_help_state_t;

/* A process, by an interface of it. All our endpoints to it share one. */
struct cma_peer {
    cma_peer_t       *next;           /* All of the interface */
    cma_peer_t       *next_busy;
    cma_iface_t      *iface;
    pid_t            pid;
    uint64_t         token;
    uint64_t         words;           /* Address in its process */
    double           seen;            /* When it was known to be itself */
    ucs_status_t     status;          /* Of a lost one */
    uint8_t          is_busy;         /* In the interface's list */
    unsigned         refs;            /* Endpoints, failed ones too */

    cma_ep_t         *eps;            /* Those that have not failed */
    cma_op_t         *head, **tail;   /* Operations in order */
    uint32_t         epoch;           /* Grows with fences */

    /* Sharing */
    cma_help_state_t help;
    uint32_t         generation;      /* Of the last job */
    uint32_t         jobs_used;       /* Bits */
    uint32_t         unhelped;        /* Offers in a row that nobody took */
    uint32_t         skip;            /* Do not offer so many times */
    uint32_t         waits;           /* Looks at a helper that is copying */
    double           waits_from;      /* Since then, if it takes long; or 0 */
    double           pause_until;     /* It keeps us waiting: no offers */
    double           pause;           /* How long that was */
    uint64_t         proof;           /* Its secret */
    shm_outbox_t     *outbox;
    size_t           address_length;
    uint8_t          address[];       /* Of its inbox's segment */
};

struct cma_ep {
    uct_ep_t     super;
    cma_peer_t   *peer;
    cma_ep_t     *next, **link;   /* Among the peer's, or the failed */
    ucs_status_t status;
};

typedef enum { CMA_OP_GET, CMA_OP_PUT, CMA_OP_FLUSH } cma_op_kind_t;

/* WAITING -> ALONE -> OVER, or WAITING -> SHARED -> OVER; back from SHARED to
 * WAITING if there is more than fits one job, or if nobody wants to help. */
typedef enum {
    CMA_OP_WAITING,
    CMA_OP_ALONE,      /* Only we copy */
    CMA_OP_SHARED,     /* A job is open: see `share` */
    CMA_OP_OVER
} cma_op_state_t;

struct cma_op {
    cma_op_t         *next;
    cma_ep_t         *ep;         /* NULL: destroyed meanwhile */
    uct_completion_t *comp;
    uint8_t          kind;
    uint8_t          state;
    uint8_t          is_ending;   /* SHARED: take nothing more */
    uint8_t          job;         /* SHARED: index of its words */
    uint8_t          may_share;
    uint32_t         epoch;
    ucs_status_t     status;
    uint64_t         remote;      /* Of the first byte */
    size_t           length;
    size_t           done;        /* Bytes before the job, or in all */

    cma_share_t      share;
    size_t           job_length, chunk;
    double           ending_at;   /* Waiting for the helper since; 0: not yet */

    unsigned         iovcnt;
    struct iovec     iov[];
};

struct cma_iface {
    uct_iface_t      super;
    const ucx_host_t *host;
    cma_md_t         *md;
    shm_cma_config_t config;
    pid_t            pid;
    int              has_inbox;
    int              event_fd;
    shm_inbox_t      inbox;
    uint32_t         round;
    double           sweep_at;
    double           now;         /* When the last operation began */
    ucx_mpool_t      *op_pool;

    cma_peer_t       *peers;
    cma_peer_t       *busy;       /* Those with operations */
    cma_op_t         *done, **done_tail;
    cma_ep_t         *failed;     /* To be told of */

    cma_helper_t     **helpers;   /* By slot of the inbox */
    cma_helper_t     *helping;    /* Those with open jobs, in a circle */
};

static inline cma_iface_t *cma_iface(uct_iface_h iface)
{
    return (cma_iface_t*)iface;
}

static inline cma_ep_t *cma_ep(uct_ep_h ep)
{
    return (cma_ep_t*)ep;
}

/* --- cma_copy.c: the system calls ---------------------------------------- */

/* Copies between `length` bytes of ours from `offset` of the vector on, and the
 * same number at `remote` of the process. UCS_ERR_CONNECTION_RESET: there is no
 * such process. */
ucs_status_t cma_copy(pid_t pid, int is_put, const struct iovec *iov,
                      unsigned iovcnt, size_t offset, uint64_t remote,
                      size_t length);
/* Reads two words of the process at `address`. */
ucs_status_t cma_read_words(pid_t pid, uint64_t address, cma_words_t *words);
/* Non-zero if the system has the calls and lets us use them. */
int cma_copy_is_allowed(void);

/* --- cma_md.c ------------------------------------------------------------ */
ucs_status_t cma_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

/* --- cma_reach.c: addresses and the question whether they lead somewhere -- */
size_t cma_iface_address_length(const cma_iface_t *iface);
ucs_status_t cma_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);
ucs_status_t cma_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr);
int cma_iface_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
/* Asks the process for its words; UNREACHABLE with a reason, if wanted. */
ucs_status_t cma_probe(pid_t pid, uint64_t words, uint64_t token,
                       uint64_t *secret_p, char *reason, size_t reason_size);
/* Checks the bytes of an interface's address, and copies them. */
ucs_status_t cma_address_unpack(const void *address, size_t length,
                                cma_wire_iface_t *wire);

/* --- cma_peer.c: processes and endpoints --------------------------------- */
ucs_status_t cma_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
/* The peer is still the process that it was; asked at most every so often. */
ucs_status_t cma_peer_look(cma_peer_t *peer);
/* All its endpoints fail, from progress. */
void cma_peer_lost(cma_peer_t *peer, ucs_status_t status);
/* Frees it if nobody needs it any more. */
void cma_peer_put(cma_peer_t *peer);
void cma_peer_free(cma_peer_t *peer);
unsigned cma_report_failed(cma_iface_t *iface);

/* --- cma_op.c: put, get, flush ------------------------------------------- */
/* One round for all busy peers; returns the number of events. */
unsigned cma_ops_progress(cma_iface_t *iface);
unsigned cma_ops_dispatch(cma_iface_t *iface);
/* Of one endpoint, or of all (NULL). Returns whether there was something. */
int cma_ops_cancel(cma_peer_t *peer, const cma_ep_t *ep, ucs_status_t status);
void cma_ops_forget(cma_peer_t *peer, const cma_ep_t *ep);
/* Calls `comp` when what is on its way to the peer now is over and told of. */
ucs_status_t cma_ops_flush(cma_iface_t *iface, cma_peer_t *peer,
                           cma_ep_t *ep, uct_completion_t *comp);
ucs_status_t cma_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);
ucs_status_t cma_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

/* --- cma_share.c: the initiator's side of shared copies ------------------ */
typedef enum {
    CMA_BEGIN_SHARED,
    CMA_BEGIN_ALONE,   /* Nobody would help */
    CMA_BEGIN_LATER    /* When another job has ended */
} cma_begin_t;

/* Non-zero if so many bytes in one piece are worth an offer. Asked once for
 * each operation: those that are left out are counted. */
int cma_share_is_good(cma_peer_t *peer, size_t length);
/* Opens a job for the bytes of `op` that are not done; with `is_first` the
 * first part is taken by us, and copied. */
cma_begin_t cma_share_begin(cma_peer_t *peer, cma_op_t *op, int is_first);
/* Takes and copies some, or notes an error. Zero: nothing is left to take. */
int cma_share_copy(cma_peer_t *peer, cma_op_t *op);
/* Ends the job if it can be; op->done and op->status tell what became of it.
 * Zero: the helper is still at work. */
int cma_share_finish(cma_peer_t *peer, cma_op_t *op);

/* --- cma_help.c: the helper's side --------------------------------------- */
ucs_status_t cma_help_deliver(void *arg, unsigned slot, uint8_t id, void *data,
                              uint32_t length);
void cma_help_joined(void *arg, unsigned slot, void *private_area);
void cma_help_left(void *arg, unsigned slot, void *private_area);
/* Copies one chunk for somebody; returns how many. */
unsigned cma_help(cma_iface_t *iface);

/* --- cma_flush.c --------------------------------------------------------- */
ucs_status_t cma_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t cma_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t cma_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);
ucs_status_t cma_iface_fence(uct_iface_h iface, unsigned flags);

extern const ucx_ep_ops_t cma_ep_ops;

#endif
