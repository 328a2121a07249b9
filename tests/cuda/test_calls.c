/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the calls of the driver for a message between two workers. The driver
 * is an emulated one (tests/emulated): the library of CUDA, HIP or Level Zero
 * through which a UCX plugin (plugins/cuda, rocm or ze) uses its devices. On a
 * real device a copy takes microseconds; an allocation or a registration takes
 * hundreds of microseconds. Therefore the tests require:
 * - A small message costs one copy for each of its buffers in device memory.
 * - A large message between two buffers in device memory costs one copy in all.
 * - For each of these copies, a message makes at most CALLS_OF_A_BUFFER calls
 *   of all kinds, a large message CALLS_OF_A_DIRECT (device.h).
 * - After the first messages no call creates or releases a resource.
 * - A large put or get through host memory is copied in parts: the copy of the
 *   second part is issued before that of the first part is complete.
 *
 * The variables are set by meson.build in tests/cuda, tests/rocm and tests/ze.
 * UCX_TLS contains tcp and the copier, which is the plugin's transport that
 * copies between host and device memory. If TEST_DIRECT is set, UCX_TLS also
 * contains the plugin's IPC transport, which copies directly between the memory
 * of both workers; only the test of large messages runs then.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

#include "sides.h"
#include "suite.h"

enum {
    LARGE    = 1024 * 1024, /**< Bytes of a large message */
    WARMUP   = 5,           /**< First messages, which are not counted */
    MESSAGES = 20,          /**< Messages that are counted */
    ID       = 3,           /**< Id of the active messages */
    LENGTH   = SIDE_LENGTH, /**< Bytes of a small message */
    /** Additional calls that all counted messages together may cost: a loaded
     * machine can cause 2. It is smaller than MESSAGES, so that one additional
     * call for each message is still detected. */
    SLACK    = MESSAGES / 4,
};

typedef struct {
    const char *name;
    /* Sends `length` bytes, and returns when they have arrived. */
    void (*run)(void *from, void *to);
} operation_t;

static size_t length = LENGTH; /* Bytes of a message: LENGTH or LARGE */
static ucp_mem_h target_memh;  /* Memory of put and get, see map_target() */
static ucp_rkey_h target_rkey;
static int am_arrived; /* Set by am_handler() */
static void *am_to;    /* Where am_handler() stores the data */

/* ------------------------------------------------------------ operations -- */

static void run_tag(void *from, void *to)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t recv, send;

    recv = ucp_tag_recv_nbx(sides[1].worker, to, length, 1, UINT64_MAX, &param);
    send = ucp_tag_send_nbx(sides[0].ep, from, length, 1, &param);
    finish(send);
    finish(recv);
}

static void run_stream(void *from, void *to)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucp_request_param_t none = {0};
    ucs_status_ptr_t recv, send;
    size_t length;

    recv = ucp_stream_recv_nbx(sides[1].ep, to, LENGTH, &length, &param);
    send = ucp_stream_send_nbx(sides[0].ep, from, LENGTH, &none);
    finish(send);
    finish(recv);
}

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ck_assert_uint_eq(length, LENGTH);
    memcpy(am_to, data, length);
    am_arrived = 1;
    return UCS_OK;
}

/* The data of an eager active message arrives in host memory. */
static void run_am(void *from, void *to)
{
    ucp_request_param_t param = {0};

    am_arrived = 0;
    am_to      = sides[1].host;
    finish(ucp_am_send_nbx(sides[0].ep, ID, NULL, 0, from, LENGTH, &param));
    while (!am_arrived) {
        progress();
    }
    memcpy(to, sides[1].host, LENGTH);
}

static void flush(void)
{
    ucp_request_param_t param = {0};

    finish(ucp_ep_flush_nbx(sides[0].ep, &param));
}

static void run_put(void *from, void *to)
{
    ucp_request_param_t param = {0};

    finish(ucp_put_nbx(sides[0].ep, from, length, (uintptr_t)to, target_rkey,
                       &param));
    flush();
}

static void run_get(void *from, void *to)
{
    ucp_request_param_t param = {0};

    finish(ucp_get_nbx(sides[0].ep, to, length, (uintptr_t)from, target_rkey,
                       &param));
}

/* --------------------------------------------------------------- fixture -- */

static void setup(void)
{
    ucp_am_handler_param_t am = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = ID,
        .cb = am_handler,
    };

    sides_open(length);
    ck_ok(ucp_worker_set_am_recv_handler(sides[1].worker, &am));
}

/* Maps memory of the second side, to which the first side puts or from which it
 * gets. */
static void map_target(void *address)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = address,
        .length  = length,
    };
    void *packed;
    size_t size;

    ck_ok(ucp_mem_map(sides[1].context, &params, &target_memh));
    ck_ok(ucp_rkey_pack(sides[1].context, target_memh, &packed, &size));
    ck_ok(ucp_ep_rkey_unpack(sides[0].ep, packed, &target_rkey));
    ucp_rkey_buffer_release(packed);
}

static void unmap_target(void)
{
    ucp_rkey_destroy(target_rkey);
    ck_ok(ucp_mem_unmap(sides[1].context, target_memh));
}

/* -------------------------------------------------------------- counting -- */

/* Checks the data that fill() has written in this round. */
static void check_data(void *to, int is_device, int round)
{
    const char *view = is_device ? emulated_view(to, length) : to;
    size_t i;

    for (i = 0; i < length; ++i) {
        if (view[i] != (char)(round + 1)) {
            ck_abort_msg("byte %zu is %d, not %d", i, view[i], round + 1);
        }
    }
}

