/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message and a put of virtual memory (cuMemCreate) between two processes.
 * The kernel forbids pidfd_getfd(), so that one process cannot duplicate the
 * memory's file descriptor of the other. UCP must still copy the data directly,
 * because the process that owns the memory sends the descriptor over a socket.
 * meson.build sets UCX_TLS to cuda,tcp; cuda includes the transport cuda_ipc.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "../emulated/emulated.h"
#include "fd_client.h"
#include "suite.h"
#include "virtual.h"

enum {
    TAG      = 7,
    MAX_BLOB = 4096,
};

#define ck_ok(_call) ck_assert_int_eq((_call), UCS_OK)

/* A worker's address, or the key of memory, that is sent to the other
 * process. */
typedef struct {
    size_t length;        /* Valid bytes in `bytes` */
    uint64_t address;     /* With a key: address of the memory; otherwise 0 */
    char bytes[MAX_BLOB]; /* The worker's address, or the packed key */
} blob_t;

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static ucp_mem_h memh;
static CUdeviceptr memory;
/* link_fd: this process's end of the socket pair between the test process and
 * the owner. test_fd: in the owner, an inherited copy of the test process's
 * end, which the owner closes. */
static int link_fd, test_fd;

/* ------------------------------------------------------------ both sides -- */

static void send_blob(const void *bytes, size_t length, uint64_t address)
{
    blob_t blob = {.length = length, .address = address};

    ck_assert_uint_le(length, MAX_BLOB);
    memcpy(blob.bytes, bytes, length);
    ck_assert_int_eq(send(link_fd, &blob, sizeof(blob), MSG_NOSIGNAL),
                     sizeof(blob));
}

/* Receives from the other process. Progresses the worker while it waits,
 * because the other process may wait for a message of this worker. */
static void receive_blob(blob_t *blob)
{
    while (recv(link_fd, blob, sizeof(*blob), MSG_DONTWAIT) !=
           (ssize_t)sizeof(*blob)) {
        ucp_worker_progress(worker);
    }
}

/* Allocates `memory` and sets all of its bytes to `value`. */
static void allocate(char value)
{
    ck_cuda(cuInit(0));
    memory = map_virtual(0);
    memset(emulated_view((void *)(uintptr_t)memory, UNIT), value, UNIT);
}

/* Checks that all bytes of `memory` are `value`. */
static void verify(char value)
{
    const char *view = emulated_view((void *)(uintptr_t)memory, UNIT);

    ck_assert_int_eq(view[0], value);
    ck_assert_int_eq(memcmp(view, view + 1, UNIT - 1), 0);
}

/* Allocates memory filled with `value`, connects to the other process, and
 * registers the memory. Both processes call this. */
static void open_side(char value)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    const ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_ep_params_t ep_params               = {
                      .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .length = UNIT,
    };
    ucp_address_t *address;
    size_t length;
    blob_t peer;

    forbid_duplicates();
    allocate(value);
    ck_ok(ucp_init(&params, NULL, &context));
    ck_ok(ucp_worker_create(context, &worker_params, &worker));
    ck_ok(ucp_worker_get_address(worker, &address, &length));
    send_blob(address, length, 0);
    ucp_worker_release_address(worker, address);
    receive_blob(&peer);
    ep_params.address = (const ucp_address_t *)peer.bytes;
    ck_ok(ucp_ep_create(worker, &ep_params, &ep));
    map.address = (void *)(uintptr_t)memory;
    ck_ok(ucp_mem_map(context, &map, &memh));
}

/* Waits for a request and frees it. Fails the test if the request fails. */
static void finish(ucs_status_ptr_t request)
{
    if (request == NULL) {
        return;
    }
    ck_assert(UCS_PTR_IS_PTR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ck_ok(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void close_side(void)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};

    finish(ucp_ep_close_nbx(ep, &param));
    ck_ok(ucp_mem_unmap(context, memh));
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    unmap_virtual(memory);
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* Returns when both processes have called this function. Progresses the worker
 * until then. */
static void agree(void)
{
    blob_t blob;

    send_blob("", 0, 0);
    receive_blob(&blob);
}

/* ------------------------------------------------------------- the test -- */

/* Runs in the owner process. It sends one message from its memory; then that
 * memory is the target of a put. */
START_TEST(the_owner_sends_and_is_put_to)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    void *key;
    size_t length;

    close(test_fd);
    open_side(1);
    finish(ucp_tag_send_nbx(ep, (void *)(uintptr_t)memory, UNIT, TAG, &param));
    ck_ok(ucp_rkey_pack(context, memh, &key, &length));
    send_blob(key, length, memory);
    ucp_rkey_buffer_release(key);
    agree();
    verify(9);
    close_side();
    close(link_fd);
}
END_TEST

/* Forks the owner process. The caller must not have started the driver, because
 * the driver cannot be used in a child of a process that has started it. */
static pid_t fork_owner(void)
{
    int links[2];
    pid_t pid;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, links), 0);
    link_fd = links[1];
    test_fd = links[0];
    pid     = suite_fork("cuda virtual memory, owner",
                         the_owner_sends_and_is_put_to);
    link_fd = links[0];
    close(links[1]);
    return pid;
}

START_TEST(virtual_memory_is_copied_directly_without_pidfd_getfd)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    pid_t owner                     = fork_owner();
    int status                      = -1;
    void *buffer;
    ucp_rkey_h rkey;
    blob_t key;

    open_side(2);
    buffer = (void *)(uintptr_t)memory;
    finish(ucp_tag_recv_nbx(worker, buffer, UNIT, TAG, UINT64_MAX, &param));
    verify(1);
    ck_assert_uint_eq(emulated_calls("cuMemImportFromShareableHandle"), 1);

    receive_blob(&key);
    ck_ok(ucp_ep_rkey_unpack(ep, key.bytes, &rkey));
    memset(emulated_view(buffer, UNIT), 9, UNIT);
    finish(ucp_put_nbx(ep, buffer, UNIT, key.address, rkey, &param));
    finish(ucp_ep_flush_nbx(ep, &param));
    ck_assert_uint_eq(emulated_calls("cuMemImportFromShareableHandle"), 1);
    ucp_rkey_destroy(rkey);
    agree();
    close_side();
    close(link_fd);
    ck_assert_int_eq(waitpid(owner, &status, 0), owner);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda virtual memory");
    TCase *tcase = tcase_create("cuda virtual memory");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase,
                   virtual_memory_is_copied_directly_without_pidfd_getfd);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
