/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of every class with memory that is inaccessible to the processor
 * (memory.h), on either side or both, and queries of its type. A direct access
 * by the library crashes: the pages have no access rights.
 *
 * memory_rma tests put, get and atomics; memory_crowd many messages at once;
 * memory_generic generic datatypes; memory_self one process; memory_threads
 * threads; memory_faults failures.
 */
#include "common/data.h"
#include "common/talk.h"

#include <string.h>

enum {
    MOST  = 4 * 1024 * 1024,
    AM_ID = 7,
};

static const size_t sizes[] = {0,      1,      7,       64,   65,
                               2000,   8100,   8192,    9000, 70000,
                               262144, 262145, 1000003, MOST};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM |
                                 UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP;

/* ------------------------------------------------------------------- tag -- */

enum way { PLAIN, SYNC, HINTED, REGISTERED, EARLY, WAYS };

/* Parameters of a message. By `way` the user passes the memory type or a memory
 * handle, or nothing: then the library detects the type. */
static ucp_request_param_t param_for(const struct memory *memory, int kind,
                                     enum way way)
{
    ucp_request_param_t param = {0};

    if (way == HINTED) {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param.memory_type  = memory_kind_type(kind);
    } else if (way == REGISTERED) {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
        param.memh         = memory->memh;
    }
    return param;
}

static void tag_once(struct talk *talk, int from, int to, size_t length,
                     enum way way)
{
    int sends                 = (talk->team->rank == DRIVER);
    struct memory *memory     = &talk->memory[sends ? from : to];
    ucp_request_param_t param = param_for(memory, sends ? from : to, way);
    ucp_tag_t tag             = ++talk->message;
    ucs_status_ptr_t request;
    ucp_tag_recv_info_t info;

    if (sends) {
        data_fill(memory->view, length, tag);
        request = (way == SYNC) ?
                      ucp_tag_send_sync_nbx(talk->ep->ep, memory->address,
                                            length, tag, &param) :
                      ucp_tag_send_nbx(talk->ep->ep, memory->address, length,
                                       tag, &param);
        EXPECT_OK(talk_finish(talk, request));
        return;
    }

    memory_prepare(memory, length);
    if (way == EARLY) {
        while (ucp_tag_probe_nb(talk->side.worker, tag, UINT64_MAX, 0, &info) ==
               NULL) {
            side_progress(&talk->side);
        }
    }
    EXPECT_OK(
        talk_finish(talk, ucp_tag_recv_nbx(talk->side.worker, memory->address,
                                           length + (size_t)(way == SYNC), tag,
                                           UINT64_MAX, &param)));
    memory_verify(memory, length, tag);
}

static void test_tag(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;
    int way;

    for (i = 0; i < NUM_SIZES; i += step) {
        for (way = PLAIN; way < WAYS; ++way) {
            tag_once(talk, from, to, sizes[i], (enum way)way);
        }
    }
}

/* ------------------------------------------------------------------- iov -- */

/* Divides a message into IOV entries of uneven lengths, some of them empty.
 * Unless `other` is NULL, every third entry is in `other`, at the same offset.
 * Returns the number of entries. */
static size_t cut(ucp_dt_iov_t *iov, size_t max, size_t length,
                  const struct memory *memory, const struct memory *other)
{
    size_t count = 0, offset = 0, piece;

    while (offset < length) {
        piece = (count % 5 == 4) ? 0 : 1 + (count * 977) % (length / 8 + 1);
        if ((piece > length - offset) || (count == max - 1)) {
            piece = length - offset;
        }
        iov[count].buffer = ((other != NULL) && (count % 3 == 1)) ?
                                other->address + offset :
                                memory->address + offset;
        iov[count].length = piece;
        offset += piece;
        ++count;
    }
    return count;
}

/* Copies the contents of every third entry from `memory` to `other`, or
 * back. */
static void scatter(const ucp_dt_iov_t *iov, size_t count,
                    struct memory *memory, struct memory *other, bool back)
{
    size_t i, offset = 0;

    for (i = 0; i < count; ++i) {
        if (i % 3 == 1) {
            memcpy((back ? memory : other)->view + offset,
                   (back ? other : memory)->view + offset, iov[i].length);
        }
        offset += iov[i].length;
    }
}

