/* SPDX-License-Identifier: BSD-3-Clause */
/* ud_verbs: interfaces over a simulated device (network.h). Many connections
 * over one queue pair, number of acknowledgements, malformed packets, peers
 * that restart or are silent, flush of packets that the service has handled. */
#include "messages.h"
#include "suite.h"

enum {
    PEERS    = 200, /* Number of interfaces that send to one interface */
    PER_PEER = 10,  /* Number of endpoints of each of them */
    ROUNDS   = 5,   /* Number of messages of each endpoint */
};

_Static_assert(PEERS *PER_PEER <= MAX_SENDERS, "each sender has an entry");

typedef struct pair {
    ud_iface_t *ifaces[2];
    ud_ep_t *ep;   /* Endpoint of the first interface */
    ud_ep_t *peer; /* The corresponding endpoint of the second interface */
} pair_t;

/* Opens two interfaces and connects them. The first has sent one message. */
static void open_pair(pair_t *pair)
{
    setup();
    for (int i = 0; i < 2; ++i) {
        pair->ifaces[i] = network_open(on_message, &inboxes[i]);
    }
    pair->ep = network_connect(pair->ifaces[0], pair->ifaces[1]);
    send_message(pair->ep, 0, 0, pair->ifaces, 2);
    wait_for(&inboxes[1], 1, pair->ifaces, 2);
    pair->peer = ud_ep_by_id(pair->ifaces[1], pair->ep->remote);
    ck_assert_ptr_nonnull(pair->peer);
}

static void close_pair(pair_t *pair)
{
    for (int i = 0; i < 2; ++i) {
        check_buffers(pair->ifaces[i]);
        ud_iface_close(&pair->ifaces[i]->super);
    }
}

/* --- Many connections ----------------------------------------------------- */

/* Many endpoints send to one interface, then that interface replies to each.
 * `loss`: packets lost out of 1000. */
static void meet_many(unsigned loss)
{
    ud_iface_t *ifaces[PEERS + 1], *hub;
    ud_ep_t *eps[PEERS * PER_PEER];

    setup();
    for (unsigned i = 0; i <= PEERS; ++i) {
        ifaces[i] = network_open(on_message, &inboxes[i > 0]);
    }
    hub          = ifaces[0];
    network.loss = loss;
    for (unsigned i = 0; i < PEERS * PER_PEER; ++i) {
        eps[i] = network_connect(ifaces[1 + (i % PEERS)], hub);
    }
    for (unsigned round = 0; round < ROUNDS; ++round) {
        for (unsigned i = 0; i < PEERS * PER_PEER; ++i) {
            send_message(eps[i], i, round, ifaces, PEERS + 1);
        }
    }
    wait_for(&inboxes[0], ROUNDS * PEERS * PER_PEER, ifaces, PEERS + 1);
    ck_assert_uint_eq(hub->num_ahs, 1); /* All peers have the same port */
    check_buffers(hub);

    /* Send in the other direction, over the same connections */
    for (unsigned i = 0; i < PEERS * PER_PEER; ++i) {
        send_message(network_connect(hub, ifaces[1 + (i % PEERS)]), i, 0,
                     ifaces, PEERS + 1);
    }
    wait_for(&inboxes[1], PEERS * PER_PEER, ifaces, PEERS + 1);
    ck_assert_uint_eq(network.num_failed, 0);
    network.loss = 0;
    for (unsigned i = 0; i <= PEERS; ++i) {
        ud_iface_close(&ifaces[i]->super);
    }
}

START_TEST(thousands_of_connections_share_a_queue_pair)
{
    meet_many(0);
}
END_TEST

START_TEST(thousands_of_connections_survive_loss)
{
    meet_many(100);
}
END_TEST

/* --- Acknowledgements ----------------------------------------------------- */

enum { STREAM = 4096 }; /* Number of messages */

/* Sends messages in one direction. Returns the number of other packets, which
 * are acknowledgements. `seconds`: time after each message before the receiver
 * polls. */
static uint64_t count_others(double seconds)
{
    uint64_t before, resends;
    pair_t pair;

    open_pair(&pair);
    before  = network.num_packets;
    resends = pair.ep->window.num_resends;
    for (unsigned i = 1; i <= STREAM; ++i) {
        send_message(pair.ep, 0, i, pair.ifaces, 2);
        network.now += seconds;
        progress(pair.ifaces + 1, 1);
        progress(pair.ifaces + 1, 1);
    }
    wait_for(&inboxes[1], 1 + STREAM, pair.ifaces, 2);
    ck_assert_uint_eq(pair.ep->window.num_resends, resends);
    before = network.num_packets - before - STREAM;
    close_pair(&pair);
    return before;
}

