/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * old forms: the deprecated functions between two processes, as old programs
 * use them: tagged messages of every size with requests in the library's or the
 * user's memory, remote memory, atomics, and closing.
 */
#include "common/data.h"
#include "common/side.h"

#include <stdlib.h>
#include <string.h>

/* the deprecated functions are under test */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { LARGE = 1 << 20, AREA = 64 };

static const ucp_tag_t ALL  = ~(ucp_tag_t)0;
static const size_t sizes[] = {0, 1, 8, 100, 4000, 9000, 70000, LARGE};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *out, *in;
    /* Bytes of the library's part of a request, in front of the pointer */
    size_t request_size;
};

/* The program's part of a request, at the request's pointer; the library
 * reserves it (ucp_params_t.request_size). */
struct area {
    int done;
    ucs_status_t status;
    ucp_tag_recv_info_t info;
};

static void init_area(void *request)
{
    memset(request, 0, sizeof(struct area));
}

static void on_sent(void *request, ucs_status_t status)
{
    struct area *area = request;

    EXPECT(!area->done);
    area->done   = 1;
    area->status = status;
}

static void on_received(void *request, ucs_status_t status,
                        ucp_tag_recv_info_t *info)
{
    struct area *area = request;

    on_sent(request, status);
    area->info = *info;
}

/* Waits for a request and releases it like old programs. `length` is the
 * expected length of a receive; SIZE_MAX: not checked. */
static void finish(struct talk *talk, void *request, size_t length)
{
    struct area *area = request;
    double deadline   = test_now() + test_seconds(30);

    EXPECT(!UCS_PTR_IS_ERR(request));
    if (request == NULL) {
        return;
    }
    while (!ucp_request_is_completed(request)) {
        side_progress(&talk->side);
        EXPECT(test_now() < deadline);
    }
    EXPECT(area->done);
    EXPECT_OK(area->status);
    if (length != SIZE_MAX) {
        EXPECT_INT(area->info.length, ==, length);
    }
    area->done = 0;
    ucp_request_release(request);
}

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

/* ---------------------------------------------------------------- tagged -- */

static void exchange(struct talk *talk, int early)
{
    ucp_datatype_t bytes = ucp_dt_make_contig(1);
    ucp_tag_t tag        = 100;
    void *sends[SIZES], *recvs[SIZES];
    unsigned i;

    for (i = 0; i < SIZES; ++i, ++tag) {
        data_fill(talk->out, sizes[i], tag);
        memset(talk->in, 0, sizes[i]);
        if (!early) {
            recvs[i] = ucp_tag_recv_nb(talk->side.worker, talk->in, LARGE,
                                       bytes, tag, ALL, on_received);
            EXPECT(UCS_PTR_IS_PTR(recvs[i]));
        }
        sends[i] = (i & 1) ?
                       ucp_tag_send_sync_nb(talk->ep->ep, talk->out, sizes[i],
                                            bytes, tag, on_sent) :
                       ucp_tag_send_nb(talk->ep->ep, talk->out, sizes[i], bytes,
                                       tag, on_sent);
        if (early) {
            agree(talk);
            recvs[i] = ucp_tag_recv_nb(talk->side.worker, talk->in, LARGE,
                                       bytes, tag, ALL, on_received);
            EXPECT(UCS_PTR_IS_PTR(recvs[i]));
        }
        finish(talk, recvs[i], sizes[i]);
        finish(talk, sends[i], SIZE_MAX);
        data_verify(talk->in, sizes[i], tag);
        agree(talk);
    }
}

static void probe_and_receive(struct talk *talk)
{
    ucp_datatype_t bytes = ucp_dt_make_contig(1);
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;
    void *send, *recv;
    unsigned i;

    for (i = 0; i < SIZES; ++i) {
        data_fill(talk->out, sizes[i], i);
        send    = ucp_tag_send_nb(talk->ep->ep, talk->out, sizes[i], bytes, i,
                                  on_sent);
        message = side_probe_wait(&talk->side, i, ALL, true, &info);
        EXPECT_INT(info.length, ==, sizes[i]);
        recv = ucp_tag_msg_recv_nb(talk->side.worker, talk->in, LARGE, bytes,
                                   message, on_received);
        EXPECT(UCS_PTR_IS_PTR(recv));
        finish(talk, recv, sizes[i]);
        finish(talk, send, SIZE_MAX);
        data_verify(talk->in, sizes[i], i);
        agree(talk);
    }
}

/* Both sides send and receive with requests in the user's memory. */
static void exchange_in_place(struct talk *talk)
{
    ucp_datatype_t bytes = ucp_dt_make_contig(1);
    char *memory         = malloc(2 * (talk->request_size + AREA));
    void *send           = memory + talk->request_size;
    void *recv           = memory + 2 * talk->request_size + AREA;
    double deadline      = test_now() + test_seconds(60);
    ucp_tag_recv_info_t info;
    ucs_status_t status;
    unsigned i;

    EXPECT(memory != NULL);
    for (i = 0; i < SIZES; ++i) {
        data_fill(talk->out, sizes[i], i);
        EXPECT_OK(ucp_tag_recv_nbr(talk->side.worker, talk->in, LARGE, bytes, i,
                                   ALL, recv));
        status = ucp_tag_send_nbr(talk->ep->ep, talk->out, sizes[i], bytes, i,
                                  send);
        while (status == UCS_INPROGRESS) {
            side_progress(&talk->side);
            status = ucp_request_check_status(send);
            EXPECT(test_now() < deadline);
        }
        EXPECT_OK(status);
        while ((status = ucp_request_test(recv, &info)) == UCS_INPROGRESS) {
            side_progress(&talk->side);
            EXPECT(test_now() < deadline);
        }
        EXPECT_OK(status);
        EXPECT_INT(info.length, ==, sizes[i]);
        EXPECT_INT(info.sender_tag, ==, i);
        data_verify(talk->in, sizes[i], i);
        agree(talk);
    }
    free(memory);
}

