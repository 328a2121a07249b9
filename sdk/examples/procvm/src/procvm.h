/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this plugin. */
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
    PROCVM_NAME_LENGTH = 5, /* of a socket that the kernel named */
};

/* A process, as its device address. The numbers are of one host: native byte
 * order. */
typedef struct procvm_process {
    uint64_t nonce;   /* random */
    uint64_t address; /* of the nonce in the process */
    uint64_t network; /* namespace: sockets are found in it */
    uint32_t pid;
    uint32_t reserved;
} procvm_process_t;

/* The listening socket of an endpoint, as its address. */
typedef struct procvm_name {
    char text[8]; /* PROCVM_NAME_LENGTH characters, then zeros */
} procvm_name_t;

/* A remote key, packed: a part of a registration. */
typedef struct procvm_key {
    uint64_t nonce;  /* random, of the registration */
    uint64_t region; /* where its process stores the nonce, until it ends */
    uint64_t address;
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

/* A put, a get or a flush. They end in the order in which they began. */
typedef struct procvm_op {
    struct procvm_op *next;
    procvm_ep_t *ep;        /* NULL: destroyed, or of the interface */
    uct_completion_t *comp; /* may be NULL */
    ucs_status_t status;    /* an error: nothing more is copied */
    int must_end;           /* cancelled: `comp` is called even after the
                                * endpoint is destroyed */
    int is_put;
    uct_iov_t iov[PROCVM_MAX_IOV];
    size_t iovcnt;    /* 0: a flush */
    size_t index;     /* of the entry that is copied next, */
    unsigned block;   /* the block in it, */
    size_t offset;    /* and the byte in that */
    uint64_t address; /* remote, of the next byte */
    procvm_key_t key;
} procvm_op_t;

typedef struct procvm_iface {
    uct_iface_t super; /* First */
    const ucx_host_t *host;
    int epoll;
    int in_progress;
    unsigned num_failed; /* failures that are not reported */
    procvm_ep_t *eps;
    procvm_ep_t *dead; /* destroyed during progress */
    procvm_op_t *ops, **ops_tail;
    procvm_message_t tx, rx;
} procvm_iface_t;

struct procvm_ep {
    uct_ep_t super; /* First */
    procvm_ep_t *next;
    int listener;       /* -1: closed, as the others */
    int in;             /* receives */
    int out;            /* sends */
    procvm_name_t name; /* of the listener */
    procvm_process_t peer;
    procvm_name_t peer_name;
    ucs_status_t status;
    int is_told; /* the failure was reported */
    int is_destroyed;
    ucx_pending_queue_t pending;
};

/* md.c */
extern const ucx_component_t procvm_component;
/* This process. */
procvm_process_t procvm_self(void);
/* The process exists, can be accessed, and is the one that sent its address. */
int procvm_is_process(const procvm_process_t *process);
/* The registration of the key exists in the process. */
int procvm_is_registered(const procvm_process_t *process,
                         const procvm_key_t *key);

/* iface.c */
extern const ucx_transport_t procvm_transport;
int procvm_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

/* ep.c */
extern const ucx_ep_ops_t procvm_ep_ops;
ucs_status_t procvm_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);
/* The next progress reports the failure. */
void procvm_ep_fail(procvm_ep_t *ep, ucs_status_t status);
/* Accepts the peer's connection, if it is there. */
void procvm_ep_accept(procvm_ep_t *ep);
/* State of the sending connection: UCS_OK: a message can be sent. */
ucs_status_t procvm_ep_state(const procvm_ep_t *ep);
/* Waits for that as long as requests are pending. */
void procvm_ep_watch(procvm_ep_t *ep);

/* rma.c */
ucs_status_t procvm_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp);
ucs_status_t procvm_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp);
/* `ep` NULL: of the interface. */
ucs_status_t procvm_flush(procvm_iface_t *iface, procvm_ep_t *ep,
                          unsigned flags, uct_completion_t *comp);
/* Copies a part, and ends what is complete; returns the number of these. */
unsigned procvm_ops_progress(procvm_iface_t *iface);
/* All operations of the endpoint end with the status. */
void procvm_ops_fail(procvm_ep_t *ep, ucs_status_t status);
/* The endpoint is destroyed. Only cancelled operations call their completions. */
void procvm_ops_forget(procvm_ep_t *ep);

/* progress.c */
unsigned procvm_progress(uct_iface_h iface);

#endif
