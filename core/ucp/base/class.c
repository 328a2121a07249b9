/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the table of all classes of operations (tagged messages, streams and
 * so on, see class.h) and calls one function of each.
 */
#include "ucp/base/class.h"

const ucp_class_sent_t ucp_class_sent_by_operation = {
    {UCP_CLASS_COUNTED, UCP_CLASS_COUNTED, UCP_CLASS_COUNTED}, 0};

void ucp_classes_stop(ucp_worker_h worker)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->worker_stop != NULL) {
            (*class)->worker_stop(worker);
        }
    }
}

void ucp_classes_end(ucp_worker_h worker)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->worker_end != NULL) {
            (*class)->worker_end(worker);
        }
    }
}

/* Cleans up the classes before `end` in the table, in reverse order. */
static void cleanup(ucp_worker_h worker, const ucp_class_t *const *end)
{
    while (end > ucp_classes) {
        --end;
        if ((*end)->worker_cleanup != NULL) {
            (*end)->worker_cleanup(worker);
        }
    }
}

void ucp_classes_cleanup(ucp_worker_h worker)
{
    const ucp_class_t *const *end = ucp_classes;

    while (*end != NULL) {
        ++end;
    }
    cleanup(worker, end);
}

ucs_status_t ucp_classes_init(ucp_worker_h worker,
                              const ucp_worker_params_t *params)
{
    const ucp_class_t *const *class;
    ucs_status_t status;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->worker_init != NULL) {
            status = (*class)->worker_init(worker, params);
            if (status != UCS_OK) {
                cleanup(worker, class);
                return status;
            }
        }
    }
    return UCS_OK;
}

int ucp_classes_are_busy(ucp_worker_h worker)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if (((*class)->worker_is_busy != NULL) &&
            (*class)->worker_is_busy(worker)) {
            return 1;
        }
    }
    return 0;
}

void ucp_classes_lost(ucp_worker_h worker)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->worker_lost != NULL) {
            (*class)->worker_lost(worker);
        }
    }
}

void ucp_classes_layout(ucp_worker_h worker, uct_iface_params_t *params)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->layout != NULL) {
            (*class)->layout(worker, params);
        }
    }
}

ucs_status_t ucp_classes_iface_opened(struct ucp_worker_iface *wiface)
{
    const ucp_class_t *const *class;
    ucs_status_t status = UCS_OK;

    for (class = ucp_classes; (*class != NULL) && (status == UCS_OK); ++class) {
        if ((*class)->iface_opened != NULL) {
            status = (*class)->iface_opened(wiface);
        }
    }
    return status;
}

ucs_status_t ucp_classes_ep_init(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    const ucp_class_t *const *class;
    ucs_status_t status = UCS_OK;

    for (class = ucp_classes; (*class != NULL) && (status == UCS_OK); ++class) {
        if ((*class)->ep_init != NULL) {
            status = (*class)->ep_init(ep, params);
        }
    }
    return status;
}

void ucp_classes_ep_close(ucp_ep_h ep, int force)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_close != NULL) {
            (*class)->ep_close(ep, force);
        }
    }
}

int ucp_classes_ep_is_owed(ucp_ep_h ep)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if (((*class)->ep_is_owed != NULL) && (*class)->ep_is_owed(ep)) {
            return 1;
        }
    }
    return 0;
}

void ucp_classes_ep_abort(ucp_ep_h ep, ucs_status_t status)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_abort != NULL) {
            (*class)->ep_abort(ep, status);
        }
    }
}

void ucp_classes_ep_fail(ucp_ep_h ep, ucs_status_t status)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_fail != NULL) {
            (*class)->ep_fail(ep, status);
        }
    }
}

int ucp_classes_ep_leave(ucp_ep_h ep, ucp_request_t *req)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if (((*class)->ep_leave != NULL) && (*class)->ep_leave(ep, req)) {
            return 1;
        }
    }
    return 0;
}

void ucp_classes_ep_peer_left(ucp_ep_h ep)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_peer_left != NULL) {
            (*class)->ep_peer_left(ep);
        }
    }
}

void ucp_classes_ep_detach(ucp_ep_h ep)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_detach != NULL) {
            (*class)->ep_detach(ep);
        }
    }
}

void ucp_classes_ep_free(ucp_ep_h ep)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if ((*class)->ep_free != NULL) {
            (*class)->ep_free(ep);
        }
    }
}

void ucp_classes_cancel(ucp_request_t *req)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if (((*class)->cancel != NULL) && (*class)->cancel(req)) {
            return;
        }
    }
}

const char *ucp_classes_describe(const ucp_request_t *req, char *text,
                                 size_t max)
{
    const ucp_class_t *const *class;
    const char *kind = NULL;

    for (class = ucp_classes; (*class != NULL) && (kind == NULL); ++class) {
        if ((*class)->describe != NULL) {
            kind = (*class)->describe(req, text, max);
        }
    }
    return (kind == NULL) ? "recv" : kind;
}
