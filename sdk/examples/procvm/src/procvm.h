/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the procvm plugin, which transfers data
 * between processes of one host: messages over sockets; put and get by
 * process_vm_readv() and process_vm_writev(). */
#ifndef PROCVM_H
#define PROCVM_H

#include <sys/types.h>
#include <ucx/am.h>
#include <ucx/count.h>
#include <ucx/pending.h>
#include <ucx/simple.h>

#define PROCVM_NAME "procvm"

enum {
    PROCVM_MAX_MESSAGE = 8192,
    PROCVM_MAX_IOV     = 8,
    PROCVM_NAME_LENGTH = 5, /* Length of an abstract socket name that the kernel
                             * selects */
};

/* Identity of a process, which is its device address. All processes run on one
 * host, so the numbers have native byte order. */
typedef struct procvm_process {
    uint64_t nonce;   /* Random number of the process, to recognize it although
                       * process ids are reused */
    uint64_t address; /* Address of the nonce in the process */
    uint64_t network; /* Inode number of the network namespace; a socket name is
                       * valid only within one namespace */
    uint32_t pid;
    uint32_t reserved;
} procvm_process_t;

/* Name of an endpoint's listening socket; it is the endpoint address. */
typedef struct procvm_name {
    char text[8]; /* PROCVM_NAME_LENGTH characters, then zeros */
} procvm_name_t;

/* A packed remote key: the memory of a registration. */
typedef struct procvm_key {
    uint64_t nonce;   /* Random number of the registration */
    uint64_t region;  /* Address of the nonce in the owner's process; the nonce
                      * is there until the registration ends */
    uint64_t address; /* The memory that the key permits to access */
    uint64_t length;
} procvm_key_t;

/* Precedes each message. */
typedef struct procvm_header {
    uint8_t id;
    uint8_t reserved[7];
} procvm_header_t;

typedef struct procvm_message {
    procvm_header_t header;
    char data[PROCVM_MAX_MESSAGE];
} procvm_message_t;

typedef struct procvm_ep procvm_ep_t;

/* A put, a get or a flush. Operations complete in the order in which they
 * began. */
typedef struct procvm_op {
    struct procvm_op *next;
    procvm_ep_t *ep;        /* NULL: the endpoint was destroyed, or the
                             * operation is a flush of the interface */
    uct_completion_t *comp; /* May be NULL */
    ucs_status_t status;    /* Not UCS_OK: nothing more is copied, and the
                             * operation completes with this status */
    int must_end;           /* The operation was cancelled by a flush: `comp` is
                             * called even after the endpoint is destroyed */
    int is_put;
    uct_iov_t iov[PROCVM_MAX_IOV];
    size_t iovcnt;    /* Number of entries of `iov`; 0: a flush */
    size_t index;     /* Index in `iov` of the next byte to copy, */
    unsigned block;   /* number of the block in that entry, */
    size_t offset;    /* and offset in that block */
    uint64_t address; /* Remote address of the next byte */
    procvm_key_t key;
} procvm_op_t;

typedef struct procvm_iface {
    uct_iface_t super; /* First member */
    const ucx_host_t *host;
    int epoll;           /* Contains the sockets of all endpoints; it is also
                          * the event descriptor */
    int in_progress;     /* Number of calls of progress that have not returned;
                          * more than 1 if a callback calls progress */
    unsigned num_failed; /* Number of failures that are not reported yet */
    procvm_ep_t *eps;
    procvm_ep_t *dead; /* Endpoints that were destroyed during progress, and
                        * whose memory is freed at its end */
    procvm_op_t *ops, **ops_tail; /* Operations whose completions progress has
                                   * to call, oldest first */
    procvm_message_t tx, rx;      /* Buffers for one message */
} procvm_iface_t;

struct procvm_ep {
    uct_ep_t super; /* First member */
    procvm_ep_t *next;
    /* Sockets; -1: not open */
    int listener;            /* Accepts the connection of the peer */
    int in;                  /* Connection that receives */
    int out;                 /* Connection that sends */
    procvm_name_t name;      /* Name of `listener` */
    procvm_process_t peer;   /* Valid after connect_to_ep */
    procvm_name_t peer_name; /* Valid after connect_to_ep */
    ucs_status_t status;     /* UCS_OK, or the error with which the endpoint has
                              * failed */
    int is_told;             /* The failure was reported */
    int is_destroyed;
    ucx_pending_queue_t pending;
};

/* md.c */
extern const ucx_component_t procvm_component;
/* Returns the identity of this process. */
procvm_process_t procvm_self(void);
/* Returns whether this process can access the memory of the process with this
 * id, and it is the process whose identity was passed: its nonce is equal. */
int procvm_is_process(const procvm_process_t *process);
/* Returns whether the registration of the key exists in the process. */
int procvm_is_registered(const procvm_process_t *process,
                         const procvm_key_t *key);

/* iface.c */
extern const ucx_transport_t procvm_transport;
int procvm_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

/* ep.c */
extern const ucx_ep_ops_t procvm_ep_ops;
ucs_status_t procvm_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);
/* Marks the endpoint as failed; the next progress reports the failure. */
void procvm_ep_fail(procvm_ep_t *ep, ucs_status_t status);
/* Accepts the peer's connection, if it has arrived. */
void procvm_ep_accept(procvm_ep_t *ep);
/* Returns the state of the sending connection. UCS_OK: a message can be sent.
 * UCS_ERR_NO_RESOURCE: not now. Otherwise the endpoint or the connection has
 * failed. */
ucs_status_t procvm_ep_state(const procvm_ep_t *ep);
/* Makes the epoll set report a writable sending connection if, and only if,
 * requests are pending. */
void procvm_ep_watch(procvm_ep_t *ep);

/* rma.c */
ucs_status_t procvm_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp);
ucs_status_t procvm_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp);
/* Flushes an endpoint, or the interface if `ep` is NULL. */
ucs_status_t procvm_flush(procvm_iface_t *iface, procvm_ep_t *ep,
                          unsigned flags, uct_completion_t *comp);
/* Copies a part of the oldest operation's data, and completes operations that
 * are copied or have failed. Returns the number of parts and completions. */
unsigned procvm_ops_progress(procvm_iface_t *iface);
/* Marks all operations of the endpoint as failed: progress completes them with
 * the status. */
void procvm_ops_fail(procvm_ep_t *ep, ucs_status_t status);
/* Called when the endpoint is destroyed. Progress frees its operations, but
 * calls completions only of those that a flush has cancelled before. */
void procvm_ops_forget(procvm_ep_t *ep);

/* progress.c */
unsigned procvm_progress(uct_iface_h iface);

#endif
