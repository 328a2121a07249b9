/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by socket address, without a connection manager: the messages
 * that client and server exchange (ucp/cm/hello.h), the limit of an address's
 * length, sends, keys and failures of endpoints that have no lanes yet, and
 * parameters and queries that are invalid. tests/integration/client_server.c
 * tests real connections.
 */
#include "suite.h"

#include "ucp/cm/cm.h"
#include "ucp/cm/hello.h"
#include "ucp/mem/packed.h"
#include "ucp/order/queue.h"
#include "ucp/rma/rkey.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/create.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static ucp_context_h context;
static ucp_worker_h worker;

static void open_worker(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {.field_mask = 0};

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
}

static void close_worker(void)
{
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

/* ----------------------------------------------------------------- hello -- */

START_TEST(hello_message_carries_all_fields)
{
    char address[]       = "an address";
    ucp_cm_hello_t hello = {
        .ep_id          = 0x1234567890abcdef,
        .flags          = UCP_CM_HELLO_ERR_MODE,
        .has_client_id  = 1,
        .client_id      = 42,
        .address        = address,
        .address_length = sizeof(address),
    };
    char packed[100];
    ucp_cm_hello_t got;
    size_t length;

    ck_assert_uint_le(ucp_cm_hello_overhead() + sizeof(address),
                      sizeof(packed));
    length = ucp_cm_hello_pack(&hello, packed);
    ck_assert_uint_le(length, ucp_cm_hello_overhead() + sizeof(address));
    ck_assert_int_eq(ucp_cm_hello_unpack(packed, length, &got), UCS_OK);
    ck_assert_uint_eq(got.ep_id, hello.ep_id);
    ck_assert_uint_eq(got.flags, hello.flags);
    ck_assert_uint_eq(got.client_id, 42);
    ck_assert_uint_eq(got.address_length, sizeof(address));
    ck_assert_mem_eq(got.address, address, sizeof(address));
}
END_TEST

START_TEST(hello_that_is_cut_is_refused)
{
    char address[]       = "an address";
    ucp_cm_hello_t hello = {
        .ep_id          = 1,
        .address        = address,
        .address_length = sizeof(address),
    };
    char packed[100];
    ucp_cm_hello_t got;
    size_t length, i;

    length = ucp_cm_hello_pack(&hello, packed);
    for (i = 0; i < length; ++i) {
        ck_assert_int_eq(ucp_cm_hello_unpack(packed, i, &got),
                         UCS_ERR_INVALID_PARAM);
    }
}
END_TEST

/* --------------------------------------------------------------- address -- */

START_TEST(address_near_keeps_to_its_limit)
{
    ucp_address_info_t *info = malloc(sizeof(*info));
    void *whole, *address;
    size_t whole_length, length, limit;

    setenv("UCX_ADDRESS_DEBUG_INFO", "y", 1);
    open_worker();
    unsetenv("UCX_ADDRESS_DEBUG_INFO");
    ck_assert_int_eq(ucp_address_pack_near(worker, "", 2048, &whole,
                                           &whole_length),
                     UCS_OK);
    ck_assert_int_eq(ucp_address_unpack(whole, whole_length, info), UCS_OK);
    ck_assert_str_eq(info->name, worker->name);
    for (limit = whole_length - 12; limit < whole_length; ++limit) {
        if (ucp_address_pack_near(worker, "", limit, &address, &length) !=
            UCS_OK) {
            continue;
        }
        /* If the limit is too short, the worker's name is omitted first; the
         * only interface is not. */
        ck_assert_uint_le(length, limit);
        ck_assert_int_eq(ucp_address_unpack(address, length, info), UCS_OK);
        ck_assert_uint_eq(info->uuid, worker->uuid);
        ck_assert_uint_ge(info->num_entries, 1);
        ck_assert_str_ne(info->name, worker->name);
        free(address);
    }
    ck_assert_int_eq(ucp_address_pack_near(worker, "", 20, &address, &length),
                     UCS_ERR_EXCEEDS_LIMIT);
    free(whole);
    free(info);
    close_worker();
}
END_TEST

/* ----------------------------------------------------- not yet connected -- */

/* An endpoint without lanes queues all sends until it has lanes. */
START_TEST(unconnected_ep_keeps_what_is_sent)
{
    static char out[1 << 20], in[1 << 20];
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    };
    const size_t sizes[] = {0, 8, 4096, sizeof(out)};
    ucs_status_ptr_t sends[4], receives[4];
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS};
    ucp_transport_entry_t entries[4];
    size_t i, length;
    void *address;
    ucp_ep_h ep;

    open_worker();
    ck_assert_int_eq(ucp_ep_create_unconnected(worker, 0, &ep), UCS_OK);
    ck_assert(ep->config->unconnected);
    attr.transports.entries     = entries;
    attr.transports.num_entries = 4;
    attr.transports.entry_size  = sizeof(entries[0]);
    ck_assert_int_eq(ucp_ep_query(ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 0);

    memset(out, 'x', sizeof(out));
    for (i = 0; i < 4; ++i) {
        sends[i] = ucp_tag_send_nbx(ep, out, sizes[i], i, &param);
        ck_assert(UCS_PTR_IS_PTR(sends[i]));
    }
    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(worker);
    }
    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(ucp_request_check_status(sends[i]), UCS_INPROGRESS);
        ck_assert_ptr_null(ucp_tag_probe_nb(worker, i, UINT64_MAX, 0,
                                            &(ucp_tag_recv_info_t){0}));
    }

    ck_assert_int_eq(ucp_address_pack(worker, 0, &address, &length), UCS_OK);
    ck_assert_int_eq(ucp_ep_connect(ep, address, length), UCS_OK);
    free(address);
    ck_assert(!ep->config->unconnected);
    ucp_ep_resume(ep);
    for (i = 0; i < 4; ++i) {
        receives[i] = ucp_tag_recv_nbx(worker, in, sizeof(in), i, UINT64_MAX,
                                       &param);
        while (ucp_request_check_status(receives[i]) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ck_assert_int_eq(ucp_request_check_status(receives[i]), UCS_OK);
        ck_assert_mem_eq(in, out, sizes[i]);
        ucp_request_free(receives[i]);
        while (ucp_request_check_status(sends[i]) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ck_assert_int_eq(ucp_request_check_status(sends[i]), UCS_OK);
        ucp_request_free(sends[i]);
    }
    close_worker();
}
END_TEST

/* A key that is unpacked before the endpoint has lanes can be used at once, and
 * is complete after the lanes are opened. */
START_TEST(unconnected_ep_takes_keys)
{
    static uint64_t memory[512], out[512], in[512];
    ucp_mem_map_params_t map_params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length  = sizeof(memory),
    };
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    };
    ucs_status_ptr_t requests[3];
    void *address, *packed;
    size_t length, i;
    ucp_rkey_h rkey, late;
    ucp_mem_h memh;
    ucp_ep_h ep;

    open_worker();
    ck_assert_int_eq(ucp_mem_map(context, &map_params, &memh), UCS_OK);
    ck_assert_int_eq(ucp_rkey_pack(context, memh, &packed, &length), UCS_OK);
    ck_assert_int_eq(ucp_ep_create_unconnected(worker, 0, &ep), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(ep, packed, &rkey), UCS_OK);
    ck_assert_uint_eq(rkey->lanes, 0);

    memset(out, 7, sizeof(out));
    requests[0] = ucp_put_nbx(ep, out, sizeof(out), (uintptr_t)memory, rkey,
                              &param);
    ck_assert_int_eq(ucp_request_check_status(requests[0]), UCS_INPROGRESS);
    ck_assert_int_eq(ucp_address_pack(worker, 0, &address, &length), UCS_OK);
    ck_assert_int_eq(ucp_ep_connect(ep, address, length), UCS_OK);
    free(address);
    ucp_ep_resume(ep);
    /* operations after a fence use another protocol, which must also work */
    ck_assert_int_eq(ucp_worker_fence(worker), UCS_OK);
    requests[1] = ucp_get_nbx(ep, in, sizeof(in), (uintptr_t)memory, rkey,
                              &param);
    requests[2] = ucp_ep_flush_nbx(ep, &param);
    for (i = 0; i < 3; ++i) {
        while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ck_assert_int_eq(ucp_request_check_status(requests[i]), UCS_OK);
        ucp_request_free(requests[i]);
    }
    ck_assert_mem_eq(in, out, sizeof(out));

    /* the get has completed the early key: `rkey` equals a key that is unpacked
     * now */
    ck_assert_int_eq(ucp_ep_rkey_unpack(ep, packed, &late), UCS_OK);
    ck_assert_uint_ne(late->lanes, 0);
    ck_assert_uint_eq(rkey->lanes, late->lanes);
    ck_assert_ptr_eq(rkey->config, late->config);
    ck_assert_uint_eq(rkey->num_parts, late->num_parts);
    ck_assert_ptr_null(rkey->packed);
    ucp_rkey_buffer_release(packed);
    ucp_rkey_destroy(late);
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(context, memh), UCS_OK);

    close_worker();
}
END_TEST

