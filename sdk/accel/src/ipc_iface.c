/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of the IPC transport and its endpoints. The wire format of the
 * addresses, little-endian; the number after each name is the length in bytes:
 *
 *   device address: | machine 8 | inode of the PID namespace 8 |
 *   address:        | process id 4 | 0 4 | token of the process 8 |
 */
#include "ipc.h"
#include "process.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define IPC_NAME accel_driver.names.ipc_transport

typedef struct {
    uint64_t machine;
    uint64_t pid_ns;
} wire_device_t;

typedef struct {
    uint32_t pid;
    uint32_t reserved;
    uint64_t token;
} wire_iface_t;

_Static_assert(sizeof(wire_device_t) == 16, "wire layout");
_Static_assert(sizeof(wire_iface_t) == 16, "wire layout");

static const ucx_config_field_t config_fields[] = {
    {"MAX_MAPPINGS", UCX_CONFIG_UINT,
     offsetof(accel_ipc_options_t, max_mappings), "128",
     "Allocations of other processes that one worker keeps open for the next"
     " transfer. An open one stays allocated although its owner frees it. 0:"
     " each is closed after its transfer, which costs up to a millisecond.",
     NULL, 0, 65536, 0},
};

const ucx_config_table_t accel_ipc_config = {
    .size         = sizeof(accel_ipc_config),
    .options_size = sizeof(accel_ipc_options_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = config_fields,
    .num_fields   = sizeof(config_fields) / sizeof(config_fields[0]),
};

/* ------------------------------------------------------------- interface -- */

/* The callback accel_copy_iface_t.lost: removes the mappings that may have
 * ended with the device's context. */
static void lane_lost(accel_copy_iface_t *iface, int device, int is_reset)
{
    accel_mappings_lost(&((accel_ipc_iface_t *)iface)->mappings, device,
                        is_reset);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const accel_ipc_options_t *config = args->config;
    const ucx_host_t *host            = ((accel_md_t *)md)->host;
    accel_ipc_iface_t *iface;
    ucs_status_t status;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = accel_process_self(&iface->self);
    if (status != UCS_OK) {
        ucx_error("%s: the system provides no random numbers", IPC_NAME);
        free(iface);
        return status;
    }
    iface->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (iface->event_fd < 0) {
        ucx_error("%s: no descriptor is left; raise the limit (ulimit -n)",
                  IPC_NAME);
        free(iface);
        return UCS_ERR_IO_ERROR;
    }
    ucx_iface_init(&iface->copy.super, args);
    accel_copy_iface_init(&iface->copy, md);
    iface->copy.lost        = lane_lost;
    iface->mappings.md      = iface->copy.md;
    iface->mappings.max     = config->max_mappings;
    iface->fd_worker.worker = iface->copy.super.worker;
    accel_fd_server_add(&iface->copy.md->fd_server, &iface->fd_worker);
    *iface_p = &iface->copy.super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    accel_ipc_iface_t *iface = (accel_ipc_iface_t *)super;

    accel_fd_server_remove(&iface->copy.md->fd_server, &iface->fd_worker);
    accel_copy_iface_cleanup(&iface->copy);
    accel_mappings_close(&iface->mappings, NULL);
    close(iface->event_fd);
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;
    base->cap.put.max_zcopy       = SIZE_MAX / 2;
    base->cap.put.max_iov         = ACCEL_MAX_IOV;
    base->cap.put.opt_zcopy_align = 1;
    base->cap.put.align_mtu       = 1;
    base->cap.get.max_zcopy       = SIZE_MAX / 2;
    base->cap.get.max_iov         = ACCEL_MAX_IOV;
    base->cap.get.opt_zcopy_align = 1;
    base->cap.get.align_mtu       = 1;
    base->device_addr_len         = sizeof(wire_device_t);
    base->iface_addr_len          = sizeof(wire_iface_t);
    base->overhead                = accel_driver.costs.copy_overhead;
    base->latency.c               = accel_driver.costs.copy_latency;
    base->bandwidth.shared        = accel_driver.costs.device_bandwidth;
    base->max_num_eps             = SIZE_MAX;
    base->dev_num_paths           = 1;
    attr->max_inflight_eps        = SIZE_MAX;
    return UCS_OK;
}

/* Sets the bandwidth for host memory, because iface_query() returns the
 * bandwidth within a device. */
static ucs_status_t estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    if (perf->local_mem_type == UCS_MEMORY_TYPE_HOST) {
        perf->bandwidth.shared = accel_driver.costs.copy_bandwidth;
    }
    return UCS_OK;
}

