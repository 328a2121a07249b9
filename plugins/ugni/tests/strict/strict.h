/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `strict`: a provider of libfabric for tests. It passes operations on to
 * another provider, "the provider below", but can require any combination of
 * modes of registration, which the provider below does not require. It ends the
 * process if a rule of such a mode is broken. If variables are set, it also has
 * small limits, fails operations and reports completions out of order.
 */
#ifndef STRICT_H
#define STRICT_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/providers/fi_prov.h>

#include <pthread.h>
#include <stddef.h>

#define STRICT_NAME "strict"

enum {
    STRICT_RAW_KEY   = 24, /* Bytes of a raw key */
    STRICT_MAX_PEERS = 1024,
    STRICT_HELD      = 64, /* Maximum number of completions that wait to be
                            * reported */
};

/* Options from the environment; see the README. */
typedef struct strict_options {
    const char *over;   /* Name of the provider below */
    uint64_t modes;     /* FI_MR_* that are required */
    unsigned addresses; /* Maximum number of addresses in an address vector */
    unsigned depth;     /* Maximum number of outstanding sends, reads and writes
                         * of a completion queue; beyond it: -FI_EAGAIN */
    unsigned fail;      /* The n-th completion of a send, read or write of each
                         * completion queue, from 1, is an error; 0: none */
    unsigned lose;      /* The n-th message of each endpoint, from 1, arrives
                         * empty; 0: none */
    unsigned receives;  /* Maximum number of calls of fi_recv() that an endpoint
                         * accepts in all; then: -FI_ENOMEM */
    size_t message;     /* Maximum bytes of a message; beyond it:
                         * -FI_EMSGSIZE */
    int shuffle;        /* Report completions in random order */
    int hmem; /* FI_HMEM_ROCR memory can be registered, if the processor can
               * access it */
} strict_options_t;

extern strict_options_t strict_options;

typedef struct strict_fabric {
    struct fid_fabric fid;
    struct fid_fabric *real;
} strict_fabric_t;

struct strict_ep;

typedef struct strict_mr {
    struct fid_mr fid; /* Its address is used as the descriptor */
    struct strict_mr *next;
    struct strict_domain *domain;
    struct fid_mr *real; /* NULL: for local access, or not enabled */
    char *base;
    size_t length;
    uint64_t access, key;
    enum fi_hmem_iface iface;
    struct strict_ep *ep;
    int is_enabled;
} strict_mr_t;

/* A raw key that was mapped */
typedef struct strict_mapping {
    struct strict_mapping *next;
    uint64_t mapped, key;
} strict_mapping_t;

typedef struct strict_domain {
    struct fid_domain fid;
    struct fid_domain *real;
    struct fi_info *info; /* Information of the provider below */
    pthread_mutex_t lock; /* Protects the lists */
    strict_mr_t *mrs;
    strict_mapping_t *mappings;
    uint64_t next_mapped;
} strict_domain_t;

typedef struct strict_av {
    struct fid_av fid;
    struct fid_av *real;
    unsigned count;
    fi_addr_t peers[STRICT_MAX_PEERS];
    uint64_t hashes[STRICT_MAX_PEERS]; /* Hashes of their addresses */
} strict_av_t;

typedef struct strict_held {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error; /* err is 0 if it is not an error */
} strict_held_t;

typedef struct strict_cq {
    struct fid_cq fid;
    struct fid_cq *real;
    pthread_mutex_t lock;
    unsigned posted, ended; /* Numbers of posted and of ended operations other
                             * than receives */
    unsigned num_held;      /* Length of `held` */
    uint64_t random;        /* State of the random numbers for `shuffle` */
    strict_held_t held[STRICT_HELD];
} strict_cq_t;

typedef struct strict_ep {
    struct fid_ep fid;
    struct fid_ep *real;
    strict_domain_t *domain;
    strict_av_t *av;
    strict_cq_t *cq;
    uint64_t hash;     /* Hash of the endpoint's address; set when the endpoint
                        * is enabled */
    unsigned num_mrs;  /* Number of regions with remote access that are bound to
                        * it */
    unsigned num_sent; /* Number of messages sent */
    unsigned num_received; /* Number of receives posted */
} strict_ep_t;

/* Prints which rule was broken and ends the process. */
void strict_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
uint64_t strict_hash(const void *data, size_t length);
int strict_no_bind(struct fid *fid, struct fid *other, uint64_t flags);
int strict_no_control(struct fid *fid, int command, void *arg);
int strict_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
                  void *context);

/* domain.c */
int strict_domain_open(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain_p, void *context);
/* Returns information of the provider below; free it with fi_freeinfo(). */
int strict_real_info(const struct fi_info *info, struct fi_info **real_p);

/* mr.c */
extern struct fi_ops_mr strict_mr_ops;
int strict_map_raw(strict_domain_t *domain, struct fi_mr_map_raw *map);
int strict_unmap(strict_domain_t *domain, uint64_t mapped);
/* Returns the key of the provider below for a key that the user of the endpoint
 * passed. */
uint64_t strict_real_key(strict_ep_t *ep, fi_addr_t peer, uint64_t key);
void strict_check_local(strict_ep_t *ep, const void *buffer, size_t length,
                        void *desc, uint64_t access);

/* queue.c */
int strict_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                   struct fid_cq **cq_p, void *context);
int strict_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
                   struct fid_av **av_p, void *context);
/* Called before an operation is passed on. Returns the error with which the
 * options reject the operation; 0: none. */
int strict_post(strict_cq_t *cq, size_t length);
/* Called when the provider below has rejected the operation. */
void strict_unpost(strict_cq_t *cq);

/* endpoint.c */
int strict_endpoint(struct fid_domain *domain, struct fi_info *info,
                    struct fid_ep **ep_p, void *context);

#endif
