/* SPDX-License-Identifier: BSD-3-Clause */
/* Requirements and failures of a provider of libfabric (strict/), missing
 * random numbers, the cancel of a get, and the notices about lost messages and
 * closed interfaces. Each test runs in a process of its own, since the provider
 * reads its variables once. */
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH = 4096 };

static char memory[LENGTH], data[LENGTH];
static unsigned calls;        /* Number of calls of a completion */
static int is_random_lacking; /* getrandom() fails */

/* Replaces the function of the C library in all libraries of the process. */
ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    if (is_random_lacking) {
        errno = EAGAIN;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, length, flags);
}

static void on_end(uct_completion_t *comp)
{
}

START_TEST(unknown_provider_has_no_devices)
{
    uct_tl_resource_desc_t *resources;
    uct_iface_config_t *config;
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode            = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device.tl_name  = "ugni_smsg",
        .mode.device.dev_name = "lo",
    };
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
    domain_t domain;
    unsigned num;

    setenv("UCX_UGNI_PROVIDER", "unknown", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    domain_open(&domain);
    ASSERT_OK(uct_md_query_tl_resources(domain.md, &resources, &num));
    ck_assert_uint_eq(num, 0);
    uct_release_tl_resource_list(resources);
    ASSERT_OK(
        uct_md_iface_config_read(domain.md, "ugni_smsg", NULL, NULL, &config));
    ASSERT_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async));
    ASSERT_OK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_assert_int_eq(uct_iface_open(domain.md, worker, &params, config, &iface),
                     UCS_ERR_NO_DEVICE);
    uct_config_release(config);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_md_close(domain.md);
}
END_TEST

START_TEST(failed_access_fails_messages_too)
{
    uct_ep_h access, talk;
    pair_t pair;

    setenv("STRICT_FAIL", "2", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 1);
    ASSERT_OK(
        uct_ep_put_short(access, "x", 1, (uintptr_t)memory, pair.rkey.rkey));
    NODE_WAIT(&pair.a, &pair.b, pair.a.failures == 2);
    ck_assert_int_eq(pair.a.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(uct_ep_am_short(talk, NODE_AM_ID, 2, NULL, 0),
                     UCS_ERR_CONNECTION_RESET);
    uct_ep_destroy(access);
    uct_ep_destroy(talk);

    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 3);
    ck_assert_uint_eq(pair.a.failures, 2);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

/* UCP ends an endpoint at the first reported error of a lane, and its user then
 * releases the buffers. Therefore the failure must not be visible while an
 * operation may use them. */
START_TEST(failure_is_visible_when_all_operations_have_ended)
{
    uct_completion_t comp = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_iov_t iov         = {.buffer = data, .length = LENGTH, .count = 1};
    uct_ep_h access, talk;
    ucs_status_t status;
    pair_t pair;

    setenv("STRICT_FAIL", "2", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 1);
    ASSERT_OK(
        uct_ep_put_short(access, "x", 1, (uintptr_t)memory, pair.rkey.rkey));
    ck_assert_int_eq(uct_ep_get_zcopy(access, &iov, 1, (uintptr_t)memory,
                                      pair.rkey.rkey, &comp),
                     UCS_INPROGRESS);
    while (((status = uct_ep_flush(access, 0, NULL)) == UCS_INPROGRESS) ||
           (status == UCS_ERR_NO_RESOURCE)) {
        ck_assert_int_ne(uct_ep_check(talk, 0, NULL), UCS_ERR_CONNECTION_RESET);
        uct_worker_progress(pair.a.worker);
        uct_worker_progress(pair.b.worker);
    }
    ck_assert_int_eq(status, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(comp.count, 0);
    NODE_WAIT(&pair.a, &pair.b, pair.a.failures == 2);
    uct_ep_destroy(access);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

START_TEST(full_address_vector_rejects_endpoints)
{
    uct_ep_h first, second;
    pair_t pair;
    node_t c;

    setenv("STRICT_ADDRESSES", "1", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    pair_open(&pair, memory, LENGTH);
    node_open(&c, &pair.domain);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &first));
    ck_assert_int_eq(node_connect(&pair.a, NODE_SMSG, &c, &second),
                     UCS_ERR_NO_MEMORY);
    node_say(&pair.a, first, &pair.b, 1);
    uct_ep_destroy(first);
    node_close(&c);
    pair_close(&pair);
}
END_TEST

START_TEST(rejected_length_fails_the_endpoint)
{
    pair_t pair;
    uct_ep_h talk;

    setenv("STRICT_MESSAGE", "100", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 1);
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 2, data, 512));
    NODE_WAIT(&pair.a, &pair.b, pair.a.failures == 1);
    uct_ep_destroy(talk);

    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 3);
    ck_assert_uint_eq(pair.b.received, 2);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