/* The descriptor is never readable. While copies are in flight, event_arm()
 * returns UCS_ERR_BUSY, so that the user polls instead of sleeping. */
static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((accel_ipc_iface_t *)iface)->event_fd;
    return UCS_OK;
}

static ucs_status_t event_arm(uct_iface_h iface, unsigned events)
{
    return (((accel_copy_iface_t *)iface)->oldest != NULL) ? UCS_ERR_BUSY :
                                                             UCS_OK;
}

/* ------------------------------------------------------------- addresses -- */

static uint64_t pid_namespace(void)
{
    struct stat file;

    return (stat("/proc/self/ns/pid", &file) == 0) ? file.st_ino : 0;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    const ucx_host_t *host   = ((accel_copy_iface_t *)iface)->host;
    const wire_device_t wire = {htole64(host->machine_guid()),
                                htole64(pid_namespace())};

    memcpy(address, &wire, sizeof(wire));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    const accel_process_t *self = &((accel_ipc_iface_t *)iface)->self;
    const wire_iface_t wire     = {htole32((uint32_t)self->pid), 0,
                                   htole64(self->token)};

    memcpy(address, &wire, sizeof(wire));
    return UCS_OK;
}

/* Reads the identity of a peer. Returns zero if the bytes are not an address of
 * this transport. */
static int peer_of(const void *address, size_t length, accel_process_t *peer)
{
    wire_iface_t wire;

    if ((address == NULL) || (length < sizeof(wire))) {
        return 0;
    }
    memcpy(&wire, address, sizeof(wire));
    peer->pid   = (pid_t)le32toh(wire.pid);
    peer->token = le64toh(wire.token);
    return (peer->pid > 0) && (peer->token != 0);
}

