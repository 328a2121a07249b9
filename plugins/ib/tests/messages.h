/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages between interfaces of ud_verbs over a simulated device, and
 * the inboxes that check their order. */
#ifndef IB_TEST_MESSAGES_H
#define IB_TEST_MESSAGES_H

#include "network.h"

#include <check.h>
#include <string.h>

enum {
    AM_ID       = 5,      /* Id of the active messages */
    MAX_SENDERS = 2000,   /* Maximum number of endpoints that send */
    MAX_ROUNDS  = 200000, /* Number of rounds of progress until a test fails */
};

/* Messages that an interface, or several interfaces, have received. */
typedef struct inbox {
    unsigned count;             /* Number of messages */
    unsigned next[MAX_SENDERS]; /* Expected message_t.number of the next
                                      * message, by message_t.sender */
} inbox_t;

typedef struct message {
    uint32_t sender, number; /* Number of the sending endpoint; number of the
                              * message among those of this sender, from 0 */
} message_t;

static inbox_t inboxes[2];

static inline ucs_status_t on_message(void *arg, void *data, size_t length,
                                      unsigned flags)
{
    inbox_t *inbox = arg;
    message_t message;

    ck_assert_uint_eq(length, sizeof(message));
    memcpy(&message, data, sizeof(message));
    ck_assert_uint_lt(message.sender, MAX_SENDERS);
    ck_assert_uint_eq(message.number, inbox->next[message.sender]);
    ++inbox->next[message.sender];
    ++inbox->count;
    return UCS_OK;
}

static inline void setup(void)
{
    memset(inboxes, 0, sizeof(inboxes));
    network_reset();
}

static inline ucs_status_t try_send(ud_ep_t *ep, uint32_t sender,
                                    uint32_t number)
{
    const message_t message = {sender, number};
    uint64_t header;

    memcpy(&header, &message, sizeof(header));
    return ud_ep_am_short(&ep->super, AM_ID, header, &header, 0);
}

static inline void progress(ud_iface_t **ifaces, unsigned num)
{
    for (unsigned i = 0; i < num; ++i) {
        (void)ud_iface_progress(&ifaces[i]->super);
    }
}

static inline void send_message(ud_ep_t *ep, uint32_t sender, uint32_t number,
                                ud_iface_t **ifaces, unsigned num)
{
    ucs_status_t status;

    for (int i = 0; i < MAX_ROUNDS; ++i) {
        status = try_send(ep, sender, number);
        if (status != UCS_ERR_NO_RESOURCE) {
            break;
        }
        progress(ifaces, num);
    }
    ck_assert_int_eq(status, UCS_OK);
}

/* Calls progress of the interfaces until the inbox has `count` messages. */
static inline void wait_for(const inbox_t *inbox, unsigned count,
                            ud_iface_t **ifaces, unsigned num)
{
    for (int i = 0; (i < MAX_ROUNDS) && (inbox->count < count); ++i) {
        progress(ifaces, num);
    }
    ck_assert_uint_eq(inbox->count, count);
}

/* Checks that no receive buffer is lost: each is posted, free, or holds a
 * packet received out of order. */
static inline void check_buffers(const ud_iface_t *iface)
{
    unsigned kept = 0;

    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        if (iface->slots[i].ep != NULL) {
            kept += iface->slots[i].ep->window.num_kept;
        }
    }
    ck_assert_uint_eq(iface->num_recv_posted + iface->num_recv_free + kept,
                      iface->num_recv);
}

#endif
