/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages of the soak test, with four handlers. Data is checked in the
 * handler, kept and released later, or received into memory of any layout;
 * replies use the reply endpoint. A handler runs in any thread of the process
 * and has no actor. */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

enum {
    ID_PLAIN    = 0,
    ID_WHOLE    = 7,
    ID_KEEP     = 300,
    ID_ANSWER   = 65535,
    MAX_USUAL   = 20000,
    MAX_EVER    = 1 << 20,
    RARELY      = 30,
    MORE_HEADER = 150,
};

/* The first bytes of each header; a pattern follows. */
struct header {
    uint64_t name;
    uint32_t length;
    uint16_t header_length;
    uint16_t answer;
};

/* Data that a handler has kept, for am_serve() */
struct kept {
    struct kept *next;
    uint64_t name;
    size_t length;
    void *data; /* Data of the library, or a rendezvous descriptor */
    /* Receive `data` with ucp_am_recv_data_nbx(), otherwise read and release
     * it */
    bool fetch;
};

static uint64_t content(const struct header *header)
{
    return mix(header->name, header->length);
}

/* --- sending ------------------------------------------------------------- */

static void sent(struct actor *actor, struct op *op)
{
    (void)actor;
    if (op->status != UCS_OK) {
        FAIL("%s %llx to %d: %s", op->what, (unsigned long long)op->name,
             op->peer->rank, ucs_status_string(op->status));
    }
    free(op->extra);
}

static struct header *make_header(struct op *op, size_t length, bool answer)
{
    struct header *header = malloc(length);

    EXPECT(header != NULL);
    *header = (struct header){op->name, (uint32_t)op->payload.length,
                              (uint16_t)length, answer};
    pattern_fill(header + 1, op->name, 0, length - sizeof(*header));
    return header;
}

void am_send(struct actor *actor)
{
    static const unsigned ids[] = {ID_PLAIN, ID_WHOLE, ID_KEEP};
    struct random *random       = &actor->random;
    struct op *op               = op_new(actor, "active message", sent);
    size_t header_length        = sizeof(struct header) +
                           random_below(random, MORE_HEADER);
    bool answer = random_below(random, 4) == 0;
    ucp_request_param_t param;

    op->peer = draw_peer(actor);
    op_payload(actor, op,
               draw_length(random,
                           random_below(random, RARELY) ? MAX_USUAL : MAX_EVER),
               draw_layout(random));
    op->name  = name_next(op->peer, AM);
    op->extra = make_header(op, header_length, answer);
    payload_fill(&op->payload, content(op->extra));
    if (answer) {
        atomic_fetch_add(&actor->soak->answers_due, 1);
    }

    param = op_param(actor, op, OP_SEND);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = answer ? UCP_AM_SEND_FLAG_REPLY : 0;
    switch (random_below(random, 6)) {
    case 0:
        param.flags |= UCP_AM_SEND_FLAG_EAGER;
        break;
    case 1:
        param.flags |= UCP_AM_SEND_FLAG_RNDV;
        break;
    case 2:
        param.flags |= UCP_AM_SEND_FLAG_COPY_HEADER;
        break;
    default:
        break;
    }
    op_started(actor, op,
               ucp_am_send_nbx(op->peer->ep, ids[random_below(random, 3)],
                               op->extra, header_length, op->payload.buffer,
                               op->payload.count, &param));
    if (param.flags & UCP_AM_SEND_FLAG_COPY_HEADER) {
        memset(op->extra, 0, header_length);
    }
}

/* --- handlers ------------------------------------------------------------ */

static void answer_sent(void *request, ucs_status_t status, void *arg)
{
    (void)arg;
    EXPECT_OK(status);
    ucp_request_free(request);
}

/* Replies to a message. `name` is invalid when the handler returns, so that the
 * library must copy it (COPY_HEADER). */
static void answer(ucp_ep_h ep, uint64_t name)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_COPY_HEADER,
        .cb.send      = answer_sent,
    };
    ucs_status_ptr_t result;

    result = ucp_am_send_nbx(ep, ID_ANSWER, &name, sizeof(name), NULL, 0,
                             &param);
    if (UCS_PTR_IS_ERR(result)) {
        FAIL("an answer cannot be sent: %s",
             ucs_status_string(UCS_PTR_STATUS(result)));
    }
}

