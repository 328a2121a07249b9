/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of every layout is sent to every other layout, in every class of
 * operation except atomics: contiguous, IOV with up to a thousand entries, and
 * generic datatypes. Also generic datatypes whose functions fail.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENDER,
    RECEIVER,
    MOST     = 300000,
    ARENA    = 2 * MOST + 4096,
    MOST_IOV = 1000,
    AM_ID    = 3,
};

enum kind { CONTIG, WORDS, IOV_1, IOV_FEW, IOV_MANY, GENERIC, KINDS };

static const char *const kind_names[] = {"bytes",       "words",
                                         "one place",   "few places",
                                         "1000 places", "functions"};

static const size_t sizes[] = {0, 8, 64, 1000, 8184, 8192, 65536 + 8, 299992};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM |
                                 UCP_FEATURE_STREAM | UCP_FEATURE_RMA;

/* A buffer with one layout, and the arguments that describe it to UCP. The data
 * lies in `arena`. */
struct shape {
    enum kind kind;
    size_t length;
    ucp_datatype_t datatype;
    void *buffer;
    size_t count;
    char *arena;
    ucp_dt_iov_t iov[MOST_IOV];
    /* Behaviour of the generic datatype's functions, and counters */
    size_t most; /* Most bytes that one call packs */
    /* Offset from which on nothing is packed or unpacked */
    size_t stop;
    ucs_status_t refusal; /* Status that unpack returns beyond `stop` */
    size_t unpacked;
    int started, finished;
};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct shape shape;
    char *flat; /* MOST bytes */
    uint64_t message;
    ucp_datatype_t generic;
    struct random random;
    /* Memory of this side that the peer accesses by put and get, and its
     * handle; the key and the address of the peer's `window` */
    char *window;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    uint64_t remote;
    /* The active message that this side expects */
    bool there;     /* Its data has been received, or that has failed */
    size_t arrived; /* Length that the handler received */
    ucs_status_t status;
};

/* ----------------------------------------------------- generic functions -- */

/* The functions of the generic datatype reverse the data: the first packed byte
 * is the last one in the arena. */
static void *start_pack(void *context, const void *buffer, size_t count)
{
    struct shape *shape = (void *)buffer;

    EXPECT_INT(count, ==, 3);
    ++shape->started;
    return shape;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    struct shape *shape = buffer;

    EXPECT_INT(count, ==, 3);
    ++shape->started;
    shape->unpacked = 0;
    return shape;
}

static size_t packed_size(void *state)
{
    return ((struct shape *)state)->length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    struct shape *shape = state;
    size_t length       = (max < shape->most) ? max : shape->most;
    size_t i;

    EXPECT_INT(offset, <=, shape->length);
    if (length > shape->length - offset) {
        length = shape->length - offset;
    }
    if (offset + length > shape->stop) {
        length = (offset < shape->stop) ? shape->stop - offset : 0;
    }
    for (i = 0; i < length; ++i) {
        ((char *)dest)[i] = shape->arena[shape->length - 1 - offset - i];
    }
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    struct shape *shape = state;
    size_t i;

    EXPECT_INT(offset + length, <=, shape->length);
    if (offset + length > shape->stop) {
        return shape->refusal;
    }
    for (i = 0; i < length; ++i) {
        shape->arena[shape->length - 1 - offset - i] = ((const char *)src)[i];
    }
    shape->unpacked += length;
    return UCS_OK;
}

static void finish_state(void *state)
{
    ++((struct shape *)state)->finished;
}

static const ucp_generic_dt_ops_t functions = {
    start_pack, start_unpack, packed_size, pack, unpack, finish_state,
};

/* ---------------------------------------------------------------- shapes -- */

/* Describes the data by IOV entries of uneven sizes, each followed by a gap of
 * 0 to 2 bytes; some entries are empty. */
static void place(struct talk *talk, struct shape *shape, size_t count)
{
    size_t left = shape->length;
    char *p     = shape->arena;
    size_t fair = (left + count - 1) / count;
    size_t i, piece;

    for (i = 0; i < count; ++i) {
        piece = (size_t)random_below(&talk->random, 2 * fair + 1);
        if ((i % 7 == 3) && (i < count - 1)) {
            piece = 0;
        }
        if ((piece > left) || (i == count - 1)) {
            piece = left;
        }
        shape->iov[i].buffer = (piece > 0) ? p : NULL;
        shape->iov[i].length = piece;
        p += piece + (i % 3);
        left -= piece;
    }
    shape->datatype = ucp_dt_make_iov();
    shape->buffer   = shape->iov;
    shape->count    = count;
}

