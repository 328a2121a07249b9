/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops the process behind its n-th tagged message, n from the variable
 * STOP_AFTER. examples.py loads this library into a program (LD_PRELOAD), which
 * then hangs at a defined place. */
#include <ucp/api/ucp.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t tag,
                                  const ucp_request_param_t *param)
{
    static int calls;
    ucs_status_ptr_t (
        *send)(ucp_ep_h, const void *, size_t, ucp_tag_t,
               const ucp_request_param_t *) = dlsym(RTLD_NEXT,
                                                    "ucp_tag_send_nbx");
    ucs_status_ptr_t result = send(ep, buffer, count, tag, param);

    if (++calls == atoi(getenv("STOP_AFTER"))) {
        raise(SIGSTOP);
    }
    return result;
}