/* Returns the second kind of memory for a list with `kind`. A list may contain
 * memory of one inaccessible type only: the partner of such a kind is one that
 * the processor can access. */
static int partner_of(int kind)
{
    int partner = (kind + 1) % memory_kinds();

    return (UCS_MEM_IS_ACCESSIBLE_FROM_CPU(memory_kind_type(kind)) ||
            UCS_MEM_IS_ACCESSIBLE_FROM_CPU(memory_kind_type(partner))) ?
               partner :
               0;
}

static void iov_once(struct talk *talk, int from, int to, size_t length,
                     bool mixed)
{
    int sends                 = (talk->team->rank == DRIVER);
    int kind                  = sends ? from : to;
    struct memory *memory     = &talk->memory[kind];
    struct memory *other      = mixed ? &talk->memory[partner_of(kind)] : NULL;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    ucp_tag_t tag = ++talk->message;
    ucp_dt_iov_t iov[60];
    size_t count;

    count = cut(iov, sends ? 20 : 60, length, memory, other);
    if (sends) {
        data_fill(memory->view, length, tag);
        if (mixed) {
            scatter(iov, count, memory, other, false);
        }
        EXPECT_OK(talk_finish(talk, ucp_tag_send_nbx(talk->ep->ep, iov, count,
                                                     tag, &param)));
        return;
    }

    memory_prepare(memory, length);
    EXPECT_OK(talk_finish(talk, ucp_tag_recv_nbx(talk->side.worker, iov, count,
                                                 tag, UINT64_MAX, &param)));
    if (mixed) {
        scatter(iov, count, memory, other, true);
    }
    memory_verify(memory, length, tag);
}

static void test_iov(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;

    for (i = 1; i < NUM_SIZES; i += step) {
        iov_once(talk, from, to, sizes[i], false);
        iov_once(talk, from, to, sizes[i], true);
    }
}

/* ------------------------------------------------------- active messages -- */

/* The active message that the receiver expects */
static struct {
    struct memory *memory;
    size_t length;
    bool there;
} arrival;

static void am_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    EXPECT_OK(status);
    arrival.length = length;
    arrival.there  = true;
    ucp_request_free(request);
}

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct talk *talk               = arg;
    ucp_request_param_t recv_params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
        .cb.recv_am   = am_received,
    };
    ucs_status_ptr_t request;

    EXPECT_INT(header_length, ==, sizeof(talk->message));
    EXPECT(memcmp(header, &talk->message, header_length) == 0);
    if (!(param->recv_attr &
          (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA))) {
        FAIL("a handler for lasting data is given data that does not last");
    }
    request = ucp_am_recv_data_nbx(talk->side.worker, data,
                                   arrival.memory->address, length,
                                   &recv_params);
    if (!UCS_PTR_IS_PTR(request)) {
        EXPECT_OK(UCS_PTR_STATUS(request));
        arrival.length = length;
        arrival.there  = true;
    }
    return UCS_OK;
}

static void am_once(struct talk *talk, int from, int to, size_t length,
                    unsigned flags)
{
    int sends                 = (talk->team->rank == DRIVER);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };
    struct memory *memory = &talk->memory[sends ? from : to];

    ++talk->message;
    arrival.memory = memory;
    arrival.there  = false;
    if (!sends) {
        memory_prepare(memory, length);
    } else {
        data_fill(memory->view, length, talk->message);
    }
    talk_agree(talk);
    if (sends) {
        EXPECT_OK(
            talk_finish(talk,
                        ucp_am_send_nbx(talk->ep->ep, AM_ID, &talk->message,
                                        sizeof(talk->message), memory->address,
                                        length, &param)));
    } else {
        while (!arrival.there) {
            side_progress(&talk->side);
        }
        EXPECT_INT(arrival.length, ==, length);
        memory_verify(memory, length, talk->message);
    }
    talk_agree(talk);
}

