/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests with a simulated device: replaces some of the functions of
 * libibverbs and of this plugin that interfaces call. Each test replaces the
 * other functions itself, particularly those of queues and ports. The device
 * reports no asynchronous events. */
#include "../src/port.h"
#include "../src/watch.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
    struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

    channel->fd = eventfd(0, EFD_CLOEXEC);
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    free(channel);
    return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *address, size_t length,
                          int access)
{
    return calloc(1, sizeof(struct ibv_mr));
}

/* Called by the macro ibv_reg_mr() of libibverbs if the access flags are not a
 * constant. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *domain, void *address,
                                size_t length, uint64_t iova, unsigned access)
{
    return ibv_reg_mr(domain, address, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    free(mr);
    return 0;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

ucs_status_t ib_port_config(const ucx_host_t *host,
                            const ib_md_config_t *domain,
                            const ib_path_config_t *path,
                            ib_md_config_t *config)
{
    *config = *domain;
    return UCS_OK;
}

ucs_status_t ib_watch_start(ib_watch_t *watch, const ib_watch_ops_t *ops,
                            ib_md_t *domain, uct_worker_h worker, uint8_t port,
                            double patience)
{
    return UCS_OK;
}

void ib_watch_stop(ib_watch_t *watch)
{
}

ucs_status_t ib_reg_failed(ib_md_t *domain, int level, const void *address,
                           size_t length)
{
    return UCS_ERR_NO_MEMORY;
}