/* Sets all bytes of a buffer to a value that depends on the round. */
static void fill(void *from, int is_device, int round)
{
    memset(is_device ? emulated_view(from, length) : from, round + 1, length);
}

/* Runs the operation WARMUP + MESSAGES times, and checks the number of calls
 * for the last MESSAGES of them. from_device, to_device: whether the source and
 * the target are in device memory. */
static void count(const operation_t *operation, int from_device, int to_device)
{
    int is_get        = (operation->run == run_get);
    side_t *source    = &sides[is_get ? 1 : 0];
    side_t *sink      = &sides[is_get ? 0 : 1];
    void *from        = from_device ? source->device : source->host;
    void *to          = to_device ? sink->device : sink->host;
    unsigned long all = 0, made = 0, copies = 0;
    int i;

    if (is_get || (operation->run == run_put)) {
        map_target(is_get ? from : to);
    }
    for (i = 0; i < WARMUP + MESSAGES; ++i) {
        if (i == WARMUP) {
            all    = count_all();
            made   = count_costly();
            copies = emulated_calls(DEVICE_COPY);
        }
        fill(from, from_device, i);
        operation->run(from, to);
        check_data(to, to_device, i);
    }
    all    = count_all() - all;
    made   = count_costly() - made;
    copies = emulated_calls(DEVICE_COPY) - copies;
    if (is_get || (operation->run == run_put)) {
        unmap_target();
    }

    printf("%-6s %6s to %6s: %5.2f calls of the driver, %4.2f of them copies\n",
           operation->name, from_device ? "device" : "host",
           to_device ? "device" : "host", (double)all / MESSAGES,
           (double)copies / MESSAGES);
    ck_assert_uint_eq(made, 0);
    if (length == LARGE) {
        ck_assert_uint_eq(copies, MESSAGES);
        ck_assert_uint_le(all, CALLS_OF_A_DIRECT * copies + SLACK);
    } else {
        ck_assert_uint_eq(copies, MESSAGES * (from_device + to_device));
        ck_assert_uint_le(all, CALLS_OF_A_BUFFER * copies + SLACK);
    }
}

static const operation_t operations[] = {
    {"tag", run_tag}, {"stream", run_stream}, {"put", run_put},
    {"get", run_get}, {"am", run_am},
};

START_TEST(a_small_message_costs_one_copy_for_each_device_buffer)
{
    const operation_t *operation = &operations[_i];

    count(operation, 0, 0);
    count(operation, 1, 0);
    if (operation->run != run_am) {
        count(operation, 0, 1);
        count(operation, 1, 1);
    }
}
END_TEST

START_TEST(a_large_message_between_devices_costs_one_copy)
{
    static const operation_t direct[] = {
        {"tag", run_tag},
        {"put", run_put},
        {"get", run_get},
    };
    size_t i;

    for (i = 0; i < sizeof(direct) / sizeof(direct[0]); ++i) {
        count(&direct[i], 1, 1);
    }
}
END_TEST

/* ------------------------------------------------------------- pipelines -- */

static unsigned long copies_before;

/* Thread that waits until a second copy was issued, and then releases the
 * emulated engine. The engine executes no copy before. A plugin that waits for
 * the end of the first copy before it issues the second one would never
 * continue: the test would end with a timeout. */
static void *release_with_second_copy(void *arg)
{
    while (emulated_calls(DEVICE_COPY) - copies_before < 2) {
        sched_yield();
    }
    emulated_release();
    return NULL;
}

/* Runs a put or get between a large device buffer and a large host buffer. The
 * emulated engine is held until the second copy is issued. from_device: the
 * source is the device buffer. */
static void run_held(const operation_t *operation, int from_device)
{
    int is_get   = (operation->run == run_get);
    void *device = sides_allocate(LARGE);
    void *host   = malloc(LARGE);
    void *from   = from_device ? device : host;
    void *to     = from_device ? host : device;
    pthread_t thread;
    int round;

    ck_assert_ptr_nonnull(host);
    length = LARGE;
    map_target(is_get ? from : to);
    for (round = 0; round < 2; ++round) {
        fill(from, from_device, round);
        copies_before = emulated_calls(DEVICE_COPY);
        emulated_hold();
        ck_assert_int_eq(pthread_create(&thread, NULL, release_with_second_copy,
                                        NULL),
                         0);
        operation->run(from, to);
        pthread_join(thread, NULL);
        check_data(to, !from_device, round);
    }
    unmap_target();
    length = LENGTH;
    free(host);
    sides_free(device);
}

START_TEST(a_large_put_copies_ahead_of_what_it_sends)
{
    static const operation_t put = {"put", run_put};

    run_held(&put, 1);
}
END_TEST

START_TEST(a_large_get_copies_ahead_of_the_reply)
{
    static const operation_t get = {"get", run_get};

    run_held(&get, 1);
}
END_TEST

START_TEST(a_large_get_receives_while_it_copies)
{
    static const operation_t get = {"get", run_get};

    run_held(&get, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(DEVICE_SUITE " calls");
    TCase *tcase = tcase_create(DEVICE_SUITE " calls");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, sides_close);
    if (getenv("TEST_DIRECT") != NULL) {
        length = LARGE;
        tcase_add_test(tcase, a_large_message_between_devices_costs_one_copy);
    } else {
        tcase_add_loop_test(
            tcase, a_small_message_costs_one_copy_for_each_device_buffer, 0,
            sizeof(operations) / sizeof(operations[0]));
        tcase_add_test(tcase, a_large_put_copies_ahead_of_what_it_sends);
        tcase_add_test(tcase, a_large_get_copies_ahead_of_the_reply);
        tcase_add_test(tcase, a_large_get_receives_while_it_copies);
    }
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
