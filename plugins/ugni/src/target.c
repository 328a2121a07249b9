/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets: endpoints through which peers access memory (ugni_target_t in
 * mem.h). Targets start no operations. */
#include "mem.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <stdlib.h>
#include <string.h>

enum {
    QUEUE_LEN = 16, /* Length of the queues; short, because a target sends and
                     * receives no messages */
    MAX_NAME  = 64, /* Maximum bytes of an address of libfabric */
};

static int open_ep(const ugni_device_t *device, ugni_target_t *target,
                   struct fi_info *info)
{
    struct fi_cq_attr cq_attr = {
        .size   = QUEUE_LEN,
        .format = FI_CQ_FORMAT_TAGGED,
    };
    struct fi_av_attr av_attr = {.type = info->domain_attr->av_type};
    int rc = fi_cq_open(device->domain, &cq_attr, &target->cq, NULL);

    if (rc == 0) {
        rc = fi_av_open(device->domain, &av_attr, &target->av, NULL);
    }
    if (rc == 0) {
        rc = fi_endpoint(device->domain, info, &target->ep, NULL);
    }
    if (rc == 0) {
        rc = fi_ep_bind(target->ep, &target->av->fid, 0);
    }
    if (rc == 0) {
        rc = fi_ep_bind(target->ep, &target->cq->fid, FI_TRANSMIT | FI_RECV);
    }
    if (rc == 0) {
        rc = fi_enable(target->ep);
    }
    if (rc == 0) {
        target->name_length = MAX_NAME;
        rc = fi_getname(&target->ep->fid, target->name, &target->name_length);
    }
    return rc;
}

int ugni_target_open(ugni_device_t *device)
{
    struct fi_info *info = fi_dupinfo(device->info);
    int rc               = -FI_ENOMEM;

    device->target = calloc(1, sizeof(*device->target) + MAX_NAME);
    if ((device->target != NULL) && (info != NULL)) {
        device->target->name = (char *)(device->target + 1);
        info->tx_attr->size  = ugni_min(info->tx_attr->size, QUEUE_LEN);
        info->rx_attr->size  = ugni_min(info->rx_attr->size, QUEUE_LEN);
        rc                   = open_ep(device, device->target, info);
    }
    if (info != NULL) {
        fi_freeinfo(info);
    }
    if (rc != 0) {
        ugni_target_close(device);
    }
    return rc;
}

void ugni_target_close(ugni_device_t *device)
{
    ugni_target_t *target = device->target;

    if (target == NULL) {
        return;
    }
    if (target->ep != NULL) {
        fi_close(&target->ep->fid);
    }
    if (target->av != NULL) {
        fi_close(&target->av->fid);
    }
    if (target->cq != NULL) {
        fi_close(&target->cq->fid);
    }
    free(target);
    device->target = NULL;
}

void ugni_target_progress(const ugni_target_t *target)
{
    struct fi_cq_err_entry error = {0};
    struct fi_cq_msg_entry entry;

    if (fi_cq_read(target->cq, &entry, 1) == -FI_EAVAIL) {
        /* The error is an access of a peer that was rejected. The peer gets the
         * status, so nothing is done here. */
        (void)fi_cq_readerr(target->cq, &error, 0);
    }
}
