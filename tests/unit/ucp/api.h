/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers for the tests of single calls and flags: printing to a string,
 * capturing the messages of the library, and further endpoints to the worker
 * itself.
 */
#ifndef TESTS_UCP_API_H
#define TESTS_UCP_API_H

#include "local.h"

#include <stdio.h>
#include <unistd.h>

/* A stream that writes to memory, between print_begin() and print_end(). */
typedef struct {
    char *text;
    size_t size;
    FILE *stream;
} print_t;

static inline FILE *print_begin(print_t *print)
{
    print->stream = open_memstream(&print->text, &print->size);
    ck_assert_ptr_nonnull(print->stream);
    return print->stream;
}

/* Returns the printed text; the caller frees it. */
static inline char *print_end(print_t *print)
{
    ck_assert_int_eq(fclose(print->stream), 0);
    return print->text;
}

/* Between take_stderr() and give_stderr_back(), stderr is redirected to a file,
 * so that a test can read what the library logs. */
typedef struct {
    FILE *file;
    int old_fd;
} taken_stderr_t;

static inline taken_stderr_t take_stderr(void)
{
    taken_stderr_t taken = {.file = tmpfile()};

    ck_assert_ptr_nonnull(taken.file);
    fflush(stderr);
    taken.old_fd = dup(STDERR_FILENO);
    ck_assert_int_ge(taken.old_fd, 0);
    ck_assert_int_eq(dup2(fileno(taken.file), STDERR_FILENO), STDERR_FILENO);
    return taken;
}

/* Returns the text written to stderr since take_stderr(), of which at most the
 * first 16383 bytes; valid until the next call. */
static inline const char *text_of_stderr(taken_stderr_t *taken)
{
    static char text[16384];
    ssize_t length;

    fflush(stderr);
    length = pread(fileno(taken->file), text, sizeof(text) - 1, 0);
    ck_assert_int_ge(length, 0);
    text[length] = '\0';
    return text;
}

/* Restores stderr. Returns the number of bytes that were written to it since
 * take_stderr(). */
static inline long give_stderr_back(taken_stderr_t *taken)
{
    long length;

    fflush(stderr);
    length = lseek(fileno(taken->file), 0, SEEK_END);
    ck_assert_int_eq(dup2(taken->old_fd, STDERR_FILENO), STDERR_FILENO);
    close(taken->old_fd);
    fclose(taken->file);
    return length;
}

/* Returns the worker's address; release it with
 * ucp_worker_release_address(). */
static inline ucp_address_t *own_address(ucp_worker_h worker)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    ck_assert_int_eq(ucp_worker_query(worker, &attr), UCS_OK);
    return attr.address;
}

/* Creates another endpoint to the worker itself. `params` contains further
 * parameters; this function adds the address. */
static inline ucp_ep_h connect_self(ucp_worker_h worker,
                                    ucp_ep_params_t *params)
{
    ucp_ep_h ep;

    params->field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params->address = own_address(worker);
    ck_assert_int_eq(ucp_ep_create(worker, params, &ep), UCS_OK);
    ucp_worker_release_address(worker, (ucp_address_t *)params->address);
    return ep;
}

static inline void close_ep(local_t *local, ucp_ep_h ep)
{
    ucp_request_param_t none = {0};

    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
}

#endif