static void make_shape(struct talk *talk, enum kind kind, size_t length)
{
    struct shape *shape = &talk->shape;

    shape->kind     = kind;
    shape->length   = length;
    shape->datatype = ucp_dt_make_contig(1);
    shape->buffer   = shape->arena;
    shape->count    = length;
    shape->most     = SIZE_MAX;
    shape->stop     = SIZE_MAX;
    shape->refusal  = UCS_OK;
    switch (kind) {
    case WORDS:
        shape->datatype = ucp_dt_make_contig(8);
        shape->count    = length / 8;
        break;
    case IOV_1:
        place(talk, shape, 1);
        break;
    case IOV_FEW:
        place(talk, shape, 5);
        break;
    case IOV_MANY:
        place(talk, shape, MOST_IOV);
        break;
    case GENERIC:
        shape->datatype = talk->generic;
        shape->buffer   = shape;
        shape->count    = 3;
        shape->most     = 3000;
        break;
    default:
        break;
    }
    memset(shape->arena, 0x5a, ARENA);
}

/* Copies from the arena to `flat`, or back. `flat` has the bytes in the order
 * of packing. */
static void convert(struct talk *talk, bool to_flat)
{
    struct shape *shape = &talk->shape;
    char *flat          = talk->flat;
    size_t i;

    if (shape->kind == GENERIC) {
        for (i = 0; i < shape->length; ++i) {
            char *there = &shape->arena[shape->length - 1 - i];

            *(to_flat ? &flat[i] : there) = *(to_flat ? there : &flat[i]);
        }
    } else if (shape->buffer == shape->iov) {
        for (i = 0; i < shape->count; ++i) {
            if (shape->iov[i].length > 0) {
                memcpy(to_flat ? flat : shape->iov[i].buffer,
                       to_flat ? shape->iov[i].buffer : flat,
                       shape->iov[i].length);
            }
            flat += shape->iov[i].length;
        }
    } else {
        memcpy(to_flat ? flat : shape->arena, to_flat ? shape->arena : flat,
               shape->length);
    }
}

static void fill_shape(struct talk *talk, uint64_t message)
{
    data_fill(talk->flat, talk->shape.length, message);
    convert(talk, false);
}

static void verify_shape(struct talk *talk, uint64_t message)
{
    struct shape *shape = &talk->shape;
    size_t i, end;

    convert(talk, true);
    data_verify(talk->flat, shape->length, message);
    if ((shape->kind == GENERIC) && (shape->length > 0)) {
        EXPECT_INT(shape->unpacked, ==, shape->length);
    }
    if (shape->buffer != shape->iov) {
        for (i = shape->length; i < shape->length + 64; ++i) {
            EXPECT_INT(shape->arena[i], ==, 0x5a);
        }
        return;
    }
    /* the gaps between the entries are unchanged */
    for (i = 0; i + 1 < shape->count; ++i) {
        if ((i % 3 > 0) && (shape->iov[i].length > 0)) {
            end = (size_t)((char *)shape->iov[i].buffer - shape->arena) +
                  shape->iov[i].length;
            EXPECT_INT(shape->arena[end], ==, 0x5a);
        }
    }
}

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static ucs_status_t finish(struct talk *talk, ucs_status_ptr_t request)
{
    double end = test_now() + test_seconds(20);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        side_progress(&talk->side);
        if (test_now() > end) {
            FAIL("%zu bytes, %s: not over after 20 s", talk->shape.length,
                 kind_names[talk->shape.kind]);
        }
    }
    ucp_request_free(request);
    return status;
}

static ucp_request_param_t param_of(const struct talk *talk)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = talk->shape.datatype,
    };
}

/* ------------------------------------------------- classes of operations -- */

static ucs_status_t send_tag(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);

    return finish(talk,
                  (talk->message % 2 == 0) ?
                      ucp_tag_send_nbx(talk->ep->ep, talk->shape.buffer,
                                       talk->shape.count, 9, &param) :
                      ucp_tag_send_sync_nbx(talk->ep->ep, talk->shape.buffer,
                                            talk->shape.count, 9, &param));
}

static ucs_status_t recv_tag(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);
    int i;

    for (i = 0; (talk->message % 3 == 0) && (i < 50); ++i) {
        /* the message may arrive before its receive is posted */
        side_progress(&talk->side);
    }
    return finish(talk,
                  ucp_tag_recv_nbx(talk->side.worker, talk->shape.buffer,
                                   talk->shape.count, 9, UINT64_MAX, &param));
}

