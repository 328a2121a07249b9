/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libucp that is loaded by dlopen() and used through pointers to its
 * functions: sends messages of several sizes from a worker to itself and
 * verifies them.
 */
#ifndef CLIENT_USE_H
#define CLIENT_USE_H

#include <ucp/api/ucp.h>

#define USE_FUNCTIONS(_f) \
    _f(ucp_init_version) _f(ucp_cleanup) _f(ucp_get_version_string) \
        _f(ucp_worker_create) _f(ucp_worker_destroy) _f(ucp_worker_progress) \
            _f(ucp_worker_get_address) _f(ucp_worker_release_address) \
                _f(ucp_ep_create) _f(ucp_ep_close_nb) _f(ucp_tag_send_nbx) \
                    _f(ucp_tag_recv_nbx) _f(ucp_request_check_status) \
                        _f(ucp_request_free)

typedef struct {
    void *handle;
#define USE_MEMBER(_name) __typeof__(_name) *_name;
    USE_FUNCTIONS(USE_MEMBER)
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
} use_t;

/* Loads the library at `path`, and opens a context and a worker with an
 * endpoint to itself. `flags` are those of dlopen(). Like all functions here it
 * ends the program with a message on failure. */
void use_open(use_t *use, const char *path, int flags);

/* Sends messages to the worker itself and verifies them. */
void use_talk(use_t *use);

/* Closes everything and unloads the library. */
void use_close(use_t *use);

/* Prints a message and ends the program with a failure. */
void use_fail(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

#endif
