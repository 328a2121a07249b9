/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generic datatypes and memory that is inaccessible to the processor
 * (memory.h). One side or both use a generic datatype, whose functions reverse
 * the data; a side without it uses contiguous bytes. The buffer argument of a
 * generic datatype may be an address of such memory, too: the library must not
 * access it, and passes host memory to the functions.
 */
#include "common/data.h"
#include "common/talk.h"

#include <string.h>

enum {
    MOST     = 300000,
    AM_ID    = 7,
    /* Count that is passed with the generic datatype, whatever the length */
    ELEMENTS = 3,
};

static const size_t sizes[] = {1, 8, 2000, 8192, 70000, MOST};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM |
                                 UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP;

/* The message that the functions pack or unpack; one operation at a time */
static struct {
    struct memory *memory;
    size_t length;
    int started, finished;
} shape;

static ucp_datatype_t generic;

/* ----------------------------------------------------- generic functions -- */

static void *start_any(const void *buffer, size_t count)
{
    EXPECT(buffer == shape.memory->address);
    EXPECT_INT(count, ==, ELEMENTS);
    ++shape.started;
    return &shape;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return start_any(buffer, count);
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return start_any(buffer, count);
}

static size_t packed_size(void *state)
{
    return shape.length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t length = shape.length - offset;
    size_t i;

    length = (max < length) ? max : length;
    for (i = 0; i < length; ++i) {
        ((char *)dest)[i] = shape.memory->view[shape.length - 1 - offset - i];
    }
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    size_t i;

    EXPECT_INT(offset + length, <=, shape.length);
    for (i = 0; i < length; ++i) {
        shape.memory->view[shape.length - 1 - offset - i] = ((
            const char *)src)[i];
    }
    return UCS_OK;
}

static void finish_state(void *state)
{
    ++shape.finished;
}

static const ucp_generic_dt_ops_t functions = {
    start_pack, start_unpack, packed_size, pack, unpack, finish_state,
};

/* ------------------------------------------------------------- a message -- */

enum way { TAG, AM, STREAM, HINTED, WAYS };

/* Which sides use the generic datatype: a bit for each rank */
enum { FROM_GENERIC = 1u << DRIVER, TO_GENERIC = 1u << PEER, BOTH = 3 };

static struct {
    ucs_status_ptr_t request;
    void *buffer;
    size_t count;
    ucp_request_param_t param;
    bool there;
} arrival;

/* Sets `shape` for the next operation, and its datatype in *param. Returns the
 * count that is passed with the datatype. */
static size_t describe(ucp_request_param_t *param, struct memory *memory,
                       int kind, size_t length, bool is_generic, enum way way)
{
    shape.memory  = memory;
    shape.length  = length;
    shape.started = shape.finished = 0;
    *param                         = (ucp_request_param_t){
                                .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                .datatype     = is_generic ? generic : ucp_dt_make_contig(1),
    };
    if (way == HINTED) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param->memory_type = memory_kind_type(kind);
    }
    return is_generic ? ELEMENTS : length;
}

static void reverse(char *data, size_t length)
{
    size_t i;

    for (i = 0; i < length / 2; ++i) {
        char byte            = data[i];
        data[i]              = data[length - 1 - i];
        data[length - 1 - i] = byte;
    }
}

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;

    EXPECT_INT(length, ==, shape.length);
    arrival.request = ucp_am_recv_data_nbx(talk->side.worker, data,
                                           arrival.buffer, arrival.count,
                                           &arrival.param);
    arrival.there   = true;
    return UCS_OK;
}

static ucs_status_ptr_t post_send(struct talk *talk, void *buffer, size_t count,
                                  enum way way, ucp_request_param_t *param)
{
    switch (way) {
    case AM:
        return ucp_am_send_nbx(talk->ep->ep, AM_ID, NULL, 0, buffer, count,
                               param);
    case STREAM:
        return ucp_stream_send_nbx(talk->ep->ep, buffer, count, param);
    default:
        return ucp_tag_send_nbx(talk->ep->ep, buffer, count, talk->message,
                                param);
    }
}

static void receive(struct talk *talk, void *buffer, size_t count, enum way way,
                    ucp_request_param_t *param)
{
    size_t got = 0;

    switch (way) {
    case AM:
        while (!arrival.there) {
            side_progress(&talk->side);
        }
        EXPECT_OK(talk_finish(talk, arrival.request));
        break;
    case STREAM:
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param->flags = UCP_STREAM_RECV_FLAG_WAITALL;
        EXPECT_OK(talk_finish(talk, ucp_stream_recv_nbx(talk->ep->ep, buffer,
                                                        count, &got, param)));
        break;
    default:
        EXPECT_OK(talk_finish(talk, ucp_tag_recv_nbx(talk->side.worker, buffer,
                                                     count, talk->message,
                                                     UINT64_MAX, param)));
        break;
    }
}

static void message(struct talk *talk, int from, int to, size_t length,
                    unsigned which, enum way way)
{
    int sends             = (talk->team->rank == DRIVER);
    int kind              = sends ? from : to;
    bool is_generic       = which & (1u << talk->team->rank);
    struct memory *memory = &talk->memory[kind];
    ucp_request_param_t param;
    size_t count;

    ++talk->message;
    count = describe(&param, memory, kind, length, is_generic, way);
    if (sends) {
        data_fill(memory->view, length, talk->message);
    } else {
        memory_prepare(memory, length);
        arrival.buffer = memory->address;
        arrival.count  = count;
        arrival.param  = param;
        arrival.there  = false;
    }
    talk_agree(talk);
    if (sends) {
        EXPECT_OK(talk_finish(talk, post_send(talk, memory->address, count, way,
                                              &param)));
    } else {
        receive(talk, memory->address, count, way, &param);
        if (which != BOTH) {
            reverse(memory->view, length);
        }
        memory_verify(memory, length, talk->message);
    }
    EXPECT_INT(shape.started, ==, is_generic);
    EXPECT_INT(shape.finished, ==, is_generic);
    talk_agree(talk);
}

static void test_messages(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i, which;
    int way;

    for (i = 0; i < NUM_SIZES; i += step) {
        for (way = TAG; way < WAYS; ++way) {
            for (which = FROM_GENERIC; which <= BOTH; ++which) {
                message(talk, from, to, sizes[i], which, (enum way)way);
            }
        }
    }
}

/* ------------------------------------------------------------------ team -- */

static void work(struct team *team, void *arg)
{
    struct talk talk;
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id    = AM_ID,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
        .cb    = am_handler,
        .arg   = &talk,
    };

    EXPECT_OK(ucp_dt_create_generic(&functions, NULL, &generic));
    talk_open(&talk, team, features, MOST + MEMORY_GUARD);
    EXPECT_OK(ucp_worker_set_am_recv_handler(talk.side.worker, &handler));
    talk_pairs(&talk, "generic", test_messages);
    talk_close(&talk);
    ucp_dt_destroy(generic);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, work, NULL);
}