static ucs_status_t send_am(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);

    if (talk->message % 2 == 0) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_AM_SEND_FLAG_RNDV;
    }
    return finish(talk,
                  ucp_am_send_nbx(talk->ep->ep, AM_ID, &talk->message,
                                  sizeof(talk->message), talk->shape.buffer,
                                  talk->shape.count, &param));
}

static void am_there(void *request, ucs_status_t status, size_t length,
                     void *arg)
{
    struct talk *talk = arg;

    talk->status = status;
    talk->there  = true;
    ucp_request_free(request);
}

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *am_param)
{
    struct talk *talk         = arg;
    ucp_request_param_t param = param_of(talk);
    ucs_status_ptr_t request;

    /* less if the sender's pack function failed */
    EXPECT_INT(length, <=, talk->shape.length);
    talk->arrived = length;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK |
                          UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = am_there;
    param.user_data  = talk;
    request = ucp_am_recv_data_nbx(talk->side.worker, data, talk->shape.buffer,
                                   talk->shape.count, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        talk->status = UCS_PTR_RAW_STATUS(request);
        talk->there  = true;
    }
    return UCS_OK;
}

static ucs_status_t recv_am(struct talk *talk)
{
    while (!talk->there) {
        side_progress(&talk->side);
    }
    return talk->status;
}

static ucs_status_t send_stream(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);

    return finish(talk, ucp_stream_send_nbx(talk->ep->ep, talk->shape.buffer,
                                            talk->shape.count, &param));
}

static ucs_status_t recv_stream(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);
    size_t length;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    return finish(talk,
                  ucp_stream_recv_nbx(talk->ep->ep, talk->shape.buffer,
                                      talk->shape.count, &length, &param));
}

/* Puts the shape to the receiver's window and flushes. recv_put() then copies
 * the window to its shape. */
static ucs_status_t send_put(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);
    ucs_status_t status;

    status = finish(talk, ucp_put_nbx(talk->ep->ep, talk->shape.buffer,
                                      talk->shape.count, talk->remote,
                                      talk->rkey, &param));
    if (status == UCS_OK) {
        status = side_flush(talk->ep);
    }
    agree(talk);
    return status;
}

static ucs_status_t recv_put(struct talk *talk)
{
    agree(talk);
    memcpy(talk->flat, talk->window, talk->shape.length);
    convert(talk, false);
    talk->shape.unpacked = talk->shape.length;
    return UCS_OK;
}

/* Copies the shape to the window, which the receiver gets. */
static ucs_status_t send_get(struct talk *talk)
{
    convert(talk, true);
    memcpy(talk->window, talk->flat, talk->shape.length);
    agree(talk);
    agree(talk);
    return UCS_OK;
}

static ucs_status_t recv_get(struct talk *talk)
{
    ucp_request_param_t param = param_of(talk);
    ucs_status_t status;

    agree(talk);
    status = finish(talk, ucp_get_nbx(talk->ep->ep, talk->shape.buffer,
                                      talk->shape.count, talk->remote,
                                      talk->rkey, &param));
    agree(talk);
    return status;
}

static const struct {
    const char *name;
    ucs_status_t (*send)(struct talk *talk);
    ucs_status_t (*recv)(struct talk *talk);
} classes[] = {
    {"tag", send_tag, recv_tag},          {"am", send_am, recv_am},
    {"stream", send_stream, recv_stream}, {"put", send_put, recv_put},
    {"get", send_get, recv_get},
};

enum { NUM_CLASSES = sizeof(classes) / sizeof(classes[0]), MESSAGES = 2 };

/* One transfer of `length` bytes; returns the status on this side. With `stop`
 * below `length`, the sender's pack function fails there; if `refusal` is not
 * UCS_OK, the receiver's unpack function fails instead. */
static ucs_status_t transfer(struct talk *talk, unsigned op, enum kind from,
                             enum kind to, size_t length, size_t stop,
                             ucs_status_t refusal)
{
    int sends = (talk->team->rank == SENDER);
    ucs_status_t status;

    ++talk->message;
    talk->there = false;
    make_shape(talk, sends ? from : to, length);
    if (sends) {
        fill_shape(talk, talk->message);
    }
    if (sends ? (refusal == UCS_OK) : (refusal != UCS_OK)) {
        talk->shape.stop    = stop;
        talk->shape.refusal = refusal;
    }
    agree(talk);
    status = sends ? classes[op].send(talk) : classes[op].recv(talk);
    if (talk->shape.kind == GENERIC) {
        EXPECT_INT(talk->shape.started, ==, talk->shape.finished);
    }
    if (!sends && (stop == SIZE_MAX) && (status == UCS_OK)) {
        verify_shape(talk, talk->message);
    }
    return status;
}

