/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates queue pairs and connects them. */
#include "memlock.h"
#include "rc_join.h"
#include "rc_send.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* The address of an endpoint, which the peer receives; little-endian. */
typedef struct rc_wire_ep {
    uint32_t qpn;   /* Number of the endpoint's queue pair */
    uint32_t psn;   /* Low 24 bits: first packet sequence number that the
                     * endpoint sends; high 8 bits: rc_credits_code() of the
                     * window that the endpoint gives to the peer */
    uint64_t token; /* rc_iface_t.token, without conversion of the byte order:
                     * it is only compared */
} rc_wire_ep_t;

/* The address of an iWARP endpoint; little-endian. */
typedef struct rc_wire_iwarp_ep {
    rc_wire_ep_t super;
    uint16_t port; /* TCP port at which the interface listens */
    uint16_t reserved;
    /* The rc_join_word_t of the interface */
    uint32_t word_rkey;
    uint64_t word_address;
} rc_wire_iwarp_ep_t;

enum { WINDOW_SHIFT = 24, PSN_MASK = 0xffffff };

_Static_assert(sizeof(rc_wire_ep_t) == 16, "wire format");
_Static_assert(sizeof(rc_wire_iwarp_ep_t) == 32, "wire format");

size_t rc_ep_address_length(const rc_iface_t *iface)
{
    return (iface->join != NULL) ? sizeof(rc_wire_iwarp_ep_t) :
                                   sizeof(rc_wire_ep_t);
}

ucs_status_t rc_qp_create(rc_iface_t *iface, struct ibv_qp **qp_p)
{
    const ucx_host_t *host       = iface->host;
    struct ibv_qp_init_attr init = {
        .send_cq = iface->send_cq,
        .recv_cq = iface->recv_cq,
        .srq     = iface->srq,
        .qp_type = IBV_QPT_RC,
        .cap =
            {
                /* One more entry for post_drain() in rc_cq.c */
                .max_send_wr     = iface->queue_len + 1u,
                .max_send_sge    = iface->max_sge,
                .max_inline_data = iface->max_inline,
            },
    };
    struct ibv_qp_attr attr = {
        .qp_state        = IBV_QPS_INIT,
        .pkey_index      = iface->port.pkey_index,
        .port_num        = iface->port.number,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC,
    };
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
               IBV_QP_ACCESS_FLAGS;
    struct ibv_qp *qp = ibv_create_qp(iface->md->pd, &init);
    char advice[IB_ADVICE_LENGTH];
    int error;

    if (qp == NULL) {
        error = errno;
        (void)ib_memlock_advice(error, advice);
        ucx_error("%s: cannot create a queue pair (send queue %u, inline %u): "
                  "%s (UCX_RC_TX_QUEUE_LEN sets its size)%s",
                  ibv_get_device_name(iface->md->context->device),
                  iface->queue_len, iface->max_inline, strerror(error), advice);
        return ib_status_of_errno(error);
    }
    if (iface->join != NULL) {
        /* librdmacm selects the port when it connects. */
        mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
    }
    if (ibv_modify_qp(qp, &attr, mask) != 0) {
        ibv_destroy_qp(qp);
        return UCS_ERR_IO_ERROR;
    }
    *qp_p = qp;
    return UCS_OK;
}

ucs_status_t rc_ep_get_address(uct_ep_h uct_ep, uct_ep_addr_t *addr)
{
    rc_ep_t *ep             = (rc_ep_t *)uct_ep;
    const rc_iface_t *iface = rc_iface_of(ep);
    uint32_t window         = (uint32_t)rc_credits_code(ep) << WINDOW_SHIFT;
    rc_wire_iwarp_ep_t wire = {0};
    rc_join_word_t word     = {0};

    if (ep->qp == NULL) { /* The endpoint has failed */
        return (ucs_status_t)ep->status;
    }
    wire.super.qpn   = htole32(ep->qp->qp_num);
    wire.super.psn   = htole32(ep->psn | window);
    wire.super.token = iface->token;
    if (iface->join != NULL) {
        rc_join_word(iface, &word);
        wire.port         = htole16(rc_join_port(iface));
        wire.word_rkey    = htole32(word.rkey);
        wire.word_address = htole64(word.address);
    }
    memcpy(addr, &wire, rc_ep_address_length(iface));
    return UCS_OK;
}

/* Returns the smallest exponent e with 4.096 us * 2^e >= `seconds`, but not
 * less than 1 and not more than 31. */
static uint8_t ack_timeout(double seconds)
{
    double exponent = ceil(log2(seconds / 4.096e-6));

    return (exponent < 1) ? 1 : (exponent > 31) ? 31 : (uint8_t)exponent;
}

/* Returns the code of the shortest receiver-not-ready delay that is at least
 * `seconds`. The InfiniBand specification defines the codes. The table contains
 * the delays of the codes from 1, in units of 10 us. */
