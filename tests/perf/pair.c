/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the driver and the other processes call: they open UCP,
 * exchange data over the sockets between the processes, and wait for UCP
 * requests. A failure ends the program, because it makes results impossible.
 * Only bench_open() and bench_open_worker() return errors. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LARGE_SIZE   = 1024 * 1024, /* Larger messages have short trials */
    LARGE_TRIALS = 4,           /* Operations of a short trial */
};

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
    return lines_now();
}

/* Returns the number of operations, at least 8, that take about `seconds`. The
 * duration of one is computed from a trial: `trial_count` operations that have
 * taken `trial` seconds. */
uint64_t bench_count_for(double seconds, double trial, uint64_t trial_count)
{
    double count = seconds / (trial / trial_count);

    return (count < 8) ? 8 : (uint64_t)count;
}

/* Returns the number of operations of a trial: `usual`, or fewer for large
 * messages, because a few of them already give an exact duration. */
uint64_t bench_trial_count(uint64_t size, uint64_t usual)
{
    return (size > LARGE_SIZE) ? LARGE_TRIALS : usual;
}

/* Sends data over the socket to the other process. */
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

/* Progresses all workers of this process once. */
void bench_progress(struct bench *bench)
{
    uint32_t i;

    if (bench->worker != NULL) {
        ucp_worker_progress(bench->worker);
    }
    for (i = 0; i < bench->more_count; ++i) {
        ucp_worker_progress(bench->more_workers[i]);
    }
}

/* Receives data over the socket. Progresses the workers while it waits, because
 * the other process may wait until a connection or a close is complete. */
void bench_get(struct bench *bench, void *data, size_t length)
{
    char *next = data;
    ssize_t done;

    while (length > 0) {
        done = recv(bench->socket, next, length, MSG_DONTWAIT);
        if (done > 0) {
            next += done;
            length -= done;
        } else if ((done < 0) && (errno == EAGAIN)) {
            bench_progress(bench);
        } else {
            bench_fail("the other process is gone",
                       (done == 0) ? "end of file" : strerror(errno));
        }
    }
}

/* bench_tell() sends a request to another process; bench_hear() waits for a
 * request. */
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

/* Sends a blob, which is an address or a key: its length, then its bytes. */
void bench_put_blob(struct bench *bench, const void *data, uint64_t length)
{
    bench_put(bench, &length, sizeof(length));
    bench_put(bench, data, length);
}

/* Receives a blob. The caller frees it. */
void *bench_get_blob(struct bench *bench, uint64_t *length_p)
{
    void *data;

    bench_get(bench, length_p, sizeof(*length_p));
    data = (*length_p <= BENCH_MAX_BLOB) ? malloc(*length_p) : NULL;
    if (data == NULL) {
        bench_fail("no memory for an address or a key", "too long");
    }
    bench_get(bench, data, *length_p);
    return data;
}

/* Sends the address of the worker to the other process. */
void bench_put_address(struct bench *bench, ucp_worker_h worker)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    bench_check(ucp_worker_query(worker, &attr), "ucp_worker_query");
    bench_put_blob(bench, attr.address, attr.address_length);
    ucp_worker_release_address(worker, attr.address);
}

/* Waits for a request and frees it; returns its status. `request` is the result
 * of the call that has started the operation. */
static ucs_status_t wait_for(struct bench *bench, ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        do {
            bench_progress(bench);
            status = ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        ucp_request_free(request);
    }
    return status;
}

/* Waits for a request and frees it; ends the program unless the operation has
 * succeeded. */
void bench_wait(struct bench *bench, ucs_status_ptr_t request)
{
    bench_check(wait_for(bench, request), "an operation");
}

/* Opens the context and the worker of this process. After an error neither is
 * open. */
ucs_status_t bench_open_worker(struct bench *bench, uint64_t features)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };
    const ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SINGLE,
    };
    double start = bench_now();
    ucs_status_t status;

    status = ucp_init(&params, NULL, &bench->context);
    if (status != UCS_OK) {
        goto fail;
    }
    if (bench->first_init == 0) {
        bench->first_init = (bench_now() - start) * 1e6;
    }
    status = ucp_worker_create(bench->context, &worker_params, &bench->worker);
    if (status != UCS_OK) {
        goto fail_cleanup;
    }
    status = (features & UCP_FEATURE_AM) ? am_prepare(bench) : UCS_OK;
    if (status == UCS_OK) {
        return UCS_OK;
    }
    ucp_worker_destroy(bench->worker);
    bench->worker = NULL;
fail_cleanup:
    ucp_cleanup(bench->context);
fail:
    bench->context = NULL;
    return status;
}

void bench_close_worker(struct bench *bench)
{
    if (bench->context != NULL) {
        ucp_worker_destroy(bench->worker);
        ucp_cleanup(bench->context);
        bench->worker  = NULL;
        bench->context = NULL;
    }
}

/* Error handler of endpoints. It does nothing, because operations of a failed
 * endpoint return an error themselves. */
static void on_peer_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    (void)status;
}

/* Creates an endpoint to the worker with this address. */
ucp_ep_h bench_create_ep(struct bench *bench, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask     = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address        = address,
        .err_mode       = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler.cb = on_peer_error,
    };
    ucp_ep_h ep;

    if (bench->peer_errors) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                             UCP_EP_PARAM_FIELD_ERR_HANDLER;
    }
    bench_check(ucp_ep_create(bench->worker, &params, &ep), "ucp_ep_create");
    return ep;
}

/* Starts to close all endpoints, and then waits for all closes: a wait after
 * each close would take a round trip for each endpoint. With --err-mode peer a
 * close may fail: if the other process has closed its endpoint first, this
 * process sees a lost peer. */
void bench_close_eps(struct bench *bench, ucp_ep_h *eps, uint64_t count)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t requests[BENCH_MAX_EPS];
    ucs_status_t status;
    uint64_t i;

    for (i = 0; i < count; ++i) {
        requests[i] = ucp_ep_close_nbx(eps[i], &param);
    }
    for (i = 0; i < count; ++i) {
        status = wait_for(bench, requests[i]);
        if (!bench->peer_errors) {
            bench_check(status, "ucp_ep_close_nbx");
        }
    }
}

/* Opens a context and a worker in both processes, and an endpoint between them.
 * Driver and partner both call it. If one process fails, both return an error
 * and have nothing open. The program then continues: if the library lacks the
 * features, figures with other features can still be measured. */
ucs_status_t bench_open(struct bench *bench, uint64_t features)
{
    ucs_status_t here  = bench_open_worker(bench, features);
    ucs_status_t there = UCS_OK;
    uint64_t length;

    bench_put(bench, &here, sizeof(here));
    bench_get(bench, &there, sizeof(there));
    if ((here != UCS_OK) || (there != UCS_OK)) {
        bench_close_worker(bench);
        return (here != UCS_OK) ? here : there;
    }
    bench_put_address(bench, bench->worker);
    bench->peer_address = bench_get_blob(bench, &length);
    bench->ep           = bench_create_ep(bench, bench->peer_address);
    return UCS_OK;
}

/* Closes what bench_open() has opened. Driver and partner both call it. */
void bench_close(struct bench *bench)
{
    char done = 0;

    bench_close_eps(bench, &bench->ep, 1);
    /* wait until the other process has closed its endpoint too: its close may
     * need the progress of this worker */
    bench_put(bench, &done, sizeof(done));
    bench_get(bench, &done, sizeof(done));
    bench_close_worker(bench);
    free(bench->peer_address);
    bench->peer_address = NULL;
}
