/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of device memory that cannot be exported to other processes: memory
 * of the CUDA driver's default pool. These messages must go through host
 * memory, and UCX must log nothing. meson.build sets UCX_TLS to cuda,tcp; cuda
 * stands for the transports cuda_copy and cuda_ipc.
 */
#include "sides.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1024 * 1024 + 17 };

static void *pool_allocate(void)
{
    CUdeviceptr address;

    ck_cuda(cuMemAllocAsync(&address, LARGE, NULL));
    return (void *)(uintptr_t)address;
}

static void pool_free(void *address)
{
    ck_cuda(cuMemFreeAsync((uintptr_t)address, NULL));
}

static void run_tag(void *from, void *to, size_t length)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t recv     = ucp_tag_recv_nbx(sides[1].worker, to, length, 1,
                                                 UINT64_MAX, &param);

    finish(ucp_tag_send_nbx(sides[0].ep, from, length, 1, &param));
    finish(recv);
}

/* Puts or gets. Maps the memory and packs its key as a program does for memory
 * that can be exported; both must succeed for this memory too. */
static void run_rma(void *from, void *to, size_t length, int is_get)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = is_get ? from : to,
        .length  = length,
    };
    uint64_t remote           = (uintptr_t)params.address;
    ucp_request_param_t param = {0};
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    void *packed;
    size_t size;

    ck_ok(ucp_mem_map(sides[1].context, &params, &memh));
    ck_ok(ucp_rkey_pack(sides[1].context, memh, &packed, &size));
    ck_ok(ucp_ep_rkey_unpack(sides[0].ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    finish(is_get ?
               ucp_get_nbx(sides[0].ep, to, length, remote, rkey, &param) :
               ucp_put_nbx(sides[0].ep, from, length, remote, rkey, &param));
    finish(ucp_ep_flush_nbx(sides[0].ep, &param));
    ucp_rkey_destroy(rkey);
    ck_ok(ucp_mem_unmap(sides[1].context, memh));
}

/* Sends `length` bytes and checks the data at the receiver. kind: 0: a tagged
 * message; 1: a get; 2: a put. */
static void run(int kind, void *from, void *to, size_t length)
{
    unsigned char *view = emulated_view(from, LARGE);
    size_t i;

    for (i = 0; i < length; ++i) {
        view[i] = (unsigned char)(i * 7 + kind + 1);
    }
    memset(emulated_view(to, LARGE), 0, LARGE);
    if (kind == 0) {
        run_tag(from, to, length);
    } else {
        run_rma(from, to, length, kind == 1);
    }
    ck_assert(memcmp(emulated_view(to, LARGE), view, length) == 0);
}

START_TEST(memory_that_cannot_be_exported_goes_through_host_memory)
{
    void *pooled   = pool_allocate();
    void *other    = pool_allocate();
    void *ordinary = sides_allocate(LARGE);
    int kind;

    for (kind = 0; kind < 3; ++kind) {
        run(kind, pooled, other, 8);
        run(kind, pooled, other, LARGE);
        run(kind, pooled, ordinary, LARGE);
        run(kind, ordinary, pooled, LARGE);
    }
    pool_free(pooled);
    pool_free(other);
    sides_free(ordinary);
}
END_TEST

static void setup(void)
{
    sides_open(SIDE_LENGTH);
}

/* Prints the first 4096 bytes that UCX has logged. Returns the number of bytes
 * printed, or -1 if the log file cannot be read. */
static long logged(int fd)
{
    char text[4096];
    ssize_t got = pread(fd, text, sizeof(text), 0);

    if (got > 0) {
        printf("the library said: %.*s\n", (int)got, text);
    }
    return got;
}

/* The UCX library reads UCX_LOG_FILE, the name of its log file, when it is
 * loaded. So the program sets this variable and executes itself again. */
int main(int argc, char **argv)
{
    char name[]  = "/tmp/test_cuda_pool.XXXXXX";
    Suite *suite = suite_create("cuda pools");
    TCase *tcase = tcase_create("cuda pools");
    int fd, status;

    if (getenv("UCX_LOG_FILE") == NULL) {
        fd = mkstemp(name);
        setenv("UCX_LOG_FILE", name, 1);
        return (fd < 0) ? EXIT_FAILURE : execv("/proc/self/exe", argv);
    }
    fd = open(getenv("UCX_LOG_FILE"), O_RDONLY);
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, sides_close);
    tcase_add_test(tcase,
                   memory_that_cannot_be_exported_goes_through_host_memory);
    suite_add_tcase(suite, tcase);
    status = suite_run(suite);
    status = (logged(fd) == 0) ? status : EXIT_FAILURE;
    close(fd);
    unlink(getenv("UCX_LOG_FILE"));
    return status;
}
