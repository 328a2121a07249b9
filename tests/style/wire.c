/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the messages that UCP sends over the network, as the code defines
 * them. Each line is one message: its id, its name, and the size of its header
 * in bytes, or "-" if the header has no fixed size. The last line is "last" and
 * the number of ids. wire.py compares these lines with docs/WIRE.md.
 */
#include "ucp/am/am.h"
#include "ucp/amo/amo.h"
#include "ucp/core/ep_life.h"
#include "ucp/learn/timing.h"
#include "ucp/multi/multi.h"
#include "ucp/rma/rma.h"
#include "ucp/rndv/rndv.h"
#include "ucp/stream/stream.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/offload.h"
#include "ucp/tag/rndv.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/fragments.h"

#include <stdio.h>

/* Entries of `messages`. HEAD: the header of the message is the structure
 * _type. NO_HEAD: the message has no header of fixed size. */
#define HEAD(_name, _type) \
    { \
        UCP_AM_ID_##_name, #_name, sizeof(_type) \
    }
#define NO_HEAD(_name) \
    { \
        UCP_AM_ID_##_name, #_name, 0 \
    }

static const struct {
    unsigned id;
    const char *name;
    size_t head; /* Bytes of the header; 0: no fixed size */
} messages[] = {
    HEAD(INTRODUCE, ucp_introduce_t),
    HEAD(FAREWELL, ucp_wire_end_t),
    HEAD(EAGER, ucp_eager_hdr_t),
    HEAD(EAGER_SYNC, ucp_eager_sync_hdr_t),
    HEAD(EAGER_SYNC_ACK, ucp_eager_sync_ack_t),
    HEAD(RNDV_RTS, ucp_tag_rts_t),
    HEAD(RNDV_RTR, ucp_rndv_rtr_t),
    HEAD(RNDV_DATA, ucp_rndv_data_t),
    HEAD(RNDV_DONE, ucp_rndv_done_t),
    HEAD(RNDV_ATS, ucp_rndv_ats_t),
    HEAD(AM, ucp_am_head_t),
    HEAD(AM_REPLY, ucp_am_head_t),
    {UCP_AM_ID_AM_RNDV, "AM_RNDV",
     sizeof(ucp_am_head_t) + sizeof(ucp_rndv_rts_t)},
    HEAD(PUT, ucp_rma_put_t),
    HEAD(GET, ucp_rma_get_t),
    HEAD(GET_REPLY, ucp_rma_get_reply_t),
    HEAD(ATOMIC, ucp_amo_t),
    HEAD(ATOMIC_REPLY, ucp_amo_reply_t),
    HEAD(RMA_ACK, ucp_rma_ack_t),
    HEAD(TAG_OFFLOAD, ucp_tag_offload_msg_t),
    HEAD(STREAM, ucp_stream_head_t),
    HEAD(STREAM_OPEN, ucp_stream_open_t),
    HEAD(STREAM_CLOSE, ucp_stream_open_t),
    HEAD(EAGER_FRAGMENT, ucp_multi_fragment_t),
    HEAD(WIREUP_FRAGMENT, ucp_wireup_fragment_t),
    NO_HEAD(WIREUP_REQUEST),
    NO_HEAD(WIREUP_REPLY),
    HEAD(WIREUP_ACK, ucp_wire_end_t),
    HEAD(KEEPALIVE, ucp_wire_end_t),
    HEAD(LOST, ucp_wire_end_t),
    HEAD(PROBE, ucp_probe_t),
};

int main(void)
{
    size_t i;

    for (i = 0; i < sizeof(messages) / sizeof(messages[0]); ++i) {
        printf("%u %s ", messages[i].id, messages[i].name);
        if (messages[i].head > 0) {
            printf("%zu\n", messages[i].head);
        } else {
            printf("-\n");
        }
    }
    printf("last %u\n", (unsigned)UCP_AM_ID_LAST);
    return 0;
}
