/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in the table of services for plugins (uct_host in host.c) that
 * other files define. <ucx/host.h> describes the slots of the same names. */
#ifndef UCT_BASE_HOST_SERVICES_H
#define UCT_BASE_HOST_SERVICES_H

#include <ucx/host.h>

/* host_mpool.c */
ucs_status_t uct_host_mpool_create(const ucx_mpool_params_t *params,
                                   ucx_mpool_t **mpool_p);
void *uct_host_mpool_grow(ucx_mpool_t *mpool);
void uct_host_mpool_destroy(ucx_mpool_t *mpool);

/* host_counters.c */
ucs_status_t uct_host_counters_create(const ucx_counters_params_t *params,
                                      uint64_t **values_p);
void uct_host_counters_destroy(uint64_t *values);

/* host_async.c */
ucs_status_t uct_host_async_add_fd(uct_worker_h worker, int fd, int events,
                                   ucx_async_fd_cb_t cb, void *arg,
                                   ucx_async_id_t *id_p);
ucs_status_t uct_host_async_modify_fd(ucx_async_id_t id, int events);
ucs_status_t uct_host_async_add_timer(uct_worker_h worker, double interval,
                                      ucx_async_timer_cb_t cb, void *arg,
                                      ucx_async_id_t *id_p);
void uct_host_async_remove(ucx_async_id_t id);

#endif
