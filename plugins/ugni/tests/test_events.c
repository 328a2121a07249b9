/* SPDX-License-Identifier: BSD-3-Clause */
/* Event descriptors of ugni: interfaces of a user who may sleep have one, those
 * of a user who only polls have none. The two kinds exchange messages. A user
 * who sleeps wakes up for the checks of peers. */
#include "node.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_silent;    /* No host acknowledges data */
static unsigned lookups; /* Number of sockets that were examined meanwhile */

/* Replaces the function of the C library in all libraries of the process. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int rc = (int)syscall(SYS_getsockopt, fd, level, name, value, length);

    if ((rc == 0) && is_silent && (level == IPPROTO_TCP) &&
        (name == TCP_INFO)) {
        ((struct tcp_info *)value)->tcpi_retransmits   = 1;
        ((struct tcp_info *)value)->tcpi_last_ack_recv = 1000000;
        ++lookups;
    }
    return rc;
}

static uint64_t event_flags(const node_t *node, int kind)
{
    uct_iface_attr_t attr;

    ASSERT_OK(uct_iface_query(node->ifaces[kind], &attr));
    return attr.cap.event_flags;
}

/* Sleeps until a message wakes the node. */
static void sleep_until_received(node_t *node, node_t *peer, uct_ep_h to_node)
{
    struct pollfd set = {.events = POLLIN};
    uct_iface_h iface = node->ifaces[NODE_SMSG];
    ucs_status_t status;

    ASSERT_OK(uct_iface_event_fd_get(iface, &set.fd));
    while ((status = uct_iface_event_arm(iface, UCT_EVENT_RECV)) ==
           UCS_ERR_BUSY) {
        uct_worker_progress(node->worker);
    }
    ASSERT_OK(status);
    ASSERT_OK(uct_ep_am_short(to_node, NODE_AM_ID, 7, NULL, 0));
    while (poll(&set, 1, 0) == 0) {
        uct_worker_progress(peer->worker);
    }
    NODE_WAIT(node, peer, node->last == 7);
}

START_TEST(only_a_user_who_sleeps_gets_a_descriptor)
{
    uct_ep_h to_sleeper, to_poller;
    node_t sleeper, poller;
    domain_t domain;

    domain_open(&domain);
    node_open(&sleeper, &domain);
    node_open_polled(&poller, &domain);
    for (int kind = 0; kind < NODE_KINDS; ++kind) {
        ck_assert_uint_ne(event_flags(&sleeper, kind) & UCT_IFACE_FLAG_EVENT_FD,
                          0);
        ck_assert_uint_eq(event_flags(&poller, kind), 0);
    }
    ASSERT_OK(node_connect(&poller, NODE_SMSG, &sleeper, &to_sleeper));
    ASSERT_OK(node_connect(&sleeper, NODE_SMSG, &poller, &to_poller));
    node_say(&sleeper, to_poller, &poller, 5);
    node_say(&poller, to_sleeper, &sleeper, 6);
    ASSERT_OK(node_flush(&poller, to_sleeper, &sleeper));
    ASSERT_OK(node_flush(&sleeper, to_poller, &poller));
    sleep_until_received(&sleeper, &poller, to_sleeper);
    uct_ep_destroy(to_sleeper);
    uct_ep_destroy(to_poller);
    node_close(&poller);
    node_close(&sleeper);
    uct_md_close(domain.md);
}
END_TEST

/* Two nodes and an endpoint of each to the other one. They have exchanged
 * messages. */
typedef struct couple {
    domain_t domain;
    node_t a, b;
    uct_ep_h to_a, to_b;
} couple_t;

static void couple_open(couple_t *couple)
{
    domain_open(&couple->domain);
    node_open(&couple->a, &couple->domain);
    node_open(&couple->b, &couple->domain);
    ASSERT_OK(node_connect(&couple->a, NODE_SMSG, &couple->b, &couple->to_b));
    ASSERT_OK(node_connect(&couple->b, NODE_SMSG, &couple->a, &couple->to_a));
    node_say(&couple->a, couple->to_b, &couple->b, 1);
    node_say(&couple->b, couple->to_a, &couple->a, 1);
}

static void couple_close(couple_t *couple)
{
    uct_ep_destroy(couple->to_a);
    uct_ep_destroy(couple->to_b);
    node_close(&couple->b);
    node_close(&couple->a);
    uct_md_close(couple->domain.md);
}

/* The user of `node` sleeps whenever possible, until an endpoint fails. */
static void sleep_until_failure(node_t *node, node_t *peer)
{
    while (node->failures == 0) {
        node_arm(node);
        if (node->failures == 0) {
            node_sleep(node, peer);
        }
        uct_worker_progress(node->worker);
    }
}

START_TEST(sleeping_receiver_detects_a_lost_message)
{
    couple_t couple;

    setenv("UCX_UGNI_PROVIDER", "strict", 1);
    setenv("STRICT_LOSE", "2", 1);
    setenv("UCX_UGNI_TIMEOUT", "1s", 1);
    couple_open(&couple);
    ASSERT_OK(uct_ep_am_short(couple.to_b, NODE_AM_ID, 2, NULL, 0));
    ASSERT_OK(uct_ep_am_short(couple.to_b, NODE_AM_ID, 3, NULL, 0));
    ASSERT_OK(node_flush(&couple.a, couple.to_b, &couple.b));
    sleep_until_failure(&couple.b, &couple.a);
    ck_assert_int_eq(couple.b.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(couple.b.received, 1);
    couple_close(&couple);
}
END_TEST

START_TEST(sleeping_sender_detects_a_silent_host)
{
    couple_t couple;

    setenv("UCX_UGNI_USER_TIMEOUT", "1s", 1);
    couple_open(&couple);
    ASSERT_OK(node_flush(&couple.a, couple.to_b, &couple.b));
    ASSERT_OK(node_flush(&couple.b, couple.to_a, &couple.a));
    is_silent = 1;
    /* The sockets are examined once a second at most. */
    while (lookups == 0) {
        ASSERT_OK(uct_ep_check(couple.to_b, 0, NULL));
        uct_worker_progress(couple.a.worker);
        uct_worker_progress(couple.b.worker);
    }
    sleep_until_failure(&couple.a, &couple.b);
    ck_assert_int_eq(couple.a.failed, UCS_ERR_ENDPOINT_TIMEOUT);
    is_silent = 0;
    couple_close(&couple);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("events");

    tcase_add_test(tcase, sleeping_receiver_detects_a_lost_message);
    tcase_add_test(tcase, sleeping_sender_detects_a_silent_host);
    tcase_add_test(tcase, only_a_user_who_sleeps_gets_a_descriptor);
    return node_run(tcase);
}
