/* SPDX-License-Identifier: BSD-3-Clause */
/* The pair of processes: opening UCP on either side, the socket between them,
 * and waiting for requests. A benchmark that fails has nothing to say, so every
 * failure here ends the program. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

noreturn void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "ucp_bench: %s: %s\n", what, why);
    exit(1);
}

void bench_check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        bench_fail(what, ucs_status_string(status));
    }
}

double bench_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

void bench_put(struct bench *bench, const void *data, size_t length)
{
    const char *next = data;
    ssize_t done;

    for (; length > 0; next += done, length -= done) {
        done = write(bench->socket, next, length);
        if (done < 0) {
            bench_fail("cannot reach the other process", strerror(errno));
        }
    }
}

static void progress(struct bench *bench)
{
    uint32_t i;

    if (bench->worker != NULL) {
        ucp_worker_progress(bench->worker);
    }
    for (i = 0; i < bench->more_count; ++i) {
        ucp_worker_progress(bench->more_workers[i]);
    }
}

/* Progresses while it waits: connections that the other side opens, and
 * endpoints that it closes, need us. */
void bench_get(struct bench *bench, void *data, size_t length)
{
    char *next = data;
    ssize_t done;

    while (length > 0) {
        done = recv(bench->socket, next, length, MSG_DONTWAIT);
        if (done > 0) {
            next   += done;
            length -= done;
        } else if ((done < 0) && (errno == EAGAIN)) {
            progress(bench);
        } else {
            bench_fail("the other process is gone",
                       (done == 0) ? "end of file" : strerror(errno));
        }
    }
}

void bench_tell(struct bench *bench, struct bench_command command)
{
    bench_put(bench, &command, sizeof(command));
}

struct bench_command bench_hear(struct bench *bench)
{
    struct bench_command command;

    bench_get(bench, &command, sizeof(command));
    return command;
}

void bench_put_address(struct bench *bench, ucp_worker_h worker)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    uint64_t length;

    bench_check(ucp_worker_query(worker, &attr), "ucp_worker_query");
    length = attr.address_length;
    bench_put(bench, &length, sizeof(length));
    bench_put(bench, attr.address, length);
    ucp_worker_release_address(worker, attr.address);
}

void *bench_get_address(struct bench *bench)
{
    uint64_t length;
    void *address;

    bench_get(bench, &length, sizeof(length));
    address = (length <= BENCH_MAX_ADDRESS) ? malloc(length) : NULL;
    if (address == NULL) {
        bench_fail("no memory for an address", "too long");
    }
    bench_get(bench, address, length);
    return address;
}

void bench_wait(struct bench *bench, ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        do {
            progress(bench);
            status = ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        ucp_request_free(request);
    }
    bench_check(status, "an operation");
}

void bench_open(struct bench *bench)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE
    };
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
    };

    bench->buffer = aligned_alloc(4096, BENCH_MAX_SIZE);
    if (bench->buffer == NULL) {
        bench_fail("no memory for a buffer", strerror(ENOMEM));
    }
    memset(bench->buffer, 'b', BENCH_MAX_SIZE);
    bench_check(ucp_init(&params, NULL, &bench->context), "ucp_init");
    bench_check(ucp_worker_create(bench->context, &worker_params,
                                  &bench->worker), "ucp_worker_create");
    bench_put_address(bench, bench->worker);
    bench->peer_address = bench_get_address(bench);
    ep_params.address   = bench->peer_address;
    bench_check(ucp_ep_create(bench->worker, &ep_params, &bench->ep),
                "ucp_ep_create");
}

void bench_close(struct bench *bench)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    char done                 = 0;

    bench_wait(bench, ucp_ep_close_nbx(bench->ep, &param));
    /* Neither side takes its worker away while the other is closing. */
    bench_put(bench, &done, sizeof(done));
    bench_get(bench, &done, sizeof(done));
    ucp_worker_destroy(bench->worker);
    bench->worker = NULL;
    ucp_cleanup(bench->context);
    free(bench->peer_address);
    free(bench->buffer);
}
