/* SPDX-License-Identifier: BSD-3-Clause */
/* The pair of processes: opens UCP on both sides, exchanges data over the
 * socket between them, and waits for UCP requests. Every failure here ends the
 * program, because a failed benchmark has no result. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LARGE_SIZE   = 1024 * 1024,
    LARGE_TRIALS = 4,
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

/* Number of operations for `seconds`, according to a trial. */
uint64_t bench_count_for(double seconds, double trial, uint64_t trial_count)
{
    double count = seconds / (trial / trial_count);

    return (count < 8) ? 8 : (uint64_t)count;
}

/* For large messages a few are sufficient. */
uint64_t bench_trial_count(uint64_t size, uint64_t usual)
{
    return (size > LARGE_SIZE) ? LARGE_TRIALS : usual;
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

/* Progresses while it waits: the other side's connections and closes need
 * it. */
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

/* An address or a key: length, then bytes. */
void bench_put_blob(struct bench *bench, const void *data, uint64_t length)
{
    bench_put(bench, &length, sizeof(length));
    bench_put(bench, data, length);
}

/* The caller frees it. */
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

void bench_put_address(struct bench *bench, ucp_worker_h worker)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    bench_check(ucp_worker_query(worker, &attr), "ucp_worker_query");
    bench_put_blob(bench, attr.address, attr.address_length);
    ucp_worker_release_address(worker, attr.address);
}

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

void bench_wait(struct bench *bench, ucs_status_ptr_t request)
{
    bench_check(wait_for(bench, request), "an operation");
}

/* Opens this side's context and worker. */
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

/* Failed operations report their own errors. */
static void on_peer_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    (void)status;
}

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

/* Closes all at once, because closing one at a time would measure the
 * handshake. With error handling, the other side may have closed first, which
 * is reported as a lost peer. */
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

/* Both sides call it. Either both succeed, or neither has anything open: if the
 * library lacks a feature, other figures can still be measured. */
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

void bench_close(struct bench *bench)
{
    char done = 0;

    bench_close_eps(bench, &bench->ep, 1);
    /* Neither side destroys its worker while the other one closes. */
    bench_put(bench, &done, sizeof(done));
    bench_get(bench, &done, sizeof(done));
    bench_close_worker(bench);
    free(bench->peer_address);
    bench->peer_address = NULL;
}