/* Returns a copy of a packed key, which the caller frees, of memory that only
 * lanes can access. */
static void *pack_for_lanes(const void *packed)
{
    ucp_packed_mem_t *mem = malloc(sizeof(*mem));
    size_t length;
    void *copy;

    ck_assert_ptr_nonnull(mem);
    ck_assert_int_eq(ucp_packed_read(packed,
                                     ucp_packed_length(packed, UCP_PACKED_RKEY),
                                     UCP_PACKED_RKEY, mem),
                     UCS_OK);
    mem->by_owner = 0;
    ck_assert_int_eq(ucp_packed_write(mem, UCP_PACKED_RKEY, &copy, &length),
                     UCS_OK);
    free(mem);
    return copy;
}

/* The owner cannot access the memory itself (for example that of a device):
 * operations wait for the lanes. If no lane can access it either, they fail. */
static void use_key_for_lanes(int has_lanes)
{
    static uint64_t memory[512], out[512], in[512];
    ucp_mem_map_params_t map_params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length  = sizeof(memory),
    };
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    };
    void *address, *packed, *for_lanes;
    ucs_status_ptr_t requests[2];
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t length;
    ucp_ep_h ep;
    int i;

    open_worker();
    ck_assert_int_eq(ucp_mem_map(context, &map_params, &memh), UCS_OK);
    ck_assert_int_eq(ucp_rkey_pack(context, memh, &packed, &length), UCS_OK);
    for_lanes = pack_for_lanes(packed);
    ucp_rkey_buffer_release(packed);
    ck_assert_int_eq(ucp_ep_create_unconnected(worker, 0, &ep), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(ep, for_lanes, &rkey), UCS_OK);
    free(for_lanes);

    memset(in, 0, sizeof(in));
    memset(memory, 0, sizeof(memory));
    memset(out, 7, sizeof(out));
    requests[0] = ucp_put_nbx(ep, out, sizeof(out), (uintptr_t)memory, rkey,
                              &param);
    ck_assert_int_eq(ucp_request_check_status(requests[0]), UCS_INPROGRESS);
    ck_assert_int_eq(ucp_address_pack(worker, 0, &address, &length), UCS_OK);
    if (!has_lanes) {
        worker->ifaces[0].lane.put.max_short = 0;
        worker->ifaces[0].lane.put.max_bcopy = 0;
        worker->ifaces[0].lane.put.max_zcopy = 0;
    }
    ck_assert_int_eq(ucp_ep_connect(ep, address, length), UCS_OK);
    free(address);
    requests[1] = ucp_get_nbx(ep, in, sizeof(in), (uintptr_t)memory, rkey,
                              &param);
    ucp_ep_resume(ep);
    for (i = 0; i < 2; ++i) {
        while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
    }
    ck_assert_int_eq(ucp_request_check_status(requests[0]),
                     has_lanes ? UCS_OK : UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucp_request_check_status(requests[1]), UCS_OK);
    ck_assert_mem_eq(memory, has_lanes ? out : in, sizeof(out));
    ck_assert_mem_eq(in, memory, sizeof(in));
    for (i = 0; i < 2; ++i) {
        ucp_request_free(requests[i]);
    }
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(context, memh), UCS_OK);
    close_worker();
}