START_TEST(rejected_receives_are_reported_once)
{
    int fd = memfd_create("log", 0), saved = dup(STDERR_FILENO);
    char log[4096];
    const char *report;
    uct_ep_h talk;
    ssize_t length;
    pair_t pair;

    setenv("STRICT_RECEIVES", "3", 1);
    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    for (unsigned i = 0; i < 3; ++i) {
        node_say(&pair.a, talk, &pair.b, i);
    }
    uct_ep_destroy(talk);
    pair_close(&pair);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);

    length = pread(fd, log, sizeof(log) - 1, 0);
    ck_assert_int_gt(length, 0);
    log[length] = '\0';
    report      = strstr(log, "accepts no more receive buffers");
    ck_assert_msg(report != NULL, "the log is: %s", log);
    /* One report for each of the two nodes */
    report = strstr(report + 1, "accepts no more receive buffers");
    ck_assert_ptr_nonnull(report);
    ck_assert_ptr_null(strstr(report + 1, "accepts no more receive buffers"));
    close(saved);
    close(fd);
}
END_TEST

/* Modes with FI_MR_ENDPOINT: in the first entry the plugin chooses the keys, in
 * the others the provider does */
static const char *const endpoint_modes[] = {
    "endpoint",
    "endpoint,prov_key,virt_addr",
    "local,endpoint,raw",
};

START_TEST(memory_is_accessible_by_later_interfaces)
{
    uct_rkey_bundle_t rkey;
    uct_ep_h access;
    domain_t domain;
    uct_mem_h memh;
    node_t a, b;

    setenv("STRICT_MODES", endpoint_modes[_i], 1);
    domain_open(&domain);
    node_open(&a, &domain);
    memh = node_register(&domain, memory, sizeof(memory), &rkey);
    node_open(&b, &domain);
    ASSERT_OK(node_connect(&a, NODE_RDMA, &b, &access));
    ASSERT_OK(
        uct_ep_put_short(access, "late", 4, (uintptr_t)memory, rkey.rkey));
    ASSERT_OK(node_flush(&a, access, &b));
    ck_assert_mem_eq(memory, "late", 4);
    uct_ep_destroy(access);
    node_close(&b);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    node_close(&a);
    uct_md_close(domain.md);
}
END_TEST

