/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library loaded by dlopen and used through its handle: messages of several
 * sizes from a worker to itself, verified.
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

/** Loads and opens; `flags` are dlopen's. The program exits on failure, as in
 *  all functions here. */
void use_open(use_t *use, const char *path, int flags);

/** Messages to itself. */
void use_talk(use_t *use);

/** Closes and unloads. */
void use_close(use_t *use);

/** Ends the program with a message. */
void use_fail(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

#endif