START_TEST(unconnected_ep_takes_keys_that_need_lanes)
{
    use_key_for_lanes(1);
    use_key_for_lanes(0);
}
END_TEST

/* No transport can carry the messages of an endpoint. */
START_TEST(unconnected_ep_needs_messages)
{
    ucp_ep_h ep;
    unsigned i;

    open_worker();
    for (i = 0; i < worker->num_ifaces; ++i) {
        worker->ifaces[i].lane.am.max_bcopy = 0;
    }
    ck_assert_int_eq(ucp_ep_create_unconnected(worker, 0, &ep),
                     UCS_ERR_UNREACHABLE);
    close_worker();
}
END_TEST

START_TEST(unconnected_ep_ends_what_waits)
{
    static char data[1 << 16];
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t small, large;
    ucp_ep_h ep;

    open_worker();
    ck_assert_int_eq(ucp_ep_create_unconnected(worker, UCP_EP_FLAG_ERR_MODE,
                                               &ep),
                     UCS_OK);
    small = ucp_tag_send_nbx(ep, data, 8, 1, &param);
    large = ucp_tag_send_nbx(ep, data, sizeof(data), 1, &param);
    ucp_ep_fail(ep, UCS_ERR_REJECTED);
    ck_assert_int_eq(ucp_request_check_status(small), UCS_ERR_REJECTED);
    ck_assert_int_eq(ucp_request_check_status(large), UCS_ERR_REJECTED);
    ucp_request_free(small);
    ucp_request_free(large);
    ck_assert_int_eq(UCS_PTR_STATUS(ucp_tag_send_nbx(ep, data, 8, 1, &param)) <
                         0,
                     1);
    close_worker();
}
END_TEST