/* The number of acknowledgements stays small even if each message takes 100 us,
 * as on an emulated processor. */
START_TEST(acknowledgements_are_few)
{
    static const double seconds[] = {0, 1e-6, 1e-5, 1e-4};

    for (unsigned i = 0; i < 4; ++i) {
        ck_assert_uint_le(count_others(seconds[i]), STREAM / 15);
    }
}
END_TEST

/* --- Malformed packets ---------------------------------------------------- */

/* Returns a packet that the second interface would accept: the next message of
 * the first interface, long enough for a control packet. */
static ud_wire_control_t good_packet(const pair_t *pair)
{
    ud_wire_control_t packet = {{0}};

    packet.head.kind  = UD_MESSAGE;
    packet.head.id    = AM_ID;
    packet.head.magic = htole16(UD_MAGIC);
    packet.head.conn  = htole32(pair->ep->remote);
    packet.head.psn   = htole32(pair->ep->window.tx_psn);
    packet.head.ack   = htole32(pair->ep->window.rx_psn);
    packet.from       = htole32(pair->ep->id);
    packet.to_token   = pair->ifaces[1]->address.token;
    packet.iface      = pair->ifaces[0]->address;
    packet.device     = pair->ifaces[0]->device;
    return packet;
}

static void inject(pair_t *pair, uint32_t from, const void *packet,
                   size_t length)
{
    network_inject(pair->ifaces[1], from, packet, length);
    progress(pair->ifaces, 2);
}

START_TEST(malformed_packets_are_dropped)
{
    static const uint8_t kinds[] = {0, 9, 15};
    ud_wire_control_t packet;
    unsigned bad = 0;
    uint32_t from;
    pair_t pair;

    open_pair(&pair);
    from = pair.ifaces[0]->qp->qp_num;
    for (size_t length = 0; length < sizeof(ud_wire_t); ++length, ++bad) {
        packet = good_packet(&pair);
        inject(&pair, from, &packet, length);
    }
    packet            = good_packet(&pair);
    packet.head.magic = 0x5544;
    inject(&pair, from, &packet, sizeof(packet));
    packet         = good_packet(&pair);
    packet.head.id = UCT_AM_ID_MAX;
    inject(&pair, from, &packet, sizeof(packet));
    bad += 2;
    for (unsigned i = 0; i < sizeof(kinds); ++i, ++bad) {
        packet           = good_packet(&pair);
        packet.head.kind = kinds[i];
        inject(&pair, from, &packet, sizeof(packet));
    }
    packet           = good_packet(&pair);
    packet.head.kind = UD_ACK;
    inject(&pair, from, &packet, sizeof(ud_wire_ack_t) - 1);
    ++bad;
    for (uint8_t kind = UD_CONNECT; kind <= UD_RESET; ++kind, ++bad) {
        packet           = good_packet(&pair);
        packet.head.kind = (uint8_t)kind;
        inject(&pair, from, &packet, sizeof(packet) - 1);
        packet.iface.qpn = htole32(0x1000000); /* A queue pair number has 24
                                                * bits */
        inject(&pair, from, &packet, sizeof(packet));
        ++bad;
    }
    ck_assert_uint_eq(pair.ifaces[1]->num_bad, bad);
    ck_assert_uint_eq(pair.ifaces[1]->num_stale, 0);

    /* Packets of another queue pair, and of unknown connections, are dropped as
     * stale */
    packet = good_packet(&pair);
    inject(&pair, from + 1, &packet, sizeof(packet));
    for (unsigned i = 0; i < 4; ++i) {
        packet.head.conn = htole32(pair.ep->remote ^ (1u << (i * 10)));
        inject(&pair, from, &packet, sizeof(packet));
    }
    ck_assert_uint_eq(pair.ifaces[1]->num_stale, 5);
    ck_assert_uint_eq(inboxes[1].count, 1);

    send_message(pair.ep, 0, 1, pair.ifaces, 2);
    wait_for(&inboxes[1], 2, pair.ifaces, 2);
    ck_assert_uint_eq(network.num_failed, 0);
    close_pair(&pair);
}
END_TEST

/* Control packets with the token of another process, with a wrong id, or with
 * an unreachable address change no connection. */
