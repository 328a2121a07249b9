/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of one process, the user, with a memory handle that another
 * process, the owner, has exported. In the user's process the buffer's address
 * is that of the owner's memory; at this address the user maps a range without
 * access rights, so that an access by the library crashes. The memory is source
 * and destination, in every class of operation.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { USER, OWNER, LENGTH = 1 << 20, AM_ID = 3 };

static const size_t sizes[] = {8, 3000, 100000, LENGTH};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    /* Address in the owner's process; the user passes it to UCP */
    char *memory;
    ucp_mem_h memh;
    char *plain; /* LENGTH bytes of this process's own memory */
    /* The user's key and the address of the owner's `plain` */
    ucp_rkey_h rkey;
    uint64_t address;
    uint64_t message;
    /* Data that the active message handler kept, and its length */
    void *am_data;
    size_t am_length;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static void finish(struct talk *talk, ucs_status_ptr_t request,
                   const char *what)
{
    EXPECT_OK(side_wait(&talk->side, request, what));
}

static ucp_request_param_t with_handle(const struct talk *talk)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_MEMH,
        .memh         = talk->memh,
    };
}

/* ------------------------------------------------------------ the memory -- */

static void *get_bytes(struct talk *talk, int from, size_t *size_p)
{
    void *bytes;

    team_get_progressing(talk->team, from, size_p, sizeof(*size_p),
                         side_progress, &talk->side);
    bytes = malloc(*size_p + 1);
    team_get(talk->team, from, bytes, *size_p);
    return bytes;
}

static void put_packed(struct talk *talk, ucp_mem_h memh, uint64_t flags)
{
    ucp_memh_pack_params_t params = {
        .field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
        .flags      = flags,
    };
    size_t size;
    void *bytes;

    EXPECT_OK(ucp_memh_pack(memh, &params, &bytes, &size));
    team_put(talk->team, USER, &size, sizeof(size));
    team_put(talk->team, USER, bytes, size);
    ucp_memh_buffer_release(bytes, NULL);
}

/* Allocates and exports memory. Lends the owner's plain memory to the user. */
static ucp_mem_h own(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = LENGTH,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_map_params_t plain = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .length  = LENGTH,
        .address = talk->plain,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_mem_h lent;

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_mem_query(talk->memh, &attr));
    talk->memory  = attr.address;
    talk->address = (uintptr_t)talk->plain;
    EXPECT_OK(ucp_mem_map(talk->side.context, &plain, &lent));
    team_put(talk->team, USER, &talk->memory, sizeof(talk->memory));
    team_put(talk->team, USER, &talk->address, sizeof(talk->address));
    put_packed(talk, talk->memh, UCP_MEMH_PACK_FLAG_EXPORT);
    put_packed(talk, lent, 0);
    return lent;
}

/* Imports the owner's handle, and maps a range without access rights at the
 * address of the owner's memory. */
static void import(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
    };
    size_t size;
    void *bytes, *guard;

    team_get_progressing(talk->team, OWNER, &talk->memory, sizeof(talk->memory),
                         side_progress, &talk->side);
    team_get(talk->team, OWNER, &talk->address, sizeof(talk->address));
    guard = mmap(talk->memory, LENGTH, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT(guard == talk->memory);

    bytes                       = get_bytes(talk, OWNER, &size);
    params.exported_memh_buffer = bytes;
    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    free(bytes);
    bytes = get_bytes(talk, OWNER, &size);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, bytes, &talk->rkey));
    free(bytes);
}

/* ---------------------------------------------- one step of each process -- */

/* One transfer; both processes call it. With `out` the user sends from the
 * owner's memory, otherwise it receives into that memory. The owner is the
 * other end, with its plain memory. */
typedef void (*step_t)(struct talk *talk, size_t length, bool out);

static void by_tag(struct talk *talk, size_t length, bool out)
{
    ucp_request_param_t plain = {0}, handle = with_handle(talk);
    bool sends                 = (out == (talk->team->rank == USER));
    bool is_user               = (talk->team->rank == USER);
    char *buffer               = is_user ? talk->memory : talk->plain;
    ucp_request_param_t *param = is_user ? &handle : &plain;

    finish(talk,
           sends ? ucp_tag_send_nbx(talk->ep->ep, buffer, length, 1, param) :
                   ucp_tag_recv_nbx(talk->side.worker, buffer, length, 1,
                                    UINT64_MAX, param),
           "tag");
}

static void by_stream(struct talk *talk, size_t length, bool out)
{
    ucp_request_param_t plain = {0}, handle = with_handle(talk);
    bool is_user              = (talk->team->rank == USER);
    char *buffer              = is_user ? talk->memory : talk->plain;
    ucp_request_param_t param = is_user ? handle : plain;
    size_t got;

    if (out == is_user) {
        finish(talk, ucp_stream_send_nbx(talk->ep->ep, buffer, length, &param),
               "stream");
        return;
    }
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    finish(talk,
           ucp_stream_recv_nbx(talk->ep->ep, buffer, length, &got, &param),
           "stream");
}

static ucs_status_t keep(void *arg, const void *header, size_t header_length,
                         void *data, size_t length,
                         const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;

    talk->am_length = length;
    if (param->recv_attr &
        (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA)) {
        talk->am_data = data;
        return UCS_INPROGRESS;
    }
    talk->am_data = NULL;
    memcpy(talk->plain, data, length);
    return UCS_OK;
}