START_TEST(raw_key_is_released_after_its_domain)
{
    uct_ep_h access;
    pair_t pair;

    setenv("STRICT_MODES", "raw", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    ASSERT_OK(uct_ep_put_short(access, "raw", 3, (uintptr_t)memory + 5,
                               pair.rkey.rkey));
    ASSERT_OK(node_flush(&pair.a, access, &pair.b));
    ck_assert_mem_eq(memory + 5, "raw", 3);
    uct_ep_destroy(access);
    pair_close_but_key(&pair);
    uct_rkey_release(pair.domain.component, &pair.rkey);
}
END_TEST

/* Without random numbers, all memory would have the same key, which any peer
 * can guess. */
START_TEST(memory_is_not_registered_without_random_numbers)
{
    uct_mem_h memh;
    pair_t pair;

    setenv("UCX_LOG_LEVEL", "fatal", 1);
    pair_open(&pair, memory, LENGTH);
    is_random_lacking = 1;
    ck_assert_int_eq(uct_md_mem_reg(pair.domain.md, data, LENGTH,
                                    UCT_MD_MEM_ACCESS_ALL, &memh),
                     UCS_ERR_IO_ERROR);
    is_random_lacking = 0;
    ASSERT_OK(uct_md_mem_reg(pair.domain.md, data, LENGTH,
                             UCT_MD_MEM_ACCESS_ALL, &memh));
    ASSERT_OK(uct_md_mem_dereg(pair.domain.md, memh));
    pair_close(&pair);
}
END_TEST

START_TEST(local_mode_needs_a_registration)
{
    uct_completion_t comp = {.count = 2, .status = UCS_OK};
    uct_md_attr_t attr;
    pair_t pair;
    uct_ep_h access;
    uct_iov_t iov;

    setenv("STRICT_MODES", "local", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(uct_md_query(pair.domain.md, &attr));
    ck_assert(attr.cap.flags & UCT_MD_FLAG_NEED_MEMH);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    iov = (uct_iov_t){
        .buffer = memory,
        .length = 8,
        .count  = 1,
        .memh   = UCT_MEM_HANDLE_NULL,
    };
    ck_assert_int_eq(uct_ep_put_zcopy(access, &iov, 1, (uintptr_t)memory + 64,
                                      pair.rkey.rkey, &comp),
                     UCS_ERR_INVALID_PARAM);
    memcpy(memory, "directly", 8);
    iov.memh = pair.memh;
    ck_assert_int_eq(uct_ep_put_zcopy(access, &iov, 1, (uintptr_t)memory + 64,
                                      pair.rkey.rkey, &comp),
                     UCS_INPROGRESS);
    ASSERT_OK(node_flush(&pair.a, access, &pair.b));
    ck_assert_int_eq(comp.count, 1);
    ck_assert_mem_eq(memory + 64, "directly", 8);
    uct_ep_destroy(access);
    pair_close(&pair);
}
END_TEST

static void count_call(uct_completion_t *comp)
{
    ck_assert_int_eq(comp->status, UCS_ERR_CANCELED);
    ++calls;
}

/* Starts a get from `b` to `data`, cancels the get by a flush, and destroys the
 * endpoint. Meanwhile neither node makes progress. */
static void cancel_get(node_t *a, const node_t *b,
                       const uct_rkey_bundle_t *rkey, uct_completion_t *comp)
{
    uct_iov_t iov = {.buffer = data, .length = sizeof(data), .count = 1};
    uct_ep_h access;

    *comp = (uct_completion_t){.func = count_call, .count = 1};
    ASSERT_OK(node_connect(a, NODE_RDMA, b, &access));
    ck_assert_int_eq(uct_ep_get_zcopy(access, &iov, 1, (uintptr_t)memory,
                                      rkey->rkey, comp),
                     UCS_INPROGRESS);
    ck_assert_int_eq(uct_ep_flush(access, UCT_FLUSH_FLAG_CANCEL, NULL),
                     UCS_INPROGRESS);
    ck_assert_uint_eq(calls, 0);
    uct_ep_destroy(access);
}

START_TEST(cancelled_get_ends_when_its_buffer_is_free)
{
    uct_completion_t comp;
    pair_t pair;
    uct_ep_h access;

    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_RDMA, &pair.b, &access));
    ASSERT_OK(
        uct_ep_put_short(access, "kept", 4, (uintptr_t)memory, pair.rkey.rkey));
    ASSERT_OK(node_flush(&pair.a, access, &pair.b));
    uct_ep_destroy(access);

    cancel_get(&pair.a, &pair.b, &pair.rkey, &comp);
    NODE_WAIT(&pair.a, &pair.b, calls == 1);
    ck_assert_mem_eq(data, "kept", 4);

    /* A peer that never replies holds the buffer for a limited time. */
    calls = 0;
    cancel_get(&pair.a, &pair.b, &pair.rkey, &comp);
    NODE_WAIT(&pair.a, &pair.a, calls == 1);
    pair_close(&pair);
    ck_assert_uint_eq(calls, 1);
}
END_TEST

