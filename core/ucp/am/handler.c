/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's table of handlers of active messages, by id. Its size is 0 until
 * the first handler is set, then a power of two above the highest id so far, at
 * least 32; it never shrinks.
 */
#include "ucp/am/am.h"
#include "ucp/base/worker.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_HANDLERS = 32,
    KNOWN_FLAGS    = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA,
};

static ucs_status_t grow(ucp_am_worker_t *am, unsigned id)
{
    unsigned count = FIRST_HANDLERS;
    ucp_am_handler_t *handlers;

    while (count <= id) {
        count *= 2;
    }

    handlers = calloc(count, sizeof(*handlers));
    if (handlers == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    if (am->num_handlers > 0) {
        memcpy(handlers, am->handlers, am->num_handlers * sizeof(*handlers));
    }
    free(am->handlers);
    am->handlers     = handlers;
    am->num_handlers = count;
    return UCS_OK;
}

static void clear(ucp_am_handler_t *handler)
{
    if (handler->flags & UCP_AM_HANDLER_OLD) {
        free(handler->arg);
    }
    memset(handler, 0, sizeof(*handler));
}

ucs_status_t ucp_am_handler_set(ucp_worker_h worker, unsigned id,
                                ucp_am_recv_callback_t cb, void *arg,
                                uint32_t flags)
{
    ucp_am_worker_t *am = ucp_worker_am(worker);
    ucs_status_t status = UCS_OK;

    ucp_worker_enter(worker);
    if ((cb != NULL) && (id >= am->num_handlers)) {
        status = grow(am, id);
    }
    if ((status == UCS_OK) && (id < am->num_handlers)) {
        clear(&am->handlers[id]);
        if (cb != NULL) {
            am->handlers[id] = (ucp_am_handler_t){cb, arg, flags};
        }
    }
    ucp_worker_leave(worker);
    return status;
}

void ucp_am_worker_cleanup(ucp_am_worker_t *am)
{
    unsigned id;

    for (id = 0; id < am->num_handlers; ++id) {
        clear(&am->handlers[id]);
    }
    free(am->handlers);
    ucs_mpool_cleanup(&am->descs, 1);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t *param)
{
    const uint64_t needed = UCP_AM_HANDLER_PARAM_FIELD_ID |
                            UCP_AM_HANDLER_PARAM_FIELD_CB;
    uint32_t flags = (param->field_mask & UCP_AM_HANDLER_PARAM_FIELD_FLAGS) ?
                         param->flags :
                         0;
    void *arg      = (param->field_mask & UCP_AM_HANDLER_PARAM_FIELD_ARG) ?
                         param->arg :
                         NULL;

    if (((param->field_mask & needed) != needed) || (param->id > UINT16_MAX) ||
        (flags & ~(uint32_t)KNOWN_FLAGS) ||
        !(worker->context->features & UCP_FEATURE_AM)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_am_handler_set(worker, param->id, param->cb, arg, flags);
}
