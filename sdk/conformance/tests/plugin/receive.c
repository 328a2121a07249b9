/* SPDX-License-Identifier: BSD-3-Clause */
/* Received messages, in buffers that a receiver may keep. */
#include "probe.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Layout of a buffer from malloc(). `padding` is chosen so that the message is
 * aligned; `origin` is the pointer that malloc() returned; `owner` is used by
 * ucx_recv_desc_set().
 *
 *   | padding | origin | owner | headroom | message |
 *             ^ probe_message_t.buffer
 */
enum { FRONT = 2 * sizeof(void *) };

static char *buffer_new(const probe_iface_t *iface)
{
    const size_t front = FRONT + iface->headroom;
    uintptr_t message;
    char *origin, *buffer;

    origin = malloc(front + iface->alignment + PROBE_SEG_SIZE);
    if (origin == NULL) {
        return NULL;
    }
    message = ((uintptr_t)origin + front + iface->align_offset +
               iface->alignment - 1) /
                  iface->alignment * iface->alignment -
              iface->align_offset;
    buffer = origin + (message - front - (uintptr_t)origin);
    memcpy(buffer, &origin, sizeof(origin));
    return buffer;
}

static void buffer_free(char *buffer)
{
    char *origin;

    memcpy(&origin, buffer, sizeof(origin));
    free(origin);
}

static void release_desc(ucx_recv_desc_owner_t *owner, void *desc)
{
    buffer_free((char *)desc - FRONT);
}

static void deliver(probe_iface_t *iface, const probe_message_t *message)
{
    ucx_recv_desc_set(message->buffer + FRONT, &iface->owner);
    if (ucx_iface_deliver_am(&iface->super, message->id,
                             message->buffer + FRONT + iface->headroom,
                             message->length,
                             UCT_CB_PARAM_FLAG_DESC) != UCS_INPROGRESS) {
        buffer_free(message->buffer);
    }
}

void probe_receive_init(probe_iface_t *iface, const uct_iface_params_t *params)
{
    const size_t word = sizeof(void *);
    size_t alignment = 1, offset = 0;

    if (params->field_mask & UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT) {
        alignment = params->am_alignment;
    }
    if (params->field_mask & UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET) {
        offset = params->am_align_offset;
    }
    iface->owner.release = release_desc;
    /* `origin` and `owner` must be aligned to words. If the requested alignment
     * contradicts that, the interface does not have
     * UCX_IFACE_FLAG_ALIGNS_AM. */
    iface->is_aligned    = (iface->headroom + offset) % word == 0;
    iface->alignment     = word;
    iface->align_offset  = (word - iface->headroom % word) % word;
    if (iface->is_aligned && (alignment > word) && !probe_breaks("misaligns")) {
        iface->alignment    = alignment;
        iface->align_offset = offset;
    }
}

static void spin(double seconds)
{
    struct timespec now;
    double end = 0;

    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (end == 0) {
            end = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
        }
    } while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < end);
}

int probe_receive(probe_iface_t *iface)
{
    size_t front = FRONT + iface->headroom;
    char *buffer = buffer_new(iface);
    probe_header_t header;
    struct iovec iov[] = {
        {&header, sizeof(header)},
        {buffer + front, PROBE_SEG_SIZE},
    };
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    ssize_t length    = -1;
    probe_message_t message;

    if (buffer != NULL) {
        length = recvmsg(iface->socket, &msg, MSG_DONTWAIT);
    }
    if (length < 0) {
        if (buffer != NULL) {
            buffer_free(buffer);
        }
        return 0;
    }
    if (((size_t)length < sizeof(header)) || (header.magic != PROBE_MAGIC) ||
        (header.id >= UCT_AM_ID_MAX)) {
        buffer_free(buffer); /* A keepalive, or a datagram that is not from this
                              * transport */
        return 1;
    }

    ++iface->received;
    if (probe_breaks("slower-than-stated")) {
        usleep(3000);
    } else if (probe_breaks("ten-times-slower")) {
        spin(9 * (PROBE_LATENCY + 2 * PROBE_OVERHEAD));
    }
    if (probe_breaks("loses") && (iface->received % 100 == 0)) {
        buffer_free(buffer);
        return 1;
    }
    if (probe_breaks("damages") && (length > 4096)) {
        buffer[front + 4000] ^= 1;
    }
    message = (probe_message_t){buffer, (unsigned)(length - sizeof(header)),
                                header.id};
    if (probe_breaks("reorders") && (iface->received == 3)) {
        iface->held = message;
        return 1;
    }
    deliver(iface, &message);
    if (iface->held.buffer != NULL) {
        deliver(iface, &iface->held);
        iface->held.buffer = NULL;
    }
    return 1;
}