/* ---------------------------------------------------------------- remote -- */

static void remote_memory(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = talk->in,
        .length  = LARGE,
    };
    int peer      = 1 - talk->team->rank;
    uint64_t mine = (uintptr_t)talk->in, at, old;
    uint32_t old32;
    ucp_ep_h ep = talk->ep->ep;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t size;
    void *key;

    memset(talk->in, 0, LARGE);
    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &memh));
    EXPECT_OK(ucp_rkey_pack(talk->side.context, memh, &key, &size));
    team_put(talk->team, peer, &mine, sizeof(mine));
    team_put(talk->team, peer, &size, sizeof(size));
    team_put(talk->team, peer, key, size);
    ucp_rkey_buffer_release(key);
    team_get(talk->team, peer, &at, sizeof(at));
    team_get(talk->team, peer, &size, sizeof(size));
    key = malloc(size);
    EXPECT(key != NULL);
    team_get(talk->team, peer, key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(ep, key, &rkey));
    free(key);
    agree(talk);

    if (talk->team->rank == 0) {
        data_fill(talk->out, LARGE / 2, 1);
        EXPECT_OK(ucp_put(ep, talk->out, LARGE / 2, at + 64, rkey));
        EXPECT_OK(ucp_ep_flush(ep));
        memset(talk->out, 0, LARGE / 2);
        EXPECT_OK(ucp_get(ep, talk->out, LARGE / 2, at + 64, rkey));
        data_verify(talk->out, LARGE / 2, 1);

        EXPECT_OK(ucp_atomic_add64(ep, 40, at, rkey));
        EXPECT_OK(ucp_atomic_fadd64(ep, 2, at, rkey, &old));
        EXPECT_INT(old, ==, 40);
        EXPECT_OK(ucp_atomic_cswap64(ep, 42, 7, at, rkey, &old));
        EXPECT_INT(old, ==, 42);
        EXPECT_OK(ucp_atomic_swap32(ep, 9, at + 8, rkey, &old32));
        EXPECT_INT(old32, ==, 0);
        EXPECT_OK(ucp_worker_flush(talk->side.worker));
    }
    agree(talk);
    if (talk->team->rank == 1) {
        data_verify(talk->in + 64, LARGE / 2, 1);
        EXPECT_INT(((uint64_t *)talk->in)[0], ==, 7);
        EXPECT_INT(((uint32_t *)talk->in)[2], ==, 9);
    }
    ucp_rkey_destroy(rkey);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, memh));
}

/* --------------------------------------------------------------- closing -- */

/* One side closes in one of the deprecated forms, selected by `way`, while the
 * peer's endpoint is open. Then both connect again. */
static void close_and_meet_again(struct talk *talk, int way)
{
    struct side_ep *entry = talk->ep;
    ucp_ep_h ep           = entry->ep;
    ucs_status_ptr_t request;

    agree(talk);
    if (talk->team->rank == way % 2) {
        talk->side.eps = entry->next;
        EXPECT(
            ucp_ep_modify_nb(ep,
                             &(ucp_ep_params_t){
                                 .field_mask  = UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                 .err_handler = {.cb = NULL},
                             }) == NULL);
        if (way < 2) {
            ucp_ep_destroy(ep);
        } else {
            request = (way < 4) ?
                          ucp_disconnect_nb(ep) :
                          ucp_ep_close_nb(ep, (way < 6) ?
                                                  UCP_EP_CLOSE_MODE_FLUSH :
                                                  UCP_EP_CLOSE_MODE_FORCE);
            EXPECT_OK(side_wait(&talk->side, request, "close"));
        }
        free(entry);
    }
    agree(talk);
    if (talk->team->rank != way % 2) {
        side_close_ep(entry, UCP_EP_CLOSE_FLAG_FORCE);
    }
    agree(talk);
    talk->ep = side_meet(&talk->side, talk->team, 1 - talk->team->rank);
}

static void open_old(struct talk *talk)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                      UCP_PARAM_FIELD_REQUEST_INIT,
        .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                    UCP_FEATURE_AMO64,
        .request_size = AREA,
        .request_init = init_area,
    };
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};

    EXPECT(sizeof(struct area) <= AREA);
    EXPECT_OK(ucp_init(&params, NULL, &talk->side.context));
    EXPECT_OK(ucp_context_query(talk->side.context, &attr));
    talk->request_size = attr.request_size;
    side_open_worker(&talk->side, &talk->side);
    talk->ep = side_meet(&talk->side, talk->team, 1 - talk->team->rank);
}

static void member(struct team *team, void *arg)
{
    struct talk talk = {
        .team = team,
        .out  = aligned_alloc(64, LARGE),
        .in   = aligned_alloc(64, LARGE),
    };
    int way;

    (void)arg;
    EXPECT((talk.out != NULL) && (talk.in != NULL));
    open_old(&talk);
    exchange(&talk, 0);
    exchange(&talk, 1);
    probe_and_receive(&talk);
    exchange_in_place(&talk);
    remote_memory(&talk);
    for (way = 0; way < 8; ++way) {
        close_and_meet_again(&talk, way);
        exchange_in_place(&talk);
    }
    agree(&talk);
    EXPECT_OK(side_close_ep(talk.ep, 0));
    agree(&talk);
    side_close(&talk.side);
    free(talk.in);
    free(talk.out);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 120};

    (void)argc;
    (void)argv;
    return team_run(&team, 2, member, NULL);
}