/* -------------------------------------------------------- bad parameters -- */

static void on_request(ucp_conn_request_h request, void *arg)
{
    (void)request;
    (void)arg;
}

static void on_accepted(ucp_ep_h ep, void *arg)
{
    (void)ep;
    (void)arg;
}

START_TEST(listener_needs_an_address_and_one_handler)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {htonl(INADDR_LOOPBACK)},
    };
    const ucp_listener_params_t good = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr       = {(struct sockaddr *)&address, sizeof(address)},
        .conn_handler   = {.cb = on_request},
        .accept_handler = {.cb = on_accepted},
    };
    ucp_listener_params_t params;
    ucp_listener_h listener;

    open_worker();
    params = good;
    params.field_mask &= ~(uint64_t)UCP_LISTENER_PARAM_FIELD_SOCK_ADDR;
    ck_assert_int_eq(ucp_listener_create(worker, &params, &listener),
                     UCS_ERR_INVALID_PARAM);
    params               = good;
    params.sockaddr.addr = NULL;
    ck_assert_int_eq(ucp_listener_create(worker, &params, &listener),
                     UCS_ERR_INVALID_PARAM);
    params = good;
    params.field_mask |= UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER;
    ck_assert_int_eq(ucp_listener_create(worker, &params, &listener),
                     UCS_ERR_INVALID_PARAM);
    params = good;
    params.field_mask &= ~(uint64_t)UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    ck_assert_int_eq(ucp_listener_create(worker, &params, &listener),
                     UCS_ERR_INVALID_PARAM);
    params                 = good;
    params.conn_handler.cb = NULL;
    ck_assert_int_eq(ucp_listener_create(worker, &params, &listener),
                     UCS_ERR_INVALID_PARAM);
    /* valid parameters, but no plugin with a connection manager */
    ck_assert_int_eq(ucp_listener_create(worker, &good, &listener),
                     UCS_ERR_UNSUPPORTED);
    close_worker();
}
END_TEST

START_TEST(ep_needs_exactly_one_target)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr   = {htonl(INADDR_LOOPBACK)},
        .sin_port   = htons(1),
    };
    const ucp_ep_params_t good = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS,
        .flags      = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr   = {(struct sockaddr *)&address, sizeof(address)},
    };
    ucp_ep_params_t params;
    ucp_ep_h ep;

    open_worker();
    params       = good;
    params.flags = 0;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params            = good;
    params.field_mask = UCP_EP_PARAM_FIELD_FLAGS;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params = good;
    params.field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params = good;
    params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params               = good;
    params.sockaddr.addr = NULL;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params = good;
    params.field_mask |= UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params            = good;
    params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_ep_create(worker, &good, &ep), UCS_ERR_UNSUPPORTED);
    close_worker();
}
END_TEST

START_TEST(ep_by_address_has_no_sockaddr)
{
    ucp_ep_attr_t attr     = {.field_mask = UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR};
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;

    open_worker();
    ck_assert_int_eq(ucp_worker_get_address(worker, &address, &length), UCS_OK);
    params.address = address;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep), UCS_OK);
    ck_assert_int_eq(ucp_ep_query(ep, &attr), UCS_ERR_NOT_CONNECTED);
    ucp_worker_release_address(worker, address);
    close_worker();
}
END_TEST

SUITE_MAIN("connections", hello_message_carries_all_fields,
           hello_that_is_cut_is_refused, address_near_keeps_to_its_limit,
           unconnected_ep_keeps_what_is_sent, unconnected_ep_takes_keys,
           unconnected_ep_takes_keys_that_need_lanes,
           unconnected_ep_needs_messages, unconnected_ep_ends_what_waits,
           listener_needs_an_address_and_one_handler,
           ep_needs_exactly_one_target, ep_by_address_has_no_sockaddr)