START_TEST(forged_control_packets_change_nothing)
{
    ud_wire_control_t packet;
    uint32_t from;
    pair_t pair;

    open_pair(&pair);
    from = pair.ifaces[0]->qp->qp_num;
    for (int kind = UD_CONNECT; kind <= UD_RESET; ++kind) {
        for (unsigned field = 0; field < 4; ++field) {
            packet           = good_packet(&pair);
            packet.head.kind = kind;
            packet.head.conn = (kind == UD_CONNECT) ? 0 : packet.head.conn;
            switch (field) {
            case 0:
                packet.to_token ^= 1;
                break;
            case 1:
                packet.from ^= htole32(1);
                packet.to_token ^= (kind == UD_CONNECT);
                break;
            case 2:
                packet.device.kind = 77;
                packet.iface.token ^= 1;
                break;
            default:
                packet.head.conn = htole32(12345);
                packet.to_token ^= (kind == UD_CONNECT);
                break;
            }
            if (((field == 0) && ((kind == UD_ACCEPT) || (kind == UD_PROBE))) ||
                ((field == 2) && (kind == UD_RESET))) {
                continue; /* This kind of packet does not use this field */
            }
            inject(&pair, from, &packet, sizeof(packet));
        }
    }
    ck_assert_int_eq(pair.peer->state & (UD_EP_FAILED | UD_EP_GONE), 0);
    ck_assert_int_eq(pair.ep->state & (UD_EP_FAILED | UD_EP_GONE), 0);
    send_message(pair.ep, 0, 1, pair.ifaces, 2);
    wait_for(&inboxes[1], 2, pair.ifaces, 2);
    close_pair(&pair);
}
END_TEST

/* Random packets of all kinds except messages: nothing is delivered, and no
 * buffer is lost. */
START_TEST(random_packets_do_no_harm)
{
    unsigned char bytes[NETWORK_MTU];
    ud_wire_control_t packet;
    size_t length;
    pair_t pair;

    open_pair(&pair);
    for (unsigned id = 0; id < UCT_AM_ID_MAX; ++id) {
        pair.ifaces[1]->super.am[id].cb = pair.ifaces[0]->super.am[id].cb;
    }
    for (unsigned i = 0; i < 20000; ++i) {
        memset(bytes, 0, sizeof(bytes));
        packet           = good_packet(&pair);
        packet.head.kind = (uint8_t)network_random(256);
        memcpy(bytes, &packet, sizeof(packet));
        for (uint64_t num = network_random(4); num > 0; --num) {
            bytes[network_random(sizeof(packet))] = (unsigned char)
                network_random(256);
        }
        length = network_random(sizeof(bytes));
        if (((bytes[0] & UD_KIND_MASK) == UD_MESSAGE) &&
            (length >= sizeof(ud_wire_t))) {
            /* A message might be valid and then would be delivered. */
            bytes[0] ^= UD_MESSAGE ^ UD_NOTHING;
        }
        inject(&pair, pair.ifaces[0]->qp->qp_num, bytes, length);
        check_buffers(pair.ifaces[1]);
    }
    ck_assert_uint_eq(inboxes[1].count, 1);
    ck_assert_uint_gt(pair.ifaces[1]->num_bad, 0);
    ck_assert_uint_gt(pair.ifaces[1]->num_stale, 0);
    close_pair(&pair);
}
END_TEST

/* --- Peers that restart or are silent ------------------------------------- */

/* Calls progress of the first `num` interfaces until the failure of an endpoint
 * is reported, and checks its status. */
static void wait_failed(pair_t *pair, unsigned num, ucs_status_t status)
{
    for (int i = 0; (i < 100 * MAX_ROUNDS) && (network.num_failed == 0); ++i) {
        progress(pair->ifaces, num);
    }
    ck_assert_uint_eq(network.num_failed, 1);
    ck_assert_int_eq(network.fail_status, status);
}

/* The peer's process is killed. A new process has the same queue pair
 * number. */