static uint8_t rnr_timer(double seconds)
{
    static const unsigned delays[] = {
        1,    2,    3,    4,    6,     8,     12,    16,    24,    32,   48,
        64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536, 2048,
        3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    };

    for (unsigned i = 0; i < sizeof(delays) / sizeof(delays[0]); ++i) {
        if (seconds <= delays[i] * 1e-5) {
            return (uint8_t)(i + 1);
        }
    }
    return 0; /* The code of the longest delay, 655 ms */
}

static ucs_status_t ready_to_receive(rc_iface_t *iface, rc_ep_t *ep,
                                     const rc_wire_ep_t *peer,
                                     const struct ibv_ah_attr *ah,
                                     enum ibv_mtu mtu)
{
    struct ibv_qp_attr attr = {
        .qp_state           = IBV_QPS_RTR,
        .ah_attr            = *ah,
        .path_mtu           = mtu,
        .dest_qp_num        = le32toh(peer->qpn),
        .rq_psn             = le32toh(peer->psn) & PSN_MASK,
        .max_dest_rd_atomic = (uint8_t)iface->max_dest_rd_atomic,
        .min_rnr_timer      = rnr_timer(iface->config.rnr_timeout),
    };

    return (ibv_modify_qp(ep->qp, &attr,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
                              IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC |
                              IBV_QP_MIN_RNR_TIMER) == 0) ?
               UCS_OK :
               UCS_ERR_UNREACHABLE;
}

static ucs_status_t ready_to_send(rc_iface_t *iface, rc_ep_t *ep)
{
    struct ibv_qp_attr attr = {
        .qp_state      = IBV_QPS_RTS,
        .sq_psn        = ep->psn,
        .timeout       = ack_timeout(iface->config.timeout),
        .retry_cnt     = (uint8_t)iface->config.retry_count,
        .rnr_retry     = (uint8_t)iface->config.rnr_retry_count,
        .max_rd_atomic = (uint8_t)iface->max_rd_atomic,
    };

    return (ibv_modify_qp(ep->qp, &attr,
                          IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
                              IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_MAX_QP_RD_ATOMIC) == 0) ?
               UCS_OK :
               UCS_ERR_IO_ERROR;
}

/* Connects the queue pair. This needs no exchange of packets with the peer,
 * because the peer's addresses contain all that the queue pair has to know. */
static ucs_status_t connect_qp(rc_iface_t *iface, rc_ep_t *ep,
                               const uct_device_addr_t *dev_addr,
                               size_t dev_addr_length, const rc_wire_ep_t *peer)
{
    struct ibv_ah_attr ah;
    enum ibv_mtu mtu;
    ucs_status_t status;

    status = ib_port_path(&iface->port, dev_addr, dev_addr_length, &ah, &mtu);
    if (status == UCS_OK) {
        status = ready_to_receive(iface, ep, peer, &ah, mtu);
    }
    if (status == UCS_OK) {
        status = ready_to_send(iface, ep);
    }
    if (status == UCS_OK) {
        ep->peer_qpn   = le32toh(peer->qpn);
        ep->peer_token = peer->token;
        ep->state |= RC_EP_CONNECTED;
    }
    return status;
}

static ucs_status_t connect_iwarp(rc_iface_t *iface, rc_ep_t *ep,
                                  const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const rc_wire_iwarp_ep_t *peer)
{
    rc_join_end_t end = {
        .port = le16toh(peer->port),
        .qpn  = le32toh(peer->super.qpn),
        .psn  = le32toh(peer->super.psn) & PSN_MASK,
    };
    struct ibv_ah_attr ah;
    enum ibv_mtu mtu;
    ucs_status_t status;

    status = ib_port_path(&iface->port, dev_addr, dev_addr_length, &ah, &mtu);
    if (status != UCS_OK) {
        return status;
    }
    memcpy(end.ip, ah.grh.dgid.raw, sizeof(end.ip));
    ep->word_rkey    = le32toh(peer->word_rkey);
    ep->word_address = le64toh(peer->word_address);
    return rc_join_start(ep, &end);
}

ucs_status_t rc_ep_connect_to_ep(uct_ep_h uct_ep,
                                 const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_ep_addr_t *ep_addr,
                                 size_t ep_addr_length)
{
    rc_ep_t *ep             = (rc_ep_t *)uct_ep;
    rc_iface_t *iface       = rc_iface_of(ep);
    size_t length           = rc_ep_address_length(iface);
    rc_wire_iwarp_ep_t peer = {0};

    if ((ep_addr == NULL) || (ep_addr_length < length) ||
        (ep->state & (RC_EP_CONNECTED | RC_EP_JOINING | RC_EP_FAILED))) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&peer, ep_addr, length);
    if ((le32toh(peer.super.qpn) > 0xffffff) ||
        !rc_credits_connect(ep, (uint8_t)(le32toh(peer.super.psn) >>
                                          WINDOW_SHIFT))) {
        return UCS_ERR_INVALID_ADDR;
    }
    return (iface->join != NULL) ?
               connect_iwarp(iface, ep, dev_addr, dev_addr_length, &peer) :
               connect_qp(iface, ep, dev_addr, dev_addr_length, &peer.super);
}
