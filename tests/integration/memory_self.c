/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that sends to itself, with memory that is inaccessible to the
 * processor (memory.h) on either side or both, in every class of operation.
 * Messages use the transport `self`.
 */
#include "common/data.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST  = 1024 * 1024,
    /* Bytes of each half: sources are in the first, targets in the second */
    HALF  = MOST + 4096,
    AM_ID = 7,
};

static const size_t sizes[] = {0, 1, 7, 65, 2000, 8192, 9000, 262145, MOST};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static struct side side;
static struct side_ep *ep;
static struct memory memory[MEMORY_MAX_KINDS];
static ucp_rkey_h rkeys[MEMORY_MAX_KINDS];
static const ucp_request_param_t plain;

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&side, request, "an operation to the own process");
}

/* ------------------------------------------------------------- transfers -- */

static ucp_tag_t next_tag;

static void expected(char *from, char *to, size_t length, int from_kind,
                     int to_kind)
{
    ucs_status_ptr_t recv = ucp_tag_recv_nbx(side.worker, to, length,
                                             ++next_tag, UINT64_MAX, &plain);

    EXPECT_OK(finish(ucp_tag_send_nbx(ep->ep, from, length, next_tag, &plain)));
    EXPECT_OK(finish(recv));
}

static void unexpected(char *from, char *to, size_t length, int from_kind,
                       int to_kind)
{
    ucs_status_ptr_t send = ucp_tag_send_nbx(ep->ep, from, length, ++next_tag,
                                             &plain);

    while (ucp_tag_probe_nb(side.worker, next_tag, UINT64_MAX, 0,
                            &(ucp_tag_recv_info_t){0}) == NULL) {
        side_progress(&side);
    }
    EXPECT_OK(finish(ucp_tag_recv_nbx(side.worker, to, length, next_tag,
                                      UINT64_MAX, &plain)));
    EXPECT_OK(finish(send));
}

static struct {
    char *to;
    size_t length;
    ucs_status_ptr_t request;
    bool there;
} arrival;

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    EXPECT_INT(length, ==, arrival.length);
    arrival.request = ucp_am_recv_data_nbx(side.worker, data, arrival.to,
                                           length, &plain);
    arrival.there   = true;
    return UCS_OK;
}

static void active_message(char *from, char *to, size_t length, int from_kind,
                           int to_kind)
{
    ucs_status_ptr_t send;

    arrival.to     = to;
    arrival.length = length;
    arrival.there  = false;
    send = ucp_am_send_nbx(ep->ep, AM_ID, NULL, 0, from, length, &plain);
    while (!arrival.there) {
        side_progress(&side);
    }
    EXPECT_OK(finish(arrival.request));
    EXPECT_OK(finish(send));
}

static void stream(char *from, char *to, size_t length, int from_kind,
                   int to_kind)
{
    ucp_request_param_t whole = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucs_status_ptr_t recv;
    size_t got = 0;

    if (length > 0) {
        recv = ucp_stream_recv_nbx(ep->ep, to, length, &got, &whole);
        EXPECT_OK(finish(ucp_stream_send_nbx(ep->ep, from, length, &plain)));
        EXPECT_OK(finish(recv));
    }
}

static void put(char *from, char *to, size_t length, int from_kind, int to_kind)
{
    EXPECT_OK(finish(ucp_put_nbx(ep->ep, from, length, (uintptr_t)to,
                                 rkeys[to_kind], &plain)));
    EXPECT_OK(side_flush(ep));
}

static void get(char *from, char *to, size_t length, int from_kind, int to_kind)
{
    EXPECT_OK(finish(ucp_get_nbx(ep->ep, to, length, (uintptr_t)from,
                                 rkeys[from_kind], &plain)));
}

static const struct {
    const char *name;
    void (*run)(char *from, char *to, size_t length, int from_kind,
                int to_kind);
} classes[] = {
    {"tag, expected", expected},
    {"tag, unexpected", unexpected},
    {"active message", active_message},
    {"stream", stream},
    {"put", put},
    {"get", get},
};

static void test_transfers(int from, int to)
{
    struct memory target = {.view = memory[to].view + HALF};
    uint64_t message     = 0;
    size_t i, j;

    for (i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
        printf("%s: %s to %s\n", classes[i].name, memory_kind_name(from),
               memory_kind_name(to));
        for (j = 0; j < NUM_SIZES; ++j) {
            data_fill(memory[from].view, sizes[j], ++message);
            memory_prepare(&target, sizes[j]);
            classes[i].run(memory[from].address, memory[to].address + HALF,
                           sizes[j], from, to);
            memory_verify(&target, sizes[j], message);
        }
    }
}

/* An atomic add on a word in memory of kind `there`; the operand and the result
 * are in memory of kind `here`. */
static void test_atomics(int here, int there)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                        UCP_OP_ATTR_FIELD_REPLY_BUFFER,
        .datatype     = ucp_dt_make_contig(8),
        .reply_buffer = memory[here].address + 8,
    };
    uint64_t word = 40, operand = 2, result = 0;

    memcpy(memory[there].view + HALF, &word, sizeof(word));
    memcpy(memory[here].view, &operand, sizeof(operand));
    EXPECT_OK(finish(ucp_atomic_op_nbx(ep->ep, UCP_ATOMIC_OP_ADD,
                                       memory[here].address, 1,
                                       (uintptr_t)memory[there].address + HALF,
                                       rkeys[there], &param)));
    memcpy(&result, memory[here].view + 8, sizeof(result));
    EXPECT_INT(result, ==, 40);
    memcpy(&word, memory[there].view + HALF, sizeof(word));
    EXPECT_INT(word, ==, 42);
}

/* ------------------------------------------------------------------ team -- */

static void open_all(void)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id    = AM_ID,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
        .cb    = am_handler,
    };
    void *address, *key;
    size_t size;
    int kind;

    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                         UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
    EXPECT_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    address = side_address(&side, &size);
    ep      = side_connect(&side, address);
    free(address);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_make(&side, &memory[kind], 2 * HALF, kind);
        EXPECT_OK(ucp_memh_pack(memory[kind].memh, NULL, &key, &size));
        EXPECT_OK(ucp_ep_rkey_unpack(ep->ep, key, &rkeys[kind]));
        ucp_memh_buffer_release(key, NULL);
    }
}

static void work(struct team *team, void *arg)
{
    int from, to;

    open_all();
    for (from = 0; from < memory_kinds(); ++from) {
        for (to = 0; to < memory_kinds(); ++to) {
            test_transfers(from, to);
            test_atomics(from, to);
        }
    }
    for (to = 0; to < memory_kinds(); ++to) {
        ucp_rkey_destroy(rkeys[to]);
        memory_drop(&side, &memory[to]);
    }
    side_close_ep(ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&side);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 1, work, NULL);
}
