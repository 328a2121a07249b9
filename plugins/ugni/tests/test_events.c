/* SPDX-License-Identifier: BSD-3-Clause */
/* Event descriptors of ugni: interfaces of a user who may sleep have one, those
 * of a user who only polls have none. The two kinds exchange messages. */
#include "node.h"

#include <poll.h>

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

int main(void)
{
    TCase *tcase = tcase_create("events");

    tcase_add_test(tcase, only_a_user_who_sleeps_gets_a_descriptor);
    return node_run(tcase);
}