static int refuse(const ucx_reachable_args_t *args, const char *reason)
{
    if ((args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return 0;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    const ucx_host_t *host = ((accel_copy_iface_t *)iface)->host;
    wire_device_t device;
    accel_process_t peer;

    if ((args->dev_addr == NULL) || (args->dev_addr_length < sizeof(device)) ||
        ((args->iface_addr != NULL) &&
         !peer_of(args->iface_addr, args->iface_addr_length, &peer))) {
        return refuse(args, "not an address of this transport");
    }
    memcpy(&device, args->dev_addr, sizeof(device));
    if (le64toh(device.machine) != host->machine_guid()) {
        return refuse(args, "it is on another host");
    }
    if (le64toh(device.pid_ns) != pid_namespace()) {
        return refuse(args, "it is in another PID namespace");
    }
    return 1;
}

/* ------------------------------------------------------------- endpoints -- */

static ucs_status_t ep_create(uct_iface_h super, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    const uint64_t needed = UCT_EP_PARAM_FIELD_DEV_ADDR |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR;
    accel_ipc_iface_t *iface = (accel_ipc_iface_t *)super;
    accel_ipc_ep_t *ep;

    if ((params->field_mask & needed) != needed) {
        return UCS_ERR_UNSUPPORTED;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
         (params->dev_addr_length < sizeof(wire_device_t))) ||
        !peer_of(params->iface_addr,
                 (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) ?
                     params->iface_addr_length :
                     sizeof(wire_iface_t),
                 &ep->peer)) {
        free(ep);
        return UCS_ERR_INVALID_ADDR;
    }
    ucx_ep_init(&ep->super, super);
    ep->next   = iface->eps;
    iface->eps = ep;
    *ep_p      = &ep->super;
    return UCS_OK;
}

static int has_ep_to(const accel_ipc_iface_t *iface,
                     const accel_process_t *peer)
{
    const accel_ipc_ep_t *ep;

    for (ep = iface->eps; ep != NULL; ep = ep->next) {
        if (accel_process_is_same(&ep->peer, peer)) {
            return 1;
        }
    }
    return 0;
}

/* Copies in flight of the endpoint still complete: their mapping is closed
 * after them. With the last endpoint to a process, all mappings of memory of
 * this process are closed. */
static void ep_destroy(uct_ep_h super)
{
    accel_ipc_iface_t *iface = (accel_ipc_iface_t *)super->iface;
    accel_ipc_ep_t *ep       = (accel_ipc_ep_t *)super;
    accel_ipc_ep_t **link    = &iface->eps;

    while (*link != ep) {
        link = &(*link)->next;
    }
    *link = ep->next;
    if ((iface->mappings.num > 0) && !has_ep_to(iface, &ep->peer)) {
        accel_mappings_close(&iface->mappings, &ep->peer);
    }
    free(ep);
}

/* ------------------------------------------------------------ operations -- */

static size_t total_length(const uct_iov_t *iov, size_t iovcnt)
{
    size_t total = 0;
    size_t i;

    for (i = 0; i < iovcnt; ++i) {
        total += iov[i].length * iov[i].count;
    }
    return total;
}

/* Determines where the memory of a key is in this process, and maps the memory
 * unless this process itself owns it. `address` is the address in the owner's
 * process. */
static ucs_status_t find_target(accel_ipc_iface_t *iface,
                                const accel_key_t *key, uint64_t address,
                                size_t length, accel_target_t *target)
{
    uint64_t offset = address - key->start;
    ucs_status_t status;

    if ((address < key->start) || (offset > key->length) ||
        (length > key->length - offset)) {
        return UCS_ERR_INVALID_ADDR;
    }
    target->memory.kind = ACCEL_DEVICE;
    if (accel_process_is_same(&key->owner, &iface->self)) {
        target->address       = address;
        target->memory.device = accel_device_by_pci(&key->pci);
        target->mapping       = NULL;
        return UCS_OK;
    }
    status = accel_mapping_get(&iface->mappings, key, &target->mapping);
    if (status == UCS_OK) {
        target->address       = target->mapping->opened.address + offset;
        target->memory.device = target->mapping->opened.device;
    }
    return status;
}

static ucs_status_t post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                         uint64_t address, uct_rkey_t rkey, int is_put,
                         uct_completion_t *comp)
{
    accel_ipc_iface_t *iface = (accel_ipc_iface_t *)ep->iface;
    accel_target_t target;
    ucs_status_t status;

    iovcnt = accel_copy_skip_empty(&iov, iovcnt);
    if (iovcnt == 0) {
        return UCS_OK;
    }
    if (iface->copy.free_ops == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    status = find_target(iface, (const accel_key_t *)rkey, address,
                         total_length(iov, iovcnt), &target);
    return (status != UCS_OK) ?
               status :
               accel_copy_post(ep, iov, iovcnt, &target, is_put, comp);
}

static ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, rkey, 1, comp);
}

static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, rkey, 0, comp);
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .estimate           = estimate,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = is_reachable,
    .ep_create          = ep_create,
    .progress           = accel_copy_progress,
    .progress_enable    = accel_progress_enable,
    .progress_disable   = accel_progress_disable,
    .flush              = accel_iface_flush,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .put_zcopy     = put_zcopy,
    .get_zcopy     = get_zcopy,
    .flush         = accel_ep_flush,
    .pending_add   = accel_pending_add,
    .pending_purge = accel_pending_purge,
    .destroy       = ep_destroy,
};

const ucx_transport_t accel_ipc_transport = {
    .size          = sizeof(accel_ipc_transport),
    .query_devices = accel_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
