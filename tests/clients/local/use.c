/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads a libucp by dlopen() and uses it; see use.h.
 */
#include "use.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 300000 };

void use_fail(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    fprintf(stderr, "FAILED: ");
    vfprintf(stderr, format, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}

static void *symbol(use_t *use, const char *name)
{
    void *address = dlsym(use->handle, name);

    if (address == NULL) {
        use_fail("%s", dlerror());
    }
    return address;
}

static void need(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        use_fail("%s: status %d", what, status);
    }
}

void use_open(use_t *use, const char *path, int flags)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {
                .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_address_t *address;
    size_t length;

    use->handle = dlopen(path, flags);
    if (use->handle == NULL) {
        use_fail("%s", dlerror());
    }
#define USE_LOOK_UP(_name) use->_name = symbol(use, #_name);
    USE_FUNCTIONS(USE_LOOK_UP)

    /* this program was built for version 1.13 of UCP */
    need(use->ucp_init_version(1, 13, &params, NULL, &use->context), "context");
    need(use->ucp_worker_create(use->context, &worker_params, &use->worker),
         "worker");
    need(use->ucp_worker_get_address(use->worker, &address, &length),
         "address");
    ep_params.address = address;
    need(use->ucp_ep_create(use->worker, &ep_params, &use->ep), "endpoint");
    use->ucp_worker_release_address(use->worker, address);
}

static void finish(use_t *use, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (UCS_PTR_IS_PTR(request)) {
        do {
            use->ucp_worker_progress(use->worker);
            status = use->ucp_request_check_status(request);
        } while (status == UCS_INPROGRESS);
        use->ucp_request_free(request);
    } else {
        status = UCS_PTR_STATUS(request);
    }
    need(status, "operation");
}

void use_talk(use_t *use)
{
    static char out[LARGEST], in[LARGEST];
    ucp_request_param_t param = {0};
    ucs_status_ptr_t receive, send;
    size_t size, i;

    for (size = 1; size <= LARGEST; size = size * 3 + 1) {
        for (i = 0; i < size; ++i) {
            out[i] = (char)(i * 7 + size);
        }
        memset(in, 0, size);
        receive = use->ucp_tag_recv_nbx(use->worker, in, size, 7, UINT64_MAX,
                                        &param);
        send    = use->ucp_tag_send_nbx(use->ep, out, size, 7, &param);
        finish(use, receive);
        finish(use, send);
        if (memcmp(out, in, size) != 0) {
            use_fail("%s: a message of %zu bytes came wrong",
                     use->ucp_get_version_string(), size);
        }
    }
}

void use_close(use_t *use)
{
    finish(use, use->ucp_ep_close_nb(use->ep, UCP_EP_CLOSE_MODE_FLUSH));
    use->ucp_worker_destroy(use->worker);
    use->ucp_cleanup(use->context);
    dlclose(use->handle);
}
