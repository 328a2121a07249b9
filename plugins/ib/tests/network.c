/* SPDX-License-Identifier: BSD-3-Clause */
/* Implementation of network.h. Replaces the functions of queues and address
 * handles of libibverbs, and those of port.c, that ud_verbs calls; no_device.c
 * replaces the others. */
#include "network.h"
#include "pool.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_QUEUE = 512,  /* Maximum entries of each queue */
    MAX_QPS   = 1024, /* Queue pair numbers are less than this */
    STEP_NS   = 1000, /* Each reading of the clock advances the simulated time
                       * by so many nanoseconds */
};

/* A completion queue: `count` entries of the ring wcs, from index `first`. */
typedef struct completions {
    struct ibv_cq cq;
    struct ibv_wc wcs[MAX_QUEUE];
    unsigned first, count;
} completions_t;

/* A queue pair with its posted receive buffers: `count` entries of the rings
 * recv_ids and recv_sges, from index `first`. Sends complete at once. */
typedef struct queue_pair {
    struct ibv_qp qp;
    uint64_t recv_ids[MAX_QUEUE];
    struct ibv_sge recv_sges[MAX_QUEUE];
    unsigned first, count;
} queue_pair_t;

network_t network;

static queue_pair_t *qps[MAX_QPS]; /* By number; NULL: the number is free */
static struct ibv_device verbs_device = {.name = "net0"};
static struct ibv_context context     = {.device = &verbs_device};
static struct ibv_pd pd               = {.context = &context};
static ib_md_t md;
static int log_level = -1;

/* --- Completions and the network ------------------------------------------ */

static void complete(struct ibv_cq *cq, const struct ibv_wc *wc)
{
    completions_t *to = (completions_t *)cq;

    ck_assert_uint_lt(to->count, MAX_QUEUE);
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

/* Delivers a packet to a queue pair. Drops the packet if no receive buffer is
 * posted. */
static void receive(queue_pair_t *to, uint32_t from, const void *data,
                    size_t length)
{
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS, .src_qp = from};
    struct ibv_sge *sge;

    if (to->count == 0) {
        return;
    }
    sge         = &to->recv_sges[to->first];
    wc.wr_id    = to->recv_ids[to->first];
    wc.byte_len = (uint32_t)(UD_GRH_LENGTH + length);
    ck_assert_uint_ge(sge->length, wc.byte_len);
    memcpy((char *)(uintptr_t)sge->addr + UD_GRH_LENGTH, data, length);
    to->first = (to->first + 1) % MAX_QUEUE;
    --to->count;
    complete(to->qp.recv_cq, &wc);
}

static queue_pair_t *by_number(uint32_t qpn)
{
    return (qpn < MAX_QPS) ? qps[qpn] : NULL;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
                     struct ibv_send_wr **bad)
{
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS, .wr_id = wr->wr_id};
    char packet[NETWORK_MTU];
    size_t length = 0;

    ck_assert_ptr_null(wr->next);
    for (int i = 0; i < wr->num_sge; ++i) {
        ck_assert_uint_le(length + wr->sg_list[i].length, sizeof(packet));
        memcpy(packet + length, (void *)(uintptr_t)wr->sg_list[i].addr,
               wr->sg_list[i].length);
        length += wr->sg_list[i].length;
    }
    ++network.num_packets;
    if ((by_number(wr->wr.ud.remote_qpn) != NULL) &&
        (network_random(1000) >= network.loss)) {
        receive(by_number(wr->wr.ud.remote_qpn), qp->qp_num, packet, length);
    }
    if (wr->send_flags & IBV_SEND_SIGNALED) {
        complete(qp->send_cq, &wc);
    }
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
                     struct ibv_recv_wr **bad)
{
    queue_pair_t *to = (queue_pair_t *)qp;
    unsigned at;

    for (; wr != NULL; wr = wr->next) {
        ck_assert_uint_lt(to->count, MAX_QUEUE);
        at                = (to->first + to->count++) % MAX_QUEUE;
        to->recv_ids[at]  = wr->wr_id;
        to->recv_sges[at] = *wr->sg_list;
    }
    return 0;
}

/* --- libibverbs ----------------------------------------------------------- */

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
                             struct ibv_comp_channel *channel, int vector)
{
    completions_t *cq = calloc(1, sizeof(*cq));

    cq->cq.context = ctx;
    return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(cq);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain,
                             struct ibv_qp_init_attr *init)
{
    queue_pair_t *qp = calloc(1, sizeof(*qp));
    uint32_t qpn     = network.next_qpn;

    for (; qps[qpn] != NULL; ++qpn) {
        ck_assert_uint_lt(qpn + 1, MAX_QPS);
    }
    qps[qpn]       = qp;
    qp->qp.qp_num  = qpn;
    qp->qp.context = &context;
    qp->qp.send_cq = init->send_cq;
    qp->qp.recv_cq = init->recv_cq;
    return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    qps[qp->qp_num] = NULL;
    free(qp);
    return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *domain, struct ibv_ah_attr *attr)
{
    return calloc(1, sizeof(struct ibv_ah));
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    free(ah);
    return 0;
}

