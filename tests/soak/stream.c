/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the soak test. Their data are records, each a header and a
 * pattern. Sends and receives are divided at random, independently of records.
 * Only the first thread of a process uses streams, because the order of
 * operations on a stream matters. */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RECORD = 100000, MAX_RECEIVE = 50000, MAX_CHUNKS = 3, EPS = 4 };

struct record {
    uint64_t name;
    uint32_t length;
    uint32_t check;
};

/* The record that is being received from a peer */
struct parser {
    char head[sizeof(struct record)];
    size_t have; /* Bytes of the head that have arrived */
    struct record record;
    size_t done; /* Bytes of the record after the head that have arrived */
    bool receiving;
};

static uint64_t content(const struct record *record)
{
    return mix(record->name, record->length);
}

static uint32_t check_of(const struct record *record)
{
    return (uint32_t)mix(content(record), 5);
}

/* --- sending ------------------------------------------------------------- */

static void sent(struct actor *actor, struct op *op)
{
    (void)actor;
    if (op->status != UCS_OK) {
        FAIL("%s to %d: %s", op->what, op->peer->rank,
             ucs_status_string(op->status));
    }
}

static void send_chunk(struct actor *actor, struct peer *peer, char *bytes,
                       size_t length)
{
    struct op *op = op_new(actor, "stream send", sent);
    ucp_request_param_t param;

    op->peer = peer;
    op_payload(actor, op, length, draw_layout(&actor->random));
    payload_set(&op->payload, bytes);
    param = op_param(actor, op, OP_SEND);
    op_started(actor, op,
               ucp_stream_send_nbx(peer->ep, op->payload.buffer,
                                   op->payload.count, &param));
}

void stream_send(struct actor *actor)
{
    struct peer *peer    = draw_peer(actor);
    struct record record = {
        .name   = name_next(peer, STREAM),
        .length = (uint32_t)draw_length(&actor->random, MAX_RECORD),
    };
    size_t left = sizeof(record) + record.length, part;
    char *bytes = malloc(left), *next = bytes;
    int chunks = 1 + (int)random_below(&actor->random, MAX_CHUNKS);

    EXPECT(bytes != NULL);
    record.check = check_of(&record);
    memcpy(bytes, &record, sizeof(record));
    pattern_fill(bytes + sizeof(record), content(&record), 0, record.length);
    for (; chunks > 0; --chunks, next += part, left -= part) {
        part = (chunks == 1) ? left : random_below(&actor->random, left + 1);
        send_chunk(actor, peer, next, part);
    }
    free(bytes);
}

/* --- receiving ----------------------------------------------------------- */

static size_t left_of(const struct parser *parser)
{
    if (parser->have < sizeof(parser->head)) {
        return (parser->have == 0) ? 0 : sizeof(parser->head) - parser->have;
    }
    return parser->record.length - parser->done;
}

static void record_over(struct peer *peer)
{
    struct parser *parser = peer->parser;

    EXPECT_INT(rank_of_name(parser->record.name), ==, peer->rank);
    name_received(peer->soak, STREAM, parser->record.name);
    parser->have = 0;
    parser->done = 0;
}

static void feed(struct peer *peer, const char *bytes, size_t length)
{
    struct parser *parser = peer->parser;
    struct record *record = &parser->record;
    size_t part;

    for (; length > 0; bytes += part, length -= part) {
        if (parser->have < sizeof(parser->head)) {
            part = sizeof(parser->head) - parser->have;
            part = (length < part) ? length : part;
            memcpy(parser->head + parser->have, bytes, part);
            parser->have += part;
            if (parser->have < sizeof(parser->head)) {
                continue;
            }
            memcpy(record, parser->head, sizeof(*record));
            EXPECT_INT(record->check, ==, check_of(record));
        } else {
            part = record->length - parser->done;
            part = (length < part) ? length : part;
            pattern_check(bytes, content(record), parser->done, part,
                          "stream record");
            parser->done += part;
        }
        if (parser->done == record->length) {
            record_over(peer);
        }
    }
}

