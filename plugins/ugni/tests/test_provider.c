/* SPDX-License-Identifier: BSD-3-Clause */
/* What a provider of libfabric demands, and what fails in it. Each test runs in
 * a process of its own, since the provider reads its variables once. */
#include "node.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 4096 };

static char memory[LENGTH];

START_TEST(failed_access_fails_messages_too)
{
    uct_rkey_bundle_t rkey;
    uct_ep_h access, talk;
    domain_t domain;
    node_t a, b;
    uct_mem_h memh;

    setenv("STRICT_FAIL", "2", 1);
    domain_open(&domain);
    node_open(&a, &domain);
    node_open(&b, &domain);
    memh = node_register(&domain, memory, sizeof(memory), &rkey);
    ASSERT_OK(node_connect(&a, NODE_RDMA, &b, &access));
    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &talk));
    node_say(&a, talk, &b, 1);
    ASSERT_OK(uct_ep_put_short(access, "x", 1, (uintptr_t)memory, rkey.rkey));
    NODE_WAIT(&a, &b, a.failures == 2);
    ck_assert_int_eq(a.failed, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(uct_ep_am_short(talk, NODE_AM_ID, 2, NULL, 0),
                     UCS_ERR_CONNECTION_RESET);
    uct_ep_destroy(access);
    uct_ep_destroy(talk);

    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &talk));
    node_say(&a, talk, &b, 3);
    ck_assert_uint_eq(a.failures, 2);
    uct_ep_destroy(talk);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
}
END_TEST

START_TEST(full_address_vector_rejects_endpoints)
{
    uct_ep_h first, second;
    domain_t domain;
    node_t a, b, c;

    setenv("STRICT_ADDRESSES", "1", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    domain_open(&domain);
    node_open(&a, &domain);
    node_open(&b, &domain);
    node_open(&c, &domain);
    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &first));
    ck_assert_int_eq(node_connect(&a, NODE_SMSG, &c, &second),
                     UCS_ERR_NO_MEMORY);
    node_say(&a, first, &b, 1);
    uct_ep_destroy(first);
    node_close(&c);
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
}
END_TEST

START_TEST(rejected_length_fails_the_endpoint)
{
    char data[512] = {0};
    domain_t domain;
    uct_ep_h talk;
    node_t a, b;

    setenv("STRICT_MESSAGE", "100", 1);
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    domain_open(&domain);
    node_open(&a, &domain);
    node_open(&b, &domain);
    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &talk));
    node_say(&a, talk, &b, 1);
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 2, data, sizeof(data)));
    NODE_WAIT(&a, &b, a.failures == 1);
    uct_ep_destroy(talk);

    ASSERT_OK(node_connect(&a, NODE_SMSG, &b, &talk));
    node_say(&a, talk, &b, 3);
    ck_assert_uint_eq(b.received, 2);
    uct_ep_destroy(talk);
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
}
END_TEST

START_TEST(memory_is_accessible_by_later_interfaces)
{
    uct_rkey_bundle_t rkey;
    uct_ep_h access;
    domain_t domain;
    uct_mem_h memh;
    node_t a, b;

    setenv("STRICT_MODES", "endpoint", 1);
    domain_open(&domain);
    node_open(&a, &domain);
    memh = node_register(&domain, memory, sizeof(memory), &rkey);
    node_open(&b, &domain);
    ASSERT_OK(node_connect(&a, NODE_RDMA, &b, &access));
    ASSERT_OK(uct_ep_put_short(access, "late", 4, (uintptr_t)memory,
                               rkey.rkey));
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
    uct_rkey_bundle_t rkey;
    uct_ep_h access;
    domain_t domain;
    uct_mem_h memh;
    node_t a, b;

    setenv("STRICT_MODES", "raw", 1);
    domain_open(&domain);
    node_open(&a, &domain);
    node_open(&b, &domain);
    memh = node_register(&domain, memory, sizeof(memory), &rkey);
    ASSERT_OK(node_connect(&a, NODE_RDMA, &b, &access));
    ASSERT_OK(uct_ep_put_short(access, "raw", 3, (uintptr_t)memory + 5,
                               rkey.rkey));
    ASSERT_OK(node_flush(&a, access, &b));
    ck_assert_mem_eq(memory + 5, "raw", 3);
    uct_ep_destroy(access);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
    uct_rkey_release(domain.component, &rkey);
}
END_TEST

START_TEST(local_mode_needs_a_registration)
{
    uct_completion_t comp = {.count = 2, .status = UCS_OK};
    uct_rkey_bundle_t rkey;
    uct_md_attr_t attr;
    domain_t domain;
    uct_ep_h access;
    uct_mem_h memh;
    uct_iov_t iov;
    node_t a, b;

    setenv("STRICT_MODES", "local", 1);
    domain_open(&domain);
    ASSERT_OK(uct_md_query(domain.md, &attr));
    ck_assert(attr.cap.flags & UCT_MD_FLAG_NEED_MEMH);
    node_open(&a, &domain);
    node_open(&b, &domain);
    memh = node_register(&domain, memory, sizeof(memory), &rkey);
    ASSERT_OK(node_connect(&a, NODE_RDMA, &b, &access));
    iov = (uct_iov_t){.buffer = memory, .length = 8, .count = 1,
                      .memh = UCT_MEM_HANDLE_NULL};
    ck_assert_int_eq(uct_ep_put_zcopy(access, &iov, 1, (uintptr_t)memory + 64,
                                      rkey.rkey, &comp),
                     UCS_ERR_INVALID_PARAM);
    memcpy(memory, "directly", 8);
    iov.memh = memh;
    ck_assert_int_eq(uct_ep_put_zcopy(access, &iov, 1, (uintptr_t)memory + 64,
                                      rkey.rkey, &comp), UCS_INPROGRESS);
    ASSERT_OK(node_flush(&a, access, &b));
    ck_assert_int_eq(comp.count, 1);
    ck_assert_mem_eq(memory + 64, "directly", 8);
    uct_ep_destroy(access);
    uct_rkey_release(domain.component, &rkey);
    ASSERT_OK(uct_md_mem_dereg(domain.md, memh));
    node_close(&b);
    node_close(&a);
    uct_md_close(domain.md);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ugni");
    TCase *tcase = tcase_create("provider");
    SRunner *runner;
    int failed;

    tcase_add_test(tcase, failed_access_fails_messages_too);
    tcase_add_test(tcase, full_address_vector_rejects_endpoints);
    tcase_add_test(tcase, rejected_length_fails_the_endpoint);
    tcase_add_test(tcase, memory_is_accessible_by_later_interfaces);
    tcase_add_test(tcase, raw_key_is_released_after_its_domain);
    tcase_add_test(tcase, local_mode_needs_a_registration);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