static void test_am(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;

    for (i = 0; i < NUM_SIZES; i += step) {
        am_once(talk, from, to, sizes[i], 0);
        am_once(talk, from, to, sizes[i],
                UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
        am_once(talk, from, to, sizes[i], UCP_AM_SEND_FLAG_RNDV);
    }
}

/* --------------------------------------------------------------- streams -- */

static void stream_once(struct talk *talk, int from, int to, size_t length)
{
    int sends                 = (talk->team->rank == DRIVER);
    struct memory *memory     = &talk->memory[sends ? from : to];
    ucp_request_param_t param = {0};
    uint64_t message          = ++talk->message;
    size_t got                = 0;

    if (sends) {
        data_fill(memory->view, length, message);
        EXPECT_OK(
            talk_finish(talk, ucp_stream_send_nbx(talk->ep->ep, memory->address,
                                                  length, &param)));
    } else {
        memory_prepare(memory, length);
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags        = UCP_STREAM_RECV_FLAG_WAITALL;
        EXPECT_OK(
            talk_finish(talk, ucp_stream_recv_nbx(talk->ep->ep, memory->address,
                                                  length, &got, &param)));
        memory_verify(memory, length, message);
    }
}

static void test_stream(struct talk *talk, int from, int to)
{
    unsigned step = (unsigned)memory_size_step();
    unsigned i;

    for (i = 1; i < NUM_SIZES; i += step) {
        stream_once(talk, from, to, sizes[i]);
    }
}

/* --------------------------------------------------------------- queries -- */

static void test_answers(struct talk *talk)
{
    ucp_context_attr_t context = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    ucp_request_attr_t request = {
        .field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
    };
    ucp_request_param_t param   = {0};
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = talk->memory[1].address + 64,
        .length  = 4096,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE};
    ucs_status_ptr_t pointer;
    ucp_mem_h memh;

    EXPECT_OK(ucp_context_query(talk->side.context, &context));
    EXPECT(context.memory_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    EXPECT(context.memory_types & UCS_BIT(MEMORY_OPAQUE_TYPE));

    /* memory that is mapped without a type: the library detects it */
    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &memh));
    EXPECT_OK(ucp_mem_query(memh, &attr));
    EXPECT_INT(attr.mem_type, ==, MEMORY_OPAQUE_TYPE);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, memh));

    pointer = ucp_tag_recv_nbx(talk->side.worker, talk->memory[1].address, 8, 1,
                               UINT64_MAX, &param);
    EXPECT(UCS_PTR_IS_PTR(pointer));
    EXPECT_OK(ucp_request_query(pointer, &request));
    EXPECT_INT(request.mem_type, ==, MEMORY_OPAQUE_TYPE);
    ucp_request_cancel(talk->side.worker, pointer);
    EXPECT_STATUS(talk_finish(talk, pointer), UCS_ERR_CANCELED);

    /* a type that no plugin can copy, and an invalid type */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type  = MEMORY_FOREIGN_TYPE;
    EXPECT_STATUS(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(talk->ep->ep,
                                                      talk->memory[1].address,
                                                      8, 1, &param)),
                  UCS_ERR_UNSUPPORTED);
    param.memory_type = (ucs_memory_type_t)77;
    EXPECT_STATUS(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(talk->side.worker,
                                                      talk->memory[1].address,
                                                      8, 1, UINT64_MAX,
                                                      &param)),
                  UCS_ERR_INVALID_PARAM);
}

/* ------------------------------------------------------------------ team -- */

static void work(struct team *team, void *arg)
{
    static const struct {
        const char *name;
        void (*run)(struct talk *talk, int from, int to);
    } tests[] = {
        {"tag", test_tag},
        {"iov", test_iov},
        {"am", test_am},
        {"stream", test_stream},
    };
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
    unsigned i;

    if (team->rank == PEER) {
        /* long enough that a worker without events would sleep during a copy */
        memory_delay("50");
    }
    talk_open(&talk, team, features, MOST + MEMORY_GUARD);
    EXPECT_OK(ucp_worker_set_am_recv_handler(talk.side.worker, &handler));
    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        talk_pairs(&talk, tests[i].name, tests[i].run);
    }
    if (team->rank == DRIVER) {
        test_answers(&talk);
    }
    talk_close(&talk);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, work, NULL);
}