static void every_kind(struct talk *talk, unsigned op)
{
    unsigned i;
    int from, to;

    for (from = 0; from < KINDS; ++from) {
        for (to = 0; to < KINDS; ++to) {
            for (i = 0; i < NUM_SIZES; ++i) {
                if ((sizes[i] == 0) && (op >= MESSAGES)) {
                    continue; /* zero length sends no message */
                }
                EXPECT_OK(transfer(talk, op, (enum kind)from, (enum kind)to,
                                   sizes[i], SIZE_MAX, UCS_OK));
            }
        }
    }
}

/* The pack function stops, or the unpack function fails: the operation ends on
 * both sides, with an error at least on the side of the failure. The next
 * transfer succeeds. */
static void refusals(struct talk *talk, unsigned op)
{
    static const size_t lengths[] = {1000, 200000};
    int sends                     = (talk->team->rank == SENDER);
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < 2; ++i) {
        status = transfer(talk, op, GENERIC, CONTIG, lengths[i], lengths[i] / 2,
                          UCS_OK);
        if (sends) {
            EXPECT_STATUS(status, UCS_ERR_IO_ERROR);
        } else if ((status == UCS_OK) && (classes[op].recv == recv_am)) {
            /* An eager active message is shorter: only the packed bytes. */
            EXPECT_INT(talk->arrived, <, lengths[i]);
        } else if (lengths[i] == 200000) {
            EXPECT_INT(status, <, 0);
        }
        EXPECT_OK(
            transfer(talk, op, GENERIC, GENERIC, lengths[i], SIZE_MAX, UCS_OK));

        status = transfer(talk, op, CONTIG, GENERIC, lengths[i], lengths[i] / 2,
                          UCS_ERR_NO_ELEM);
        EXPECT_STATUS(status, sends ? UCS_OK : UCS_ERR_NO_ELEM);
        EXPECT_OK(transfer(talk, op, IOV_FEW, IOV_MANY, lengths[i], SIZE_MAX,
                           UCS_OK));
    }
}

/* ------------------------------------------------------------------ team -- */

static void lend(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = MOST,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    uint64_t address;
    size_t size;
    void *key;
    int peer = 1 - talk->team->rank;

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_mem_query(talk->memh, &attr));
    EXPECT_OK(ucp_memh_pack(talk->memh, NULL, &key, &size));
    talk->window = attr.address;
    address      = (uintptr_t)attr.address;
    team_put(talk->team, peer, &address, sizeof(address));
    team_put(talk->team, peer, &size, sizeof(size));
    team_put(talk->team, peer, key, size);
    ucp_memh_buffer_release(key, NULL);

    team_get_progressing(talk->team, peer, &talk->remote, sizeof(talk->remote),
                         side_progress, &talk->side);
    team_get(talk->team, peer, &size, sizeof(size));
    key = malloc(size);
    team_get(talk->team, peer, key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &talk->rkey));
    free(key);
}

static void open_talk(struct talk *talk, struct team *team)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id    = AM_ID,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
        .cb    = am_handler,
        .arg   = talk,
    };

    talk->team         = team;
    talk->shape.arena  = malloc(ARENA);
    talk->flat         = malloc(MOST);
    talk->random.state = 11;
    EXPECT((talk->shape.arena != NULL) && (talk->flat != NULL));
    EXPECT_OK(ucp_dt_create_generic(&functions, NULL, &talk->generic));
    side_open(&talk->side, features);
    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &handler));
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    lend(talk);
    agree(talk);
}

static void work(struct team *team, void *arg)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    unsigned op;

    EXPECT(talk != NULL);
    open_talk(talk, team);
    for (op = 0; op < NUM_CLASSES; ++op) {
        if (team->rank == SENDER) {
            printf("%s\n", classes[op].name);
            fflush(stdout);
        }
        every_kind(talk, op);
        if (op < MESSAGES) {
            refusals(talk, op);
        }
    }

    agree(talk);
    ucp_rkey_destroy(talk->rkey);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, talk->memh));
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk->side);
    ucp_dt_destroy(talk->generic);
    free(talk->shape.arena);
    free(talk->flat);
    free(talk);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, work, NULL);
}
