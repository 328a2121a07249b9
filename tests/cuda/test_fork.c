/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork() in a process that uses a device of an emulated driver
 * (tests/emulated). The driver cannot be used in the child. There the UCX
 * plugin of the device (plugins/cuda, rocm or ze) must reject device memory,
 * messages of host memory must work, and the release of inherited objects must
 * not affect the parent. UCX_TLS, which meson.build sets, contains self and the
 * copier, which is the plugin's transport that copies between host and device
 * memory.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "copier.h"
#include "suite.h"

enum { LARGE = 1024 * 1024 + 4099 };

/* Forks a child that calls `use` and exits with its result. The result must be
 * 0. `use` must not contain checks of libcheck, for the reason that suite.h
 * gives at suite_fork(). */
static void run_child(int (*use)(void *address, char *data), void *address,
                      char *data)
{
    int status;
    pid_t pid;

    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        _exit(use(address, data));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Checks in the child that device memory is rejected, and releases the copier.
 * Returns 0, or the number of the failed check. */
static int release_in_child(void *address, char *data)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE};

    if (uct_md_mem_query(md, address, 1, &attr) == UCS_OK) {
        return 1;
    }
    if (uct_ep_put_short(ep, data, 8, (uintptr_t)address, UCT_INVALID_RKEY) ==
        UCS_OK) {
        return 2;
    }
    uct_ep_destroy(ep);
    uct_iface_close(iface);
    uct_md_close(md);
    return 0;
}

START_TEST(a_child_releases_the_copier_while_its_parent_copies)
{
    uct_allocated_memory_t memory = allocate(LARGE, DEVICE_MEMORY);
    char *data                    = malloc(LARGE);
    done_t done;
    int i;

    for (i = 0; i < LARGE; ++i) {
        data[i] = (char)(i * 7 + i / 255);
    }
    emulated_hold();
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory.address, data, LARGE),
                     UCS_INPROGRESS);
    run_child(release_in_child, memory.address, data);
    emulated_release();
    ck_ok(finish(&done));
    ck_assert_int_eq(memcmp(emulated_view(memory.address, LARGE), data, LARGE),
                     0);
    ck_ok(uct_mem_free(&memory));
    free(data);
}
END_TEST

/* Waits for the request and frees it; returns whether it has succeeded. */
static int is_done(ucp_worker_h worker, ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_RAW_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        do {
            ucp_worker_progress(worker);
            status = ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        ucp_request_free(request);
    }
    return status == UCS_OK;
}

/* Creates a UCP context and worker in the child, and sends a message of host
 * memory from the worker to itself. Returns 0, or the number of the failed
 * step. Does not use `address`. */
static int send_in_child(void *address, char *data)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_request_param_t none          = {0};
    ucp_ep_params_t ep_params         = {
                .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    char back[LARGE / 16] = {0};
    ucs_status_ptr_t recv;
    ucp_address_t *own;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h loop;
    size_t length;

    if ((ucp_init(&params, NULL, &context) != UCS_OK) ||
        (ucp_worker_create(context, &worker_params, &worker) != UCS_OK) ||
        (ucp_worker_get_address(worker, &own, &length) != UCS_OK)) {
        return 1;
    }
    ep_params.address = own;
    if (ucp_ep_create(worker, &ep_params, &loop) != UCS_OK) {
        return 2;
    }
    recv = ucp_tag_recv_nbx(worker, back, sizeof(back), 1, UINT64_MAX, &none);
    if (!is_done(worker,
                 ucp_tag_send_nbx(loop, data, sizeof(back), 1, &none)) ||
        !is_done(worker, recv) || (memcmp(back, data, sizeof(back)) != 0)) {
        return 3;
    }
    ucp_worker_release_address(worker, own);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return 0;
}

START_TEST(messages_of_host_memory_work_in_a_child)
{
    uct_allocated_memory_t memory = allocate(LARGE, DEVICE_MEMORY);
    char *data                    = calloc(1, LARGE);

    strcpy(data, "of the child");
    copy(1, (uintptr_t)memory.address, data, LARGE);
    run_child(send_in_child, memory.address, data);
    copy(0, (uintptr_t)memory.address, data, LARGE);
    ck_assert_str_eq(data, "of the child");
    ck_ok(uct_mem_free(&memory));
    free(data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(DEVICE_SUITE " fork");
    TCase *tcase = tcase_create(DEVICE_SUITE " fork");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_child_releases_the_copier_while_its_parent_copies);
    tcase_add_test(tcase, messages_of_host_memory_work_in_a_child);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
