/* SPDX-License-Identifier: BSD-3-Clause */
/* ud_verbs: two users connect to each other over a simulated device
 * (network.h). The second one connects when a connection request has arrived:
 * of the first one, which has not received the reply yet, or of a connection
 * that has ended. */
#include "messages.h"
#include "suite.h"

enum { MESSAGES = 200 /* Number of messages in each direction */ };

static ud_iface_t *ifaces[2];

static void open_both(void)
{
    setup();
    for (int i = 0; i < 2; ++i) {
        ifaces[i] = network_open(on_message, &inboxes[i]);
    }
}

static void close_both(ud_ep_t *first, ud_ep_t *second)
{
    ck_assert_uint_eq(network.num_failed, 0);
    if (first != NULL) {
        ud_ep_destroy(&first->super);
    }
    ud_ep_destroy(&second->super);
    for (int i = 0; i < 2; ++i) {
        check_buffers(ifaces[i]);
        ud_iface_close(&ifaces[i]->super);
    }
}

/* The second interface receives a request, so that it has an endpoint. */
static void receive_request(void)
{
    for (int i = 0; (i < MAX_ROUNDS) && (ifaces[1]->num_eps == 0); ++i) {
        progress(&ifaces[1], 1);
    }
    ck_assert_uint_eq(ifaces[1]->num_eps, 1);
}

/* Both users get the ends of one connection, so that each message carries the
 * acknowledgement of the message in the other direction. */
START_TEST(both_users_share_a_connection)
{
    ud_ep_t *eps[2];
    uint64_t before;

    open_both();
    eps[0] = network_connect(ifaces[0], ifaces[1]);
    receive_request();
    eps[1] = network_connect(ifaces[1], ifaces[0]);
    send_message(eps[0], 0, 0, ifaces, 2);
    wait_for(&inboxes[1], 1, ifaces, 2);
    before = network.num_packets;
    for (unsigned i = 0; i < MESSAGES; ++i) {
        send_message(eps[1], 0, i, ifaces, 2);
        wait_for(&inboxes[0], 1 + i, ifaces, 2);
        network.now += 1e-4;
        send_message(eps[0], 0, 1 + i, ifaces, 2);
        wait_for(&inboxes[1], 2 + i, ifaces, 2);
        network.now += 1e-4;
    }
    ck_assert_uint_le(network.num_packets - before, (2 * MESSAGES) + 2);
    ck_assert_uint_eq(ifaces[0]->num_eps, 1);
    ck_assert_uint_eq(ifaces[1]->num_eps, 1);
    close_both(eps[0], eps[1]);
}
END_TEST

/* The packets with which the second user requests the connection are lost. A
 * message of the peer shows that the connection exists. */
START_TEST(message_of_the_peer_connects)
{
    ud_ep_t *eps[2];
    double start;

    open_both();
    eps[0] = network_connect(ifaces[0], ifaces[1]);
    receive_request();
    network.loss = 1000;
    eps[1]       = network_connect(ifaces[1], ifaces[0]);
    progress(&ifaces[0], 1); /* The acknowledgement of UD_ACCEPT is lost, too */
    network.loss = 0;
    start        = network.now;
    ck_assert_int_eq(eps[1]->state & UD_EP_CONNECTED, 0);
    ck_assert_int_eq(try_send(eps[1], 0, 0), UCS_OK);
    ck_assert_int_eq(try_send(eps[0], 0, 0), UCS_OK);
    wait_for(&inboxes[1], 1, ifaces, 2);
    wait_for(&inboxes[0], 1, ifaces, 2);
    ck_assert_double_le(network.now - start, 1e-3);
    close_both(eps[0], eps[1]);
}
END_TEST

/* The request of the peer was a late packet of a connection that has ended. The
 * peer replies with UD_RESET, and the user gets a new connection. */
START_TEST(late_request_does_not_fail_the_user)
{
    ud_wire_control_t late = {{0}};
    ud_ep_t *ep;

    open_both();
    late.head.kind  = UD_CONNECT;
    late.head.magic = htole16(UD_MAGIC);
    late.head.psn   = htole32(77);
    late.from       = htole32(12345);
    late.to_token   = ifaces[1]->address.token;
    late.iface      = ifaces[0]->address;
    late.device     = ifaces[0]->device;
    network_inject(ifaces[1], ifaces[0]->qp->qp_num, &late, sizeof(late));
    receive_request();
    ep = network_connect(ifaces[1], ifaces[0]);
    ck_assert_uint_eq(ep->remote, 12345);
    for (unsigned i = 0; i < 3; ++i) {
        send_message(ep, 0, i, ifaces, 2);
    }
    wait_for(&inboxes[0], 3, ifaces, 2);
    ck_assert_uint_eq(ifaces[0]->num_eps, 1);
    ck_assert_uint_eq(ifaces[1]->num_eps, 1);
    close_both(NULL, ep);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        both_users_share_a_connection,
        message_of_the_peer_connects,
        late_request_does_not_fail_the_user,
    };

    return suite_run("ud_meet", tests, sizeof(tests) / sizeof(tests[0]), 60);
}