static ucs_status_t on_answer(void *arg, const void *header,
                              size_t header_length, void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    struct soak *soak = arg;
    uint64_t name;

    (void)data;
    (void)param;
    EXPECT_INT(header_length, ==, sizeof(name));
    EXPECT_INT(length, ==, 0);
    memcpy(&name, header, sizeof(name));
    EXPECT_INT(name >> 60, ==, AM);
    /* `name` is that of the message which this process has sent */
    EXPECT_INT(rank_of_name(name), ==, soak->team->rank);
    atomic_fetch_add(&soak->answered, 1);
    return UCS_OK;
}

static void keep(struct soak *soak, const struct header *header, void *data,
                 bool fetch)
{
    struct kept *kept = malloc(sizeof(*kept));

    EXPECT(kept != NULL);
    *kept = (struct kept){NULL, header->name, header->length, data, fetch};
    pthread_mutex_lock(&soak->lock);
    kept->next = soak->kept;
    soak->kept = kept;
    pthread_mutex_unlock(&soak->lock);
}

static void check_header(const struct header *header, const void *bytes,
                         size_t header_length, size_t length,
                         const ucp_am_recv_param_t *param)
{
    EXPECT_INT(header->header_length, ==, header_length);
    EXPECT_INT(header->length, ==, length);
    EXPECT_INT(header->answer, <=, 1);
    EXPECT_INT(!!(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP), ==,
               header->answer);
    pattern_check((const char *)bytes + sizeof(*header), header->name, 0,
                  header_length - sizeof(*header), "header");
}

static ucs_status_t on_message(void *arg, const void *bytes,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct soak *soak = arg;
    struct header header;
    uint64_t dice;

    EXPECT_INT(header_length, >=, sizeof(header));
    memcpy(&header, bytes, sizeof(header));
    check_header(&header, bytes, header_length, length, param);
    if (header.answer) {
        answer(param->reply_ep, header.name);
    }

    dice = mix(header.name, 3);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        keep(soak, &header, data, true);
        return UCS_INPROGRESS;
    }
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) && (dice & 1)) {
        keep(soak, &header, data, (dice & 2) && (length > 0));
        return UCS_INPROGRESS;
    }
    pattern_check(data, content(&header), 0, length, "message");
    name_received(soak, AM, header.name);
    return UCS_OK;
}

static void set_handler(struct soak *soak, unsigned id, unsigned flags,
                        ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id    = id,
        .flags = flags,
        .cb    = cb,
        .arg   = soak,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(soak->worker, &param));
}

void am_open(struct soak *soak)
{
    set_handler(soak, ID_PLAIN, 0, on_message);
    set_handler(soak, ID_WHOLE, UCP_AM_FLAG_WHOLE_MSG, on_message);
    set_handler(soak, ID_KEEP, UCP_AM_FLAG_PERSISTENT_DATA, on_message);
    set_handler(soak, ID_ANSWER, UCP_AM_FLAG_WHOLE_MSG, on_answer);
}

/* --- what was kept ------------------------------------------------------- */

static void fetched(struct actor *actor, struct op *op)
{
    if (op->status != UCS_OK) {
        FAIL("%s %llx: %s", op->what, (unsigned long long)op->name,
             ucs_status_string(op->status));
    }
    EXPECT_INT(op->length, ==, op->payload.length);
    payload_check(&op->payload, mix(op->name, op->payload.length), op->length,
                  op->what);
    name_received(actor->soak, AM, op->name);
}

static void fetch(struct actor *actor, const struct kept *kept)
{
    struct op *op = op_new(actor, "fetched message", fetched);
    ucp_request_param_t param;

    op_payload(actor, op, kept->length, draw_layout(&actor->random));
    op->name     = kept->name;
    op->detached = true;
    param        = op_param(actor, op, OP_AM_RECV);
    op_started(actor, op,
               ucp_am_recv_data_nbx(actor->soak->worker, kept->data,
                                    op->payload.buffer, op->payload.count,
                                    &param));
}

void am_serve(struct actor *actor)
{
    struct soak *soak = actor->soak;
    struct kept *kept;

    pthread_mutex_lock(&soak->lock);
    kept = soak->kept;
    if (kept != NULL) {
        soak->kept = kept->next;
    }
    pthread_mutex_unlock(&soak->lock);
    if (kept == NULL) {
        return;
    }
    if (kept->fetch) {
        fetch(actor, kept);
    } else {
        pattern_check(kept->data, mix(kept->name, kept->length), 0,
                      kept->length, "kept message");
        ucp_am_data_release(soak->worker, kept->data);
        name_received(soak, AM, kept->name);
    }
    free(kept);
}
