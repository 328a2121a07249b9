/* SPDX-License-Identifier: BSD-3-Clause */
/* rc_verbs over iWARP (rc_order.c, rc_iwarp_prepare()): requests complete in
 * the order of posting, although the device reports them in another order.
 * Requests that the device never reports, and the wait for the peer of a
 * destroyed endpoint, end after a time limit. Fences and too many reads hold
 * later requests. Short data is inline. */
#include "../src/rc_iwarp.h"
#include "suite.h"

#include <string.h>

enum { MOST = 16 }; /* Maximum number of calls that `seen` records */

static rc_iface_t iface;
static rc_ep_t ep;
static double now;

/* Calls of the functions that are replaced here. */
static struct {
    uint16_t sn[MOST]; /* Arguments of the calls of rc_complete_to() */
    ucs_status_t status[MOST];
    unsigned count;
    /* Numbers of calls of other functions */
    unsigned dropped;         /* rc_ep_drop_qp() */
    unsigned abandoned;       /* rc_ep_abandon() */
    unsigned finished, ended; /* rc_ep_finish(), rc_ep_end_later() */
} seen;

void rc_complete_to(rc_ep_t *done, uint16_t sn, ucs_status_t status)
{
    ck_assert_uint_lt(seen.count, MOST);
    seen.sn[seen.count]     = sn;
    seen.status[seen.count] = status;
    ++seen.count;
    done->done_sn = (uint16_t)(sn + 1);
}

void rc_ep_finish(rc_ep_t *finished)
{
    ck_assert_ptr_eq(finished, &ep);
    ++seen.finished;
}

void rc_ep_drop_qp(rc_ep_t *dropped)
{
    dropped->qp = NULL;
    ++seen.dropped;
}

void rc_ep_abandon(rc_ep_t *abandoned)
{
    abandoned->done_sn = abandoned->sn;
    ++seen.abandoned;
}

void rc_ep_end_later(rc_ep_t *ended)
{
    ck_assert_ptr_eq(ended, &ep);
    ++seen.ended;
}

static double read_time(void)
{
    return now;
}

static const ucx_host_t host = {.size = sizeof(host), .time = read_time};

/* Creates an endpoint with outstanding requests `sn` to `sn + count - 1`. */
static void open_ep(uint16_t sn, uint16_t count)
{
    static struct ibv_qp qp;

    memset(&iface, 0, sizeof(iface));
    memset(&ep, 0, sizeof(ep));
    memset(&seen, 0, sizeof(seen));
    iface.host = &host;
    iface.join = (rc_join_t *)&qp; /* Any pointer but NULL means iWARP; it is
                                    * not dereferenced */
    iface.finished_mask = 7;
    rc_link_init(&iface.ending);
    rc_link_init(&ep.ending);
    ep.super.iface = &iface.super;
    ep.qp          = &qp;
    ep.done_sn     = sn;
    ep.sn          = (uint16_t)(sn + count);
    ck_assert_int_eq(rc_order_open(&iface, &ep), UCS_OK);
}

START_TEST(completes_in_order)
{
    open_ep(0xfffe, 4); /* The numbers wrap around */
    rc_order_done(&ep, 0xffff, UCS_OK);
    rc_order_done(&ep, 1, UCS_OK);
    ck_assert_uint_eq(seen.count, 0);
    rc_order_done(&ep, 0xfffe, UCS_OK); /* The oldest request */
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.sn[0], 0xffff);
    rc_order_done(&ep, 0, UCS_OK);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.sn[1], 1);
    ck_assert_uint_eq(ep.done_sn, ep.sn);
    rc_order_close(&ep);
}
END_TEST

START_TEST(each_has_its_status)
{
    open_ep(5, 3);
    rc_order_done(&ep, 7, UCS_ERR_CANCELED);
    rc_order_done(&ep, 6, UCS_OK);
    rc_order_done(&ep, 5, UCS_ERR_CANCELED);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert_int_eq(seen.status[0], UCS_ERR_CANCELED);
    ck_assert_int_eq(seen.status[1], UCS_OK);
    ck_assert_int_eq(seen.status[2], UCS_ERR_CANCELED);
    rc_order_close(&ep);
}
END_TEST

START_TEST(ignores_requests_that_were_not_posted)
{
    open_ep(5, 2);
    rc_order_done(&ep, 7, UCS_ERR_CANCELED);
    rc_order_done(&ep, 4, UCS_ERR_CANCELED);
    ck_assert_uint_eq(seen.count, 0);
    rc_order_done(&ep, 5, UCS_OK);
    rc_order_done(&ep, 6, UCS_OK);
    ck_assert_uint_eq(seen.count, 2);
    rc_order_close(&ep);
}
END_TEST