/* --- The plugin's device -------------------------------------------------- */

ucs_status_t ib_port_open(const ucx_host_t *host, struct ibv_context *ctx,
                          uint8_t number, const ib_md_config_t *config,
                          ib_port_t *port)
{
    *port = (ib_port_t){
        .number = number,
        .kind   = IB_LINK_IB,
        .mtu    = IBV_MTU_256,
        .lid    = 1,
    };
    return UCS_OK;
}

void ib_port_address(const ib_port_t *port, ib_wire_device_t *wire)
{
    *wire = (ib_wire_device_t){.kind = port->kind, .mtu = (uint8_t)port->mtu};
}

ucs_status_t ib_port_path(const ib_port_t *port, const void *address,
                          size_t length, struct ibv_ah_attr *ah,
                          enum ibv_mtu *mtu_p)
{
    const ib_wire_device_t *wire = address;

    memset(ah, 0, sizeof(*ah));
    *mtu_p = port->mtu;
    return (wire->kind == port->kind) ? UCS_OK : UCS_ERR_UNREACHABLE;
}

/* --- The host ------------------------------------------------------------- */

/* The timer callback of the service (ud_service.c), which is the same function
 * for all interfaces. Only network_serve() calls it. */
static ucx_async_timer_cb_t on_timer;

static ucs_status_t add_timer(uct_worker_h worker, double interval,
                              ucx_async_timer_cb_t cb, void *arg,
                              ucx_async_id_t *id)
{
    on_timer = cb;
    *id      = 1;
    return UCS_OK;
}

static void remove_handler(ucx_async_id_t id)
{
}

static ucs_status_t ep_failed(uct_iface_h iface, uct_ep_h ep,
                              ucs_status_t status)
{
    ++network.num_failed;
    network.fail_status = status;
    return UCS_OK;
}

static double now(void)
{
    return network.now += STEP_NS * 1e-9;
}

static const ucx_host_t host = {
    .size            = sizeof(host),
    .log_level       = &log_level,
    .mpool_create    = pool_create,
    .mpool_grow      = pool_grow,
    .mpool_destroy   = pool_destroy,
    .async_add_timer = add_timer,
    .async_remove    = remove_handler,
    .iface_ep_failed = ep_failed,
    .time            = now,
};

/* --- For the tests -------------------------------------------------------- */

void network_reset(void)
{
    context.ops.poll_cq   = poll_cq;
    context.ops.post_send = post_send;
    context.ops.post_recv = post_recv;

    network           = (network_t){.random = 1, .now = 1, .next_qpn = 1};
    md.host           = &host;
    md.context        = &context;
    md.pd             = &pd;
    md.attr.max_qp_wr = MAX_QUEUE;
    md.attr.max_sge   = 4;
}

ud_iface_t *network_open(uct_am_callback_t cb, void *arg)
{
    const ib_ud_config_t config = {
        .timeout       = 5,
        .linger        = 0.1,
        .timer_tick    = 0.01,
        .timer_backoff = 2,
        .ack_delay     = 2.5e-3,
        .max_window    = 64,
        .tx_queue_len  = 256,
        .tx_moderation = 64,
        .tx_min_inline = 64,
        .rx_queue_len  = 256,
        .tx_max_poll   = 16,
        .rx_max_poll   = 16,
        .dgid_check    = 1,
    };
    uct_iface_params_t params  = {0};
    ucx_iface_open_args_t args = {
        .size     = sizeof(args),
        .params   = &params,
        .dev_name = "net0:1",
        .config   = &config,
    };
    uct_iface_h iface;

    ck_assert_int_eq(ud_iface_open((uct_md_h)&md, &args, &iface), UCS_OK);
    for (unsigned id = 0; id < UCT_AM_ID_MAX; ++id) {
        iface->am[id].cb  = cb;
        iface->am[id].arg = arg;
    }
    return (ud_iface_t *)iface;
}

void network_inject(ud_iface_t *iface, uint32_t from, const void *data,
                    size_t length)
{
    receive((queue_pair_t *)iface->qp, from, data, length);
}

ud_ep_t *network_connect(ud_iface_t *iface, const ud_iface_t *to)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .dev_addr   = (const uct_device_addr_t *)&to->device,
        .iface_addr = (const uct_iface_addr_t *)&to->address,
    };
    uct_ep_h ep;

    ck_assert_int_eq(ud_ep_create(&iface->super, &params, &ep), UCS_OK);
    return (ud_ep_t *)ep;
}

void network_serve(ud_iface_t *iface)
{
    on_timer(iface); /* Sees progress since the last call: does not serve */
    on_timer(iface); /* Sees no progress: serves */
}

uint64_t network_random(uint64_t below)
{
    network.random = (network.random * 6364136223846793005u) +
                     1442695040888963407u;
    return (network.random >> 33) % below;
}