START_TEST(restarted_peer_resets_the_connection)
{
    ud_ep_t *ep;
    pair_t pair;

    open_pair(&pair);
    network.loss     = 1000; /* As if the process were killed: the packets that
                              * closing the interface sends do not arrive */
    network.next_qpn = pair.ifaces[1]->qp->qp_num;
    ud_iface_close(&pair.ifaces[1]->super);
    network.loss   = 0;
    pair.ifaces[1] = network_open(on_message, &inboxes[1]);
    ck_assert_uint_eq(pair.ifaces[1]->qp->qp_num, network.next_qpn);

    inboxes[1] = (inbox_t){0};
    ck_assert_int_eq(try_send(pair.ep, 0, 1), UCS_OK);
    wait_failed(&pair, 2, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(try_send(pair.ep, 0, 2), UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(inboxes[1].count, 0);

    ep = network_connect(pair.ifaces[0], pair.ifaces[1]);
    send_message(ep, 0, 0, pair.ifaces, 2);
    wait_for(&inboxes[1], 1, pair.ifaces, 2);
    ud_ep_destroy(&ep->super);
    ud_ep_destroy(&pair.ep->super);
    close_pair(&pair);
}
END_TEST

START_TEST(silent_peer_times_out)
{
    double start;
    pair_t pair;

    open_pair(&pair);
    ck_assert_int_eq(try_send(pair.ep, 0, 1), UCS_OK);
    wait_for(&inboxes[1], 2, pair.ifaces, 2);
    start        = network.now;
    network.loss = 1000;
    ck_assert_int_eq(try_send(pair.ep, 0, 2), UCS_OK);
    wait_failed(&pair, 1, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_double_ge(network.now - start, 5);
    ck_assert_double_le(network.now - start, 6);
    network.loss = 0;
    ud_ep_destroy(&pair.ep->super);
    close_pair(&pair);
}
END_TEST

/* Advances the simulated time by `seconds`, in which the user calls progress
 * and the service runs. */
static void pass_time(ud_iface_t **ifaces, unsigned num, double seconds)
{
    double end = network.now + seconds;

    while (network.now < end) {
        network.now += 0.02;
        progress(ifaces, num);
        for (unsigned i = 0; i < num; ++i) {
            network_serve(ifaces[i]);
        }
    }
}

/* A request of the first interface has created an endpoint of the second one.
 * The user of the second interface does not use it, so only the service's
 * checks (ud_service_check()) show that the process of the first interface was
 * killed. */
START_TEST(forsaken_endpoint_ends_with_its_peer)
{
    uint64_t packets;
    pair_t pair;

    open_pair(&pair);
    packets = network.num_packets;
    pass_time(pair.ifaces, 2, 30);
    ck_assert_uint_eq(pair.ifaces[1]->num_eps, 1);
    ck_assert_uint_le(network.num_packets - packets, 60);
    send_message(pair.ep, 0, 1, pair.ifaces, 2);
    wait_for(&inboxes[1], 2, pair.ifaces, 2);

    network.loss = 1000;
    ud_iface_close(&pair.ifaces[0]->super);
    network.loss = 0;
    pass_time(&pair.ifaces[1], 1, 10);
    ck_assert_uint_eq(pair.ifaces[1]->num_eps, 0);
    ck_assert_uint_eq(network.num_failed, 0);
    check_buffers(pair.ifaces[1]);
    ud_iface_close(&pair.ifaces[1]->super);
}
END_TEST

static void count_completion(uct_completion_t *completion)
{
    ck_assert_int_eq(completion->status, UCS_OK);
    ++completion->count; /* ucx_complete() has set the count to 0 */
}

/* The service has received the acknowledgement of a zero-copy message, but only
 * the user's progress calls its completion. A flush must not complete before
 * this call. */
START_TEST(flush_waits_for_completions_that_the_service_left)
{
    uct_completion_t completion = {.func = count_completion, .count = 1};
    message_t message           = {0, 1};
    struct ibv_mr mr            = {0};
    ib_region_t region          = {.mr = &mr};
    uct_iov_t iov               = {&message, sizeof(message), &region, 0, 1};
    pair_t pair;

    open_pair(&pair);
    ck_assert_int_eq(ud_ep_am_zcopy(&pair.ep->super, AM_ID, NULL, 0, &iov, 1, 0,
                                    &completion),
                     UCS_INPROGRESS);
    wait_for(&inboxes[1], 2, &pair.ifaces[1], 1);
    network_serve(pair.ifaces[0]);
    ck_assert(ucx_window_is_idle(&pair.ep->window));
    ck_assert_int_eq(ud_ep_flush(&pair.ep->super, 0, NULL), UCS_INPROGRESS);
    ck_assert_int_eq(ud_iface_flush(&pair.ifaces[0]->super, 0, NULL),
                     UCS_INPROGRESS);
    progress(pair.ifaces, 1);
    ck_assert_int_eq(completion.count, 1);
    ck_assert_int_eq(ud_ep_flush(&pair.ep->super, 0, NULL), UCS_OK);
    ck_assert_int_eq(ud_iface_flush(&pair.ifaces[0]->super, 0, NULL), UCS_OK);
    ud_ep_destroy(&pair.ep->super);
    close_pair(&pair);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        thousands_of_connections_share_a_queue_pair,
        thousands_of_connections_survive_loss,
        acknowledgements_are_few,
        malformed_packets_are_dropped,
        forged_control_packets_change_nothing,
        random_packets_do_no_harm,
        restarted_peer_resets_the_connection,
        silent_peer_times_out,
        forsaken_endpoint_ends_with_its_peer,
        flush_waits_for_completions_that_the_service_left,
    };

    return suite_run("ud_network", tests, sizeof(tests) / sizeof(tests[0]),
                     240);
}