/* Loses the second message of `a`, then waits until the endpoint of `a` has
 * failed. */
static void lose_message(node_t *a, node_t *b, uct_ep_h talk)
{
    node_say(a, talk, b, 1);
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 2, NULL, 0));
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 3, NULL, 0));
    ASSERT_OK(node_flush(a, talk, b));
    ASSERT_OK(uct_ep_check(talk, 0, NULL)); /* Sends the address of `a` */
    NODE_WAIT(a, b, a->failures == 1);
    ck_assert_uint_eq(b->received, 1);
    ck_assert_int_eq(a->failed, UCS_ERR_CONNECTION_RESET);
}

START_TEST(lost_message_fails_both_sides)
{
    uct_ep_h talk, reply;
    pair_t pair;

    setenv("STRICT_LOSE", "2", 1);
    setenv("UCX_UGNI_TIMEOUT", "1s", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    ASSERT_OK(node_connect(&pair.b, NODE_SMSG, &pair.a, &reply));
    lose_message(&pair.a, &pair.b, talk);
    NODE_WAIT(&pair.a, &pair.b, pair.b.failures == 1);
    uct_ep_destroy(talk);
    uct_ep_destroy(reply);

    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    node_say(&pair.a, talk, &pair.b, 4);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

START_TEST(lost_message_is_told_to_a_sender_without_an_endpoint)
{
    pair_t pair;
    uct_ep_h talk;

    setenv("STRICT_LOSE", "2", 1);
    setenv("UCX_UGNI_TIMEOUT", "1s", 1);
    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    lose_message(&pair.a, &pair.b, talk);
    ck_assert_uint_eq(pair.b.failures, 0);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

/* libfabric reports no error when an idle connection ends. */
START_TEST(closed_interface_is_reported_to_idle_peers)
{
    uct_ep_h talk, reply;
    pair_t pair;

    pair_open(&pair, memory, LENGTH);
    ASSERT_OK(node_connect(&pair.a, NODE_SMSG, &pair.b, &talk));
    ASSERT_OK(node_connect(&pair.b, NODE_SMSG, &pair.a, &reply));
    node_say(&pair.a, talk, &pair.b, 1);
    node_say(&pair.b, reply, &pair.a, 2);
    uct_ep_destroy(reply);
    node_close(&pair.b);
    NODE_WAIT(&pair.a, &pair.a, pair.a.failures == 1);
    ck_assert_int_eq(pair.a.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(pair.a.received, 1);
    uct_ep_destroy(talk);
    node_open(&pair.b, &pair.domain);
    pair_close(&pair);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("provider");

    tcase_add_test(tcase, unknown_provider_has_no_devices);
    tcase_add_test(tcase, failed_access_fails_messages_too);
    tcase_add_test(tcase, failure_is_visible_when_all_operations_have_ended);
    tcase_add_test(tcase, full_address_vector_rejects_endpoints);
    tcase_add_test(tcase, rejected_length_fails_the_endpoint);
    tcase_add_test(tcase, rejected_receives_are_reported_once);
    tcase_add_loop_test(tcase, memory_is_accessible_by_later_interfaces, 0,
                        sizeof(endpoint_modes) / sizeof(endpoint_modes[0]));
    tcase_add_test(tcase, raw_key_is_released_after_its_domain);
    tcase_add_test(tcase, memory_is_not_registered_without_random_numbers);
    tcase_add_test(tcase, local_mode_needs_a_registration);
    tcase_add_test(tcase, cancelled_get_ends_when_its_buffer_is_free);
    tcase_add_test(tcase, lost_message_fails_both_sides);
    tcase_add_test(tcase, lost_message_is_told_to_a_sender_without_an_endpoint);
    tcase_add_test(tcase, closed_interface_is_reported_to_idle_peers);
    return node_run(tcase);
}
