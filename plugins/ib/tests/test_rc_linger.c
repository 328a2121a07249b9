/* SPDX-License-Identifier: BSD-3-Clause */
/* rc_verbs over iWARP: when a connection may end (rc_linger.c). The functions
 * of other files that rc_linger.c calls are replaced here. */
#include "../src/rc_iwarp.h"
#include "../src/rc_send.h"
#include "suite.h"

static rc_iface_t iface;
static rc_ep_t ep;
static ucs_status_t failed_with;

void rc_desc_done(rc_ep_t *of, ib_op_t *op, ucs_status_t status)
{
}

void rc_ep_fail(rc_ep_t *failed, ucs_status_t status, int tell)
{
    failed->state |= RC_EP_FAILED;
    failed_with = status;
}

rc_ep_t *rc_ep_by_qpn(rc_iface_t *of, uint32_t qpn)
{
    return &ep;
}

unsigned rc_iface_progress(uct_iface_h progressed)
{
    return 0;
}

void rc_order_posted(const rc_iface_t *of, rc_ep_t *posted,
                     enum ibv_wr_opcode opcode)
{
}

static void users_done(rc_ep_t *of, ib_op_t *op, ucs_status_t status)
{
}

static void open_ep(void)
{
    iface          = (rc_iface_t){.join = (rc_join_t *)&iface};
    ep             = (rc_ep_t){.state = RC_EP_CONNECTED};
    ep.super.iface = &iface.super;
    ucx_pending_init(&ep.pending);
    failed_with = UCS_OK;
}

/* When the peer's last message arrives, UCP cancels the endpoint. The peer may
 * still read over the connection to flush that message. Therefore the
 * connection stays open if none of the endpoint's own requests has a completion
 * of the user. */
START_TEST(cancel_keeps_a_connection_that_nobody_waits_for)
{
    ib_op_t own[2] = {{.next = &own[1], .done = rc_desc_done},
                      {.done = rc_desc_done}};

    open_ep();
    ck_assert_int_eq(rc_linger_is_quiet(&ep), 1);
    ep.ops = own;
    ck_assert_int_eq(rc_linger_is_quiet(&ep), 1);
    own[1].done = users_done; /* A request with a completion of the user */
    ck_assert_int_eq(rc_linger_is_quiet(&ep), 0);

    ep.ops = NULL;
    ep.state |= RC_EP_FAILED;
    ck_assert_int_eq(rc_linger_is_quiet(&ep), 0);
    ep.state   = RC_EP_CONNECTED;
    iface.join = NULL; /* Not an iWARP device: the connection need not stay
                        * open */
    ck_assert_int_eq(rc_linger_is_quiet(&ep), 0);
}
END_TEST

START_TEST(peer_that_had_received_everything_is_no_failure)
{
    open_ep();
    rc_linger_bye(&iface, 1);
    rc_linger_disconnected(&ep);
    ck_assert_int_eq(failed_with, UCS_ERR_CONNECTION_RESET);
    ck_assert(ep.state & RC_EP_LEFT);

    open_ep();
    rc_linger_bye(&iface, 1);
    ep.state |= RC_EP_UNSEEN;
    rc_linger_disconnected(&ep);
    ck_assert(!(ep.state & RC_EP_LEFT));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {
        cancel_keeps_a_connection_that_nobody_waits_for,
        peer_that_had_received_everything_is_no_failure,
    };

    return suite_run("rc: end of iWARP connections", tests,
                     sizeof(tests) / sizeof(tests[0]), 30);
}