START_TEST(unreported_requests_end)
{
    open_ep(0, 2);
    now      = 100;
    ep.state = RC_EP_FAILED;
    rc_order_await(&ep);
    ck_assert(!rc_link_is_alone(&ep.ending));
    rc_order_done(&ep, 0, UCS_ERR_CANCELED);
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.dropped, 0);
    now = 101;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.dropped, 1);
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.abandoned, 0); /* The completion queue may still
                                           * contain completions of the
                                           * endpoint */
    iface.send_cq_empty = 1;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.abandoned, 1);
    ck_assert(!(ep.state & RC_EP_FLUSHING));
    rc_order_close(&ep);
}
END_TEST

START_TEST(closed_ep_waits_for_its_peer)
{
    open_ep(0, 0);
    now         = 100;
    ep.wait_end = 102;
    ep.state    = RC_EP_ZOMBIE | RC_EP_LINGERS | RC_EP_BYE_TAKEN;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.ended, 0);
    ep.state |= RC_EP_BYE_SENT;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.ended, 1);

    ep.state = RC_EP_ZOMBIE | RC_EP_LINGERS | RC_EP_BYE_SENT;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.ended, 1);
    now = 102;
    rc_iwarp_wait(&ep);
    ck_assert_uint_eq(seen.ended, 2);
    rc_order_close(&ep);
}
END_TEST

/* Posts a request as rc_post() does. */
static void post(enum ibv_wr_opcode opcode)
{
    rc_order_posted(&iface, &ep, opcode);
    ++ep.sn;
}

START_TEST(fence_holds_until_reads_are_done)
{
    open_ep(0, 0);
    iface.max_rd_atomic = 4;
    rc_order_fence(&ep); /* No read is outstanding: nothing to wait for */
    ck_assert_uint_eq(ep.state & (RC_EP_HELD | RC_EP_FENCE), 0);
    post(IBV_WR_SEND);
    post(IBV_WR_RDMA_READ);
    rc_order_fence(&ep);
    ck_assert(ep.state & RC_EP_HELD);
    rc_order_done(&ep, 0, UCS_OK);
    ck_assert(ep.state & RC_EP_HELD);
    rc_order_done(&ep, 1, UCS_OK);
    ck_assert_uint_eq(ep.state & (RC_EP_HELD | RC_EP_FENCE), 0);
    ck_assert_uint_eq(ep.num_reads, 0);
    rc_order_close(&ep);
}
END_TEST

START_TEST(no_more_reads_than_the_device_takes)
{
    open_ep(0, 0);
    iface.max_rd_atomic = 3;
    post(IBV_WR_RDMA_READ);
    ck_assert(!(ep.state & RC_EP_HELD));
    post(IBV_WR_RDMA_READ);
    ck_assert(ep.state & RC_EP_HELD);
    rc_order_done(&ep, 1, UCS_OK); /* Not the oldest read: it is not completed
                                    * yet */
    ck_assert(ep.state & RC_EP_HELD);
    rc_order_done(&ep, 0, UCS_OK);
    ck_assert(!(ep.state & RC_EP_HELD));
    ck_assert_uint_eq(ep.num_reads, 0);

    post(IBV_WR_RDMA_READ);
    post(IBV_WR_RDMA_READ);
    rc_order_fence(&ep);
    rc_order_done(&ep, 2, UCS_OK);
    ck_assert(ep.state & RC_EP_HELD); /* The fence waits for all reads */
    rc_order_done(&ep, 3, UCS_ERR_CANCELED);
    ck_assert(!(ep.state & RC_EP_HELD));
    rc_order_close(&ep);
}
END_TEST

START_TEST(short_data_goes_with_the_request)
{
    struct ibv_sge sge[2] = {{.length = 32}, {.length = 1}};
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = sge};

    open_ep(0, 0);
    iface.max_inline = 32;
    wr.num_sge       = 1;
    rc_iwarp_prepare(&iface, &wr);
    ck_assert(wr.send_flags & IBV_SEND_INLINE);
    for (int i = 0; i < 3; ++i) {
        wr.send_flags = 0;
        wr.opcode     = (i == 0) ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
        wr.num_sge    = (i == 1) ? 2 : 1;
        sge[0].length = (i == 2) ? 33 : 32;
        rc_iwarp_prepare(&iface, &wr);
        ck_assert(!(wr.send_flags & IBV_SEND_INLINE));
    }
    rc_order_close(&ep);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {fence_holds_until_reads_are_done,
                            no_more_reads_than_the_device_takes,
                            short_data_goes_with_the_request,
                            completes_in_order,
                            each_has_its_status,
                            ignores_requests_that_were_not_posted,
                            unreported_requests_end,
                            closed_ep_waits_for_its_peer};

    return suite_run("rc: order of iWARP requests", tests,
                     sizeof(tests) / sizeof(tests[0]), 30);
}