static void by_am(struct talk *talk, size_t length, bool out)
{
    ucp_request_param_t plain = {0}, handle = with_handle(talk);
    bool is_user              = (talk->team->rank == USER);
    char *buffer              = is_user ? talk->memory : talk->plain;
    ucp_request_param_t param = is_user ? handle : plain;
    double end                = test_now() + test_seconds(20);

    if (out == is_user) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        /* only rendezvous data can be received with a memory handle */
        param.flags = out ? 0 : UCP_AM_SEND_FLAG_RNDV;
        finish(talk,
               ucp_am_send_nbx(talk->ep->ep, AM_ID, NULL, 0, buffer, length,
                               &param),
               "am");
        return;
    }
    while (talk->am_length != length) {
        EXPECT(test_now() < end);
        side_progress(&talk->side);
    }
    talk->am_length = 0;
    if (talk->am_data != NULL) {
        finish(talk,
               ucp_am_recv_data_nbx(talk->side.worker, talk->am_data, buffer,
                                    length, &param),
               "am data");
    }
}

static void by_put_and_get(struct talk *talk, size_t length, bool out)
{
    ucp_request_param_t handle = with_handle(talk);

    if (talk->team->rank == USER) {
        finish(talk,
               out ? ucp_put_nbx(talk->ep->ep, talk->memory, length,
                                 talk->address, talk->rkey, &handle) :
                     ucp_get_nbx(talk->ep->ep, talk->memory, length,
                                 talk->address, talk->rkey, &handle),
               "put or get");
        EXPECT_OK(side_flush(talk->ep));
    }
    agree(talk);
}

/* Transfers in both directions, with different contents. The owner, which can
 * access both memories, fills and verifies them. */
static void transfer(struct talk *talk, step_t step, size_t length)
{
    bool is_owner = (talk->team->rank == OWNER);
    uint64_t message;

    message = ++talk->message;
    if (is_owner) {
        data_fill(talk->memory, length, message);
        memset(talk->plain, 0, length);
    }
    agree(talk);
    step(talk, length, true);
    agree(talk);
    if (is_owner) {
        data_verify(talk->plain, length, message);
    }

    message = ++talk->message;
    if (is_owner) {
        memset(talk->memory, 0, length);
        data_fill(talk->plain, length, message);
    }
    agree(talk);
    step(talk, length, false);
    agree(talk);
    if (is_owner) {
        data_verify(talk->memory, length, message);
    }
}

/* One atomic operation whose operand is in the imported memory, and one whose
 * result is written there. */
static void atomics(struct talk *talk)
{
    ucp_request_param_t param = with_handle(talk);
    uint64_t words[2] = {5, 0}, add = 10, sum = 100;

    if (talk->team->rank == OWNER) {
        memcpy(talk->memory, words, sizeof(words));
        memcpy(talk->plain, &sum, sizeof(sum));
    }
    agree(talk);
    if (talk->team->rank == USER) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param.datatype = ucp_dt_make_contig(8);
        finish(talk,
               ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD, talk->memory,
                                 1, talk->address, talk->rkey, &param),
               "add");
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = talk->memory + 8;
        finish(talk,
               ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD, &add, 1,
                                 talk->address, talk->rkey, &param),
               "fetching add");
        EXPECT_OK(side_flush(talk->ep));
    }
    agree(talk);
    if (talk->team->rank == OWNER) {
        memcpy(words, talk->memory, sizeof(words));
        memcpy(&sum, talk->plain, sizeof(sum));
        EXPECT_INT(words[1], ==, 105);
        EXPECT_INT(sum, ==, 115);
    }
}

/* Accesses beyond the end of the handle's memory are rejected. */
static void misuse(struct talk *talk)
{
    ucp_request_param_t param = with_handle(talk);
    char *beyond              = talk->memory + LENGTH;

    EXPECT_STATUS(UCS_PTR_STATUS(
                      ucp_tag_send_nbx(talk->ep->ep, beyond, 8, 1, &param)),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_STATUS(UCS_PTR_STATUS(ucp_put_nbx(talk->ep->ep, beyond, 8,
                                             talk->address, talk->rkey,
                                             &param)),
                  UCS_ERR_INVALID_PARAM);
    EXPECT_STATUS(UCS_PTR_STATUS(ucp_tag_recv_nbx(talk->side.worker,
                                                  talk->memory + 1, LENGTH, 1,
                                                  1, &param)),
                  UCS_ERR_INVALID_PARAM);
}

static void work(struct team *team, void *arg)
{
    static const step_t steps[] = {by_tag, by_stream, by_am, by_put_and_get};
    struct talk talk            = {.team = team, .plain = malloc(LENGTH)};
    ucp_am_handler_param_t am   = {
          .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                        UCP_AM_HANDLER_PARAM_FIELD_CB |
                        UCP_AM_HANDLER_PARAM_FIELD_ARG,
          .id  = AM_ID,
          .cb  = keep,
          .arg = &talk,
    };
    ucp_mem_h lent = NULL;
    size_t i, j;

    side_open(&talk.side, UCP_FEATURE_TAG | UCP_FEATURE_STREAM |
                              UCP_FEATURE_AM | UCP_FEATURE_RMA |
                              UCP_FEATURE_AMO64 | UCP_FEATURE_EXPORTED_MEMH);
    EXPECT_OK(ucp_worker_set_am_recv_handler(talk.side.worker, &am));
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    if (team->rank == OWNER) {
        lent = own(&talk);
    } else {
        import(&talk);
    }
    agree(&talk);

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
        for (j = 0; j < NUM_SIZES; ++j) {
            transfer(&talk, steps[i], sizes[j]);
        }
    }
    atomics(&talk);

    if (team->rank == USER) {
        misuse(&talk);
        ucp_rkey_destroy(talk.rkey);
    } else {
        EXPECT_OK(ucp_mem_unmap(talk.side.context, lent));
    }
    agree(&talk);
    EXPECT_OK(ucp_mem_unmap(talk.side.context, talk.memh));
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
    free(talk.plain);
}

int main(void)
{
    struct team team = {0};

    return team_run(&team, 2, work, NULL);
}