static void received(struct actor *actor, struct op *op)
{
    char *bytes;

    (void)actor;
    op->peer->parser->receiving = false;
    if (op->peer->closing && (op->status < 0)) {
        return;
    }
    if (op->status != UCS_OK) {
        FAIL("%s from %d: %s", op->what, op->peer->rank,
             ucs_status_string(op->status));
    }
    EXPECT_INT(op->length, >, 0);
    if (op->words[0]) { /* UCP_STREAM_RECV_FLAG_WAITALL was set */
        EXPECT_INT(op->length, ==, op->payload.length);
    }
    bytes = payload_bytes(&op->payload, op->length);
    feed(op->peer, bytes, op->length);
    free(bytes);
}

/* Posts a receive. It has the flag WAITALL only if its whole length is certain
 * to arrive, that is, within the record that has begun. */
static void receive(struct actor *actor, struct peer *peer)
{
    struct random *random = &actor->random;
    size_t left           = left_of(peer->parser);
    bool all              = (left > 0) && random_below(random, 2);
    enum layout layout    = draw_layout(random);
    struct op *op         = op_new(actor, "stream receive", received);
    ucp_request_param_t param;

    op->peer     = peer;
    op->detached = true;
    op->may_fail = true;
    op->words[0] = all;
    /* The layout WORDS requires a multiple of a word, which only WAITALL
     * ensures. */
    op_payload(actor, op,
               1 + draw_length(random, (all ? left : MAX_RECEIVE) - 1),
               ((layout == WORDS) && !all) ? CONTIG : layout);
    param = op_param(actor, op, OP_STREAM_RECV);
    if (all) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    }
    peer->parser->receiving = true;
    op_started(actor, op,
               ucp_stream_recv_nbx(peer->ep, op->payload.buffer,
                                   op->payload.count, &op->length, &param));
}

/* Receives the available data in the library's own buffers. */
static void take(struct peer *peer)
{
    ucs_status_ptr_t data;
    size_t length;

    while ((data = ucp_stream_recv_data_nb(peer->ep, &length)) != NULL) {
        if (UCS_PTR_IS_ERR(data)) {
            FAIL("stream data from %d: %s", peer->rank,
                 ucs_status_string(UCS_PTR_STATUS(data)));
        }
        EXPECT_INT(length, >, 0);
        feed(peer, data, length);
        ucp_stream_data_release(peer->ep, data);
    }
}

static void poll_all(struct soak *soak)
{
    ucp_stream_poll_ep_t found[EPS];
    ssize_t count, i;

    count = ucp_stream_worker_poll(soak->worker, found, EPS, 0);
    EXPECT_INT(count, >=, 0);
    for (i = 0; i < count; ++i) {
        struct peer *peer = found[i].user_data;

        EXPECT(found[i].ep == peer->ep);
        if (!peer->parser->receiving && !peer->closing) {
            take(peer);
        }
    }
}

void stream_serve(struct actor *actor)
{
    struct soak *soak = actor->soak;
    struct peer *peer;

    if (actor->stopping || (actor->index != 0)) {
        return;
    }
    if (random_below(&actor->random, 4) == 0) {
        poll_all(soak);
    }
    peer = draw_peer(actor);
    if (!peer->parser->receiving && !peer->closing) {
        if (random_below(&actor->random, 3) == 0) {
            take(peer);
        } else {
            receive(actor, peer);
        }
    }
}

void stream_connected(struct peer *peer)
{
    peer->parser = calloc(1, sizeof(*peer->parser));
    EXPECT(peer->parser != NULL);
}

void stream_closed(struct peer *peer)
{
    EXPECT(!peer->parser->receiving);
    EXPECT_INT(peer->parser->have, ==, 0);
    free(peer->parser);
    peer->parser = NULL;
}
