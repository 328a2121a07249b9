/* SPDX-License-Identifier: BSD-3-Clause */
/* See ipc_user.h. */
#include "ipc_user.h"
#include "suite.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

uct_ep_h ep;

/* --------------------------------------------------------------- fixture -- */

static addresses_t peer; /* Addresses of the owner's interface */

void connect_ep(void)
{
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .dev_addr   = (const uct_device_addr_t *)peer.device,
        .iface_addr = (const uct_iface_addr_t *)peer.iface,
    };

    ck_ok(uct_ep_create(&params, &ep));
}

static void setup(void)
{
    addresses_t own_addresses;

    fork_owner();
    open_iface(&own_addresses);
    owner_addresses(&peer);
    ck_assert_int_ne(
        uct_iface_is_reachable(iface, (const uct_device_addr_t *)peer.device,
                               (const uct_iface_addr_t *)peer.iface),
        0);
    connect_ep();
}

static void teardown(void)
{
    emulated_release();
    if (ep != NULL) {
        uct_ep_destroy(ep);
        ep = NULL;
    }
    close_iface();
    end_owner();
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* --------------------------------------------------------------- helpers -- */

static void count_call(uct_completion_t *comp)
{
    ++((done_t *)comp)->calls;
}

ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                   size_t offset, void *data, size_t length)
{
    const uct_iov_t iov = {.buffer = data, .length = length, .count = 1};
    uint64_t address    = memory->address + offset;
    uct_rkey_bundle_t key;
    ucs_status_t status;

    *done  = (done_t){.comp = {.func = count_call, .count = 1}};
    status = uct_rkey_unpack(component, memory->key, &key);
    if (status != UCS_OK) {
        return status;
    }
    status = is_put ?
                 uct_ep_put_zcopy(ep, &iov, 1, address, key.rkey, &done->comp) :
                 uct_ep_get_zcopy(ep, &iov, 1, address, key.rkey, &done->comp);
    ck_ok(uct_rkey_release(component, &key));
    return status;
}

ucs_status_t finish(done_t *done)
{
    while (done->calls == 0) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(done->calls, 1);
    return done->comp.status;
}

void copy(int is_put, const answer_t *memory, size_t offset, void *data,
          size_t length)
{
    done_t done;

    ck_assert_int_eq(start(&done, is_put, memory, offset, data, length),
                     UCS_INPROGRESS);
    ck_ok(finish(&done));
}

char last_byte(const answer_t *memory)
{
    char byte = 0;

    copy(0, memory, LENGTH - 1, &byte, 1);
    return byte;
}

/* --------------------------------------------------------------- running -- */

/* Runs a test in a separate process; returns whether it has succeeded. The
 * owner that the test forks must be a child of a process that has not yet
 * started the driver, because the driver does not work in a child of a process
 * that has started it. */
static int run_alone(const TTest *test)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        Suite *suite = suite_create(DEVICE_IPC);
        TCase *tcase = tcase_create(DEVICE_IPC);

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test);
        suite_add_tcase(suite, tcase);
        exit(suite_run(suite));
    }
    return (waitpid(pid, &status, 0) == pid) && (status == 0);
}

int run_all_alone(const TTest *const *tests, size_t num)
{
    int good = 1;
    size_t i;

    for (i = 0; i < num; ++i) {
        good &= run_alone(tests[i]);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
