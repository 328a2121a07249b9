/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages of UCP in this fuzz target: the user's handlers, and the
 * messages of the peer. A handler keeps, fetches, releases or rejects the data,
 * or closes an endpoint.
 */
#include "run.h"

#include "ucp/am/am.h"
#include "ucp/rndv/rndv.h"

#include <ucp/api/ucp_compat.h>

enum {
    /* Ids of messages: 0: an ordinary handler; 1: a handler with persistent
     * data; 2 and 3: handlers of the deprecated interface; 4: no handler */
    NUM_IDS   = 5,
    OLD_ID    = 2,  /* First id with a handler of the deprecated interface */
    MAX_SHOWN = 64, /* Bytes that a handler reads at each end of the data */
};

/* Reads the start and the end of the data, so that a sanitizer detects invalid
 * memory. */
static void look_at(const void *data, size_t length)
{
    const volatile char *bytes = data;
    size_t i;

    for (i = 0; i < length; ++i) {
        if ((i < MAX_SHOWN) || (length - i <= MAX_SHOWN)) {
            (void)bytes[i];
        }
    }
}

/* Keeps the data for a later step, unless MAX_KEPT messages are kept. */
static void keep(void *data)
{
    if (fuzz.num_kept < MAX_KEPT) {
        fuzz.kept[fuzz.num_kept++] = data;
    }
}

/* Starts to receive the data; if that is not possible, releases the data. */
static void fetch(void *data, size_t size, unsigned kind)
{
    if (!fuzz_fetch(data, size, kind)) {
        ucp_am_data_release(fuzz.worker, data);
    }
}

/* Acts as the handler of a message, and returns the handler's status. The
 * length of the message selects the action. may_keep: the handler may keep the
 * data after it has returned. */
static ucs_status_t answer(void *data, size_t length, int may_keep)
{
    switch (length % 7) {
    case 1:
        if (may_keep) {
            keep(data);
            return UCS_INPROGRESS;
        }
        return UCS_OK;
    case 2:
        if (may_keep) {
            ucp_am_data_release(fuzz.worker, data);
        }
        return UCS_OK;
    case 3:
        if (may_keep) {
            fetch(data, 5000, (unsigned)(length % 3));
        }
        return UCS_INPROGRESS;
    case 4:
        return UCS_ERR_NO_MEMORY;
    case 5:
        fuzz_close_ep((unsigned)(length % NUM_EPS), 1);
        if (may_keep) {
            keep(data);
            return UCS_INPROGRESS;
        }
        return UCS_OK;
    default:
        return UCS_OK;
    }
}

static ucs_status_t on_message(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    int rndv     = !!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    int may_keep = rndv || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA);

    look_at(header, header_length);
    if (!rndv) {
        look_at(data, length);
    }
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) &&
        (length % 3 == 1)) {
        fuzz_send_reply(param->reply_ep);
    }
    return answer(data, length, may_keep);
}

static ucs_status_t on_old_message(void *arg, void *data, size_t length,
                                   ucp_ep_h reply_ep, unsigned flags)
{
    look_at(data, length);
    return answer(data, length, !!(flags & UCP_CB_PARAM_FLAG_DATA));
}

void fuzz_set_handlers(void)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .cb = on_message,
    };

    for (param.id = 0; param.id < OLD_ID; ++param.id) {
        param.flags = (param.id == 1) ? UCP_AM_FLAG_PERSISTENT_DATA : 0;
        check(ucp_worker_set_am_recv_handler(fuzz.worker, &param) == UCS_OK,
              "no handler");
    }
    for (; param.id < NUM_IDS - 1; ++param.id) {
        check(ucp_worker_set_am_handler(fuzz.worker, (uint16_t)param.id,
                                        on_old_message, NULL, 0) == UCS_OK,
              "no old handler");
    }
    fuzz.num_kept = 0;
}

void fuzz_use_kept(reader_t *reader)
{
    unsigned choice = next(reader);
    size_t size     = next_size(reader);

    if (fuzz.num_kept == 0) {
        return;
    }
    if (choice & 1) {
        fetch(fuzz.kept[--fuzz.num_kept], size, choice / 2);
    } else {
        ucp_am_data_release(fuzz.worker, fuzz.kept[--fuzz.num_kept]);
    }
}

/* ------------------------------------------------------ the hostile peer -- */

uint64_t fuzz_next_word(reader_t *reader, size_t header_length)
{
    unsigned id    = next(reader);
    unsigned wrong = next(reader);

    return ucp_am_word((id < 200) ? id % NUM_IDS : id << 8, wrong % 16,
                       (wrong & 128) ? (size_t)wrong << 20 :
                       (wrong & 64)  ? header_length + 1 :
                                       header_length);
}

void fuzz_say_am(reader_t *reader)
{
    char message[sizeof(ucp_am_head_t) + 2 * 255 + sizeof(ucp_wire_end_t)] = {
        0,
    };
    ucp_am_head_t *head  = (ucp_am_head_t *)message;
    size_t header_length = next(reader);
    size_t length        = sizeof(*head) + header_length + next(reader);
    int reply            = next(reader) & 1;
    ucp_wire_end_t end;

    head->word = ucp_le64(fuzz_next_word(reader, header_length));
    if (reply) {
        end = fuzz_next_end(reader);
        memcpy(message + length, &end, sizeof(end));
        length += sizeof(end);
    }
    fuzz_deliver(reply ? UCP_AM_ID_AM_REPLY : UCP_AM_ID_AM, message, length);
}

void fuzz_say_am_rts(reader_t *reader)
{
    char message[sizeof(ucp_am_head_t) + sizeof(ucp_rndv_rts_t) + MAX_KEYS +
                 255]    = {0};
    ucp_am_head_t *head  = (ucp_am_head_t *)message;
    ucp_rndv_rts_t *rts  = (ucp_rndv_rts_t *)(head + 1);
    size_t header_length = next(reader);
    size_t size;

    head->word = ucp_le64(fuzz_next_word(reader, header_length));
    size       = fuzz_next_rts(reader, rts);
    fuzz_deliver(UCP_AM_ID_AM_RNDV, message,
                 sizeof(*head) + size + header_length);
}
