/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated device for connections of rc_verbs: completion queues, queue
 * pairs and shared receive queues in memory. The test determines when requests
 * are executed and when messages arrive. The test fails if the device has to
 * add an entry to a full queue. This header defines the functions of libibverbs
 * and of port.c that rc_verbs calls, so only one file of a program includes it;
 * no_device.c replaces the others.
 */
#ifndef IB_TEST_RC_DEVICE_H
#define IB_TEST_RC_DEVICE_H

#include "../src/rc_am.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_QUEUE = 512, /* Maximum entries of each queue */
    MESSAGE   = 9,   /* Bytes of a message, including its header byte */
};

/* A completion queue. In this and the following structures, the queue is a ring
 * of MAX_QUEUE entries. `count` of them, at most `size`, are in use, from index
 * `first`. */
typedef struct completions {
    struct ibv_cq cq;
    struct ibv_wc wcs[MAX_QUEUE];
    unsigned first, count, size;
} completions_t;

/* A posted send request. */
typedef struct request {
    uint64_t id; /* ibv_send_wr.wr_id */
    int is_signaled;
} request_t;

/* A queue pair with its posted send requests. */
typedef struct queue_pair {
    struct ibv_qp qp;
    request_t sends[MAX_QUEUE];
    unsigned first, count, size;
    int has_failed; /* The queue pair is in the error state: requests fail */
} queue_pair_t;

/* A shared receive queue with its posted buffers. */
typedef struct recv_queue {
    struct ibv_srq srq;
    struct ibv_recv_wr wrs[MAX_QUEUE];
    struct ibv_sge sges[MAX_QUEUE];
    unsigned first, count, size;
} recv_queue_t;

static struct ibv_device verbs_device = {.name = "test0"};
static struct ibv_context context     = {.device = &verbs_device};
static struct ibv_pd pd               = {.context = &context};
static uint32_t next_qpn; /* Number of the queue pair created last */

/* --- Queues --------------------------------------------------------------- */

static void complete(struct ibv_cq *cq, const struct ibv_wc *wc)
{
    completions_t *to = (completions_t *)cq;

    ck_assert_msg(to->count < to->size, "a completion queue overruns");
    to->wcs[(to->first + to->count++) % MAX_QUEUE] = *wc;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
    completions_t *from = (completions_t *)cq;
    int num             = 0;

    for (; (num < max) && (from->count > 0); ++num, --from->count) {
        wc[num]     = from->wcs[from->first];
        from->first = (from->first + 1) % MAX_QUEUE;
    }
    return num;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_send_wr **bad)
{
    queue_pair_t *to = (queue_pair_t *)qp;

    ck_assert_uint_lt(to->count, to->size);
    to->sends[(to->first + to->count++) % MAX_QUEUE] = (request_t){
        .id          = wr->wr_id,
        .is_signaled = !!(wr->send_flags & IBV_SEND_SIGNALED),
    };
    return 0;
}

/* Executes up to `max` of the oldest requests, and adds completions for the
 * signaled ones. If the queue pair has failed, unsignaled requests have a
 * completion, too. */
static void run(queue_pair_t *qp, unsigned max)
{
    for (; (max > 0) && (qp->count > 0); --max, --qp->count) {
        const request_t *request = &qp->sends[qp->first];
        struct ibv_wc wc         = {.wr_id = request->id};

        wc.status = qp->has_failed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS;
        qp->first = (qp->first + 1) % MAX_QUEUE;
        if (request->is_signaled || qp->has_failed) {
            complete(qp->qp.send_cq, &wc);
        }
    }
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
                         struct ibv_recv_wr **bad)
{
    recv_queue_t *to = (recv_queue_t *)srq;
    unsigned at;

    for (; wr != NULL; wr = wr->next) {
        ck_assert_uint_lt(to->count, to->size);
        at           = (to->first + to->count++) % MAX_QUEUE;
        to->wrs[at]  = *wr;
        to->sges[at] = *wr->sg_list;
    }
    return 0;
}

/* Makes up to `max` messages arrive at the interface, as long as buffers are
 * posted. Returns the number of messages. */
static unsigned arrive(const rc_iface_t *iface, unsigned max)
{
    recv_queue_t *from = (recv_queue_t *)iface->srq;
    unsigned count     = 0;

    for (; (count < max) && (from->count > 0); ++count, --from->count) {
        struct ibv_wc wc = {
            .status   = IBV_WC_SUCCESS,
            .wr_id    = from->wrs[from->first].wr_id,
            .byte_len = MESSAGE,
            .qp_num   = 0,
        };

        memset((void *)(uintptr_t)from->sges[from->first].addr, 1, MESSAGE);
        from->first = (from->first + 1) % MAX_QUEUE;
        complete(iface->recv_cq, &wc);
    }
    return count;
}

/* --- libibverbs ----------------------------------------------------------- */

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
                             struct ibv_comp_channel *channel, int vector)
{
    completions_t *cq = calloc(1, sizeof(*cq));

    ck_assert_int_le(cqe, MAX_QUEUE);
    cq->size       = (unsigned)cqe;
    cq->cq.context = ctx;
    return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(cq);
    return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *domain,
                               struct ibv_srq_init_attr *init)
{
    recv_queue_t *srq = calloc(1, sizeof(*srq));

    srq->size        = init->attr.max_wr;
    srq->srq.context = &context;
    return &srq->srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    free(srq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain,
                             struct ibv_qp_init_attr *init)
{
    queue_pair_t *qp = calloc(1, sizeof(*qp));

    qp->size       = init->cap.max_send_wr;
    qp->qp.qp_num  = ++next_qpn;
    qp->qp.context = &context;
    qp->qp.send_cq = init->send_cq;
    return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    free(qp);
    return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    if (attr->qp_state == IBV_QPS_ERR) {
        ((queue_pair_t *)qp)->has_failed = 1;
    }
    return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
    init->cap = (struct ibv_qp_cap){.max_send_sge = 4, .max_inline_data = 64};
    return 0;
}

/* --- The port and the domain ---------------------------------------------- */

ucs_status_t ib_port_open(const ucx_host_t *host, struct ibv_context *ctx,
                          uint8_t number, const ib_md_config_t *config,
                          ib_port_t *port)
{
    *port = (ib_port_t){.number = number, .kind = IB_LINK_IB};
    return UCS_OK;
}

void ib_port_address(const ib_port_t *port, ib_wire_device_t *wire)
{
    *wire = (ib_wire_device_t){.kind = port->kind};
}

ucs_status_t ib_port_path(const ib_port_t *port, const void *address,
                          size_t length, struct ibv_ah_attr *ah,
                          enum ibv_mtu *mtu_p)
{
    memset(ah, 0, sizeof(*ah));
    *mtu_p = IBV_MTU_256;
    return UCS_OK;
}

/* Initializes a domain of the device. */
static void device_open(const ucx_host_t *host, ib_md_t *md)
{
    context.ops.poll_cq       = poll_cq;
    context.ops.post_send     = post_send;
    context.ops.post_srq_recv = post_srq_recv;
    *md                       = (ib_md_t){
                              .host    = host,
                              .context = &context,
                              .pd      = &pd,
                              .attr    = {.max_qp_wr           = MAX_QUEUE,
                                          .max_sge             = 4,
                                          .max_cqe             = MAX_QUEUE,
                                          .max_qp_init_rd_atom = 16,
                                          .max_qp_rd_atom      = 16},
    };
}

#endif
