/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer process: executes requests in order. */
#include "peer_serve.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pattern.h"
#include "usage.h"

#define FLUSH_SECONDS 1.0
#define STUCK_SECONDS \
    0.1 /* If a message does not leave for this time, it does not leave without
         * progress of the other side */

/* The memory that the other side accesses. Only one block exists at a time. */
static memory_t shown;

static ucs_status_t tell_address(party_t *party, peer_message_t *message)
{
    ucs_status_t status;

    message->blob_size  = party->attr->device_addr_len;
    message->blob2_size = 0;
    if ((party->attr->device_addr_len > PEER_BLOB_MAX) ||
        (party->attr->iface_addr_len > PEER_BLOB_MAX)) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    status = uct_iface_get_device_address(party->iface,
                                          (uct_device_addr_t *)message->blob);
    if ((status == UCS_OK) &&
        (party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        message->blob2_size = party->attr->iface_addr_len;
        status              = uct_iface_get_address(party->iface,
                                                    (uct_iface_addr_t *)message->blob2);
    }
    return status;
}

static ucs_status_t create_ep(party_t *party, peer_message_t *message)
{
    uct_ep_params_t params = {
        .field_mask        = UCT_EP_PARAM_FIELD_IFACE,
        .iface             = party->iface,
        .dev_addr          = (uct_device_addr_t *)message->blob,
        .dev_addr_length   = message->blob_size,
        .iface_addr        = (uct_iface_addr_t *)message->blob2,
        .iface_addr_length = message->blob2_size,
    };
    ucs_status_t status;

    if (party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR |
                             UCT_EP_PARAM_FIELD_IFACE_ADDR |
                             UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH |
                             UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH;
    }

    status             = uct_ep_create(&params, &party->ep);
    message->blob_size = 0;
    if ((status == UCS_OK) &&
        !(party->attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        message->blob_size = size_min(party->attr->ep_addr_len, PEER_BLOB_MAX);
        status = uct_ep_get_address(party->ep, (uct_ep_addr_t *)message->blob);
    }
    return status;
}

static ucs_status_t send_messages(party_t *party, const peer_message_t *message)
{
    ucs_status_t status = UCS_OK;
    uint64_t i;

    for (i = 0; (i < message->count) && (status == UCS_OK); ++i) {
        status = party_send(party, message->kind, message->length, 0, 1);
    }
    return status;
}

/* Flushes the endpoint with a time limit in seconds. The other side may not
 * progress; then a transport with acknowledgements cannot complete the
 * flush. */
static ucs_status_t flush_ep(party_t *party, double seconds)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;

    party_wait(party,
               (status = uct_ep_flush(party->ep, UCT_FLUSH_FLAG_LOCAL, NULL)) ==
                   UCS_OK,
               seconds);
    return status;
}

/* Executes PEER_SEND_MANY: counts in message->value the messages that are sent
 * and flushed. Retries a send for STUCK_SECONDS, because the transport may need
 * progress of this side to get send resources. */
static ucs_status_t send_many(party_t *party, peer_message_t *message)
{
    ucs_status_t status = UCS_OK;

    message->value = 0;
    while ((message->value < message->count) && (status == UCS_OK)) {
        party_wait(party,
                   (status = party_try(party, message->kind, message->length, 0,
                                       1, NULL)) != UCS_ERR_NO_RESOURCE,
                   STUCK_SECONDS);
        if (status >= UCS_OK) {
            status = flush_ep(party, (message->value == 0) ? FLUSH_SECONDS :
                                                             STUCK_SECONDS);
        }
        message->value += (status == UCS_OK);
    }
    return (message->value > 0) ? UCS_OK : status;
}

/* --- Memory -------------------------------------------------------------- */

static ucs_status_t show_memory(party_t *party, peer_message_t *message)
{
    ucs_status_t status = memory_get(party->md, message->length, &shown);
    uct_md_attr_t attr;

    if (status != UCS_OK) {
        return status;
    }

    uct_md_query(party->md, &attr);
    message->value     = (uintptr_t)shown.address;
    message->blob_size = size_min(attr.rkey_packed_size, PEER_BLOB_MAX);
    if ((message->blob_size > 0) && (shown.memh != UCT_MEM_HANDLE_NULL)) {
        status = uct_md_mkey_pack(party->md, shown.memh, message->blob);
        if (status != UCS_OK) {
            memory_put(&shown);
        }
    }
    return status;
}

static void set_memory(const peer_message_t *message)
{
    char *from = (char *)(uintptr_t)message->value;

    if (message->count == 0) {
        memset(from, 0, message->length);
    } else {
        pattern_fill(from, message->count, 0, message->length);
    }
}

static void check_memory_range(peer_message_t *message)
{
    const char *from = (const char *)(uintptr_t)message->value;
    size_t i;

    if (message->count > 0) {
        message->value = pattern_find_bad(from, message->count, 0,
                                          message->length);
        return;
    }
    for (i = 0; (i < message->length) && (from[i] == 0); ++i) {
    }
    message->value = i;
}

static void read_word(peer_message_t *message)
{
    const void *from = (const void *)(uintptr_t)message->value;

    message->value = (message->length == sizeof(uint32_t)) ?
                         *(const volatile uint32_t *)from :
                         *(const volatile uint64_t *)from;
}

/* ------------------------------------------------------------------------ */

static void tell_usage(party_t *party, peer_message_t *message)
{
    usage_t usage;

    party_settle(party, 0.05);
    usage_take(&usage);
    message->count = usage.fds;
}

void peer_execute(party_t *party, peer_message_t *message)
{
    message->status = UCS_OK;
    switch (message->op) {
    case PEER_ADDRESS:
        message->status = tell_address(party, message);
        break;
    case PEER_EP_CREATE:
        message->status = create_ep(party, message);
        break;
    case PEER_EP_CONNECT:
        message->status =
            uct_ep_connect_to_ep(party->ep, (uct_device_addr_t *)message->blob,
                                 (uct_ep_addr_t *)message->blob2);
        break;
    case PEER_EP_DESTROY:
        uct_ep_destroy(party->ep);
        party->ep = NULL;
        break;
    case PEER_SEND:
        message->status = send_messages(party, message);
        break;
    case PEER_SEND_MANY:
        message->status = send_many(party, message);
        break;
    case PEER_FLUSH:
        message->status = flush_ep(party, FLUSH_SECONDS);
        break;
    case PEER_STATS:
        party_settle(party, 0.05);
        party_release_kept(party);
        message->rx = party->rx;
        break;
    case PEER_RESET:
        memset(&party->rx, 0, sizeof(party->rx));
        party->rushes = 0;
        break;
    case PEER_ECHO:
        memset(&party->rx, 0, sizeof(party->rx));
        party->rushes = 1;
        break;
    case PEER_MEM_GET:
        message->status = show_memory(party, message);
        break;
    case PEER_MEM_SET:
        set_memory(message);
        break;
    case PEER_MEM_CHECK:
        check_memory_range(message);
        break;
    case PEER_MEM_WORD:
        read_word(message);
        break;
    case PEER_MEM_PUT:
        message->status = memory_put(&shown);
        break;
    case PEER_USAGE:
        tell_usage(party, message);
        break;
    case PEER_SEND_LATER:
    case PEER_TOSS:
    case PEER_HOLD:
        break;
    }
}

static void echo(party_t *party, const peer_message_t *message)
{
    ucs_status_t status = UCS_OK;
    party_kind_t kind;
    uint64_t i;

    kind = party_small_kind(party);
    for (i = 1; (i <= message->count) && (status == UCS_OK); ++i) {
        if (!party_wait(party, party->rx.count >= i * message->value,
                        PARTY_PATIENCE)) {
            return; /* The other side reports the error */
        }
        party_wait(party,
                   (status = party_try(party, kind, party_min(party, kind), 0,
                                       1, NULL)) != UCS_ERR_NO_RESOURCE,
                   PARTY_PATIENCE);
    }
}

int peer_execute_later(party_t *party, const peer_message_t *message)
{
    if (message->op == PEER_SEND_LATER) {
        party_wait(party, 0, (double)message->value * 1e-6);
        send_messages(party, message);
    }
    if (message->op == PEER_ECHO) {
        echo(party, message);
    } else if (message->op == PEER_TOSS) {
        party_answer_tosses(party, message->count);
    }
    return message->op != PEER_HOLD;
}

void peer_serve(party_t *party, int fd)
{
    static peer_message_t message;
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    int runs          = 1;
    ssize_t length;

    for (;;) {
        if (runs && (poll(&pfd, 1, 0) == 0)) {
            if (party_progress(party) == 0) {
                sched_yield();
            }
            continue;
        }

        length = recv(fd, &message, sizeof(message), 0);
        if ((length < 0) && (errno == EINTR)) {
            continue;
        } else if (length != sizeof(message)) {
            break;
        }
        peer_execute(party, &message);
        if (send(fd, &message, sizeof(message), MSG_NOSIGNAL) < 0) {
            break;
        }
        runs = peer_execute_later(party, &message);
    }

    if (party->ep != NULL) {
        uct_ep_destroy(party->ep);
    }
    party_close(party);
    _exit(0);
}
