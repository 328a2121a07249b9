/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_lost(): a message could not be stored because there was no memory,
 * and it is not known which receive waits for it. All endpoints of the worker
 * fail, and all receives that may wait for the message end with an error.
 */
#include "ucp/base/class.h"
#include "ucp/base/life.h"
#include "ucs/debug/log.h"

void ucp_worker_lost(ucp_worker_h worker, const char *what, size_t length)
{
    ucp_ep_h ep;

    ucs_error(
        "worker %s: lost %s of %zu bytes: out of memory; its endpoints and"
        " tagged receives fail",
        worker->name, what, length);
    ucs_list_for_each(ep, &worker->eps, link) {
        ucp_ep_fail_later(ep, UCS_ERR_NO_MEMORY);
    }
    ucp_classes_lost(worker);
}
