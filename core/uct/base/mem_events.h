/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory events (mapped and unmapped memory, reported by core/ucm) for the
 * core and for plugins: the settings of UCM as configuration variables, and
 * subscriptions.
 */
#ifndef UCT_BASE_MEM_EVENTS_H
#define UCT_BASE_MEM_EVENTS_H

#include <ucm/api/ucm.h>
#include <ucx/host.h>

/* Settings of registration caches. */
typedef struct uct_rcache_options {
    int enable; /* ucs_ternary_auto_value_t */
    unsigned mem_prio;
    unsigned long max_regions;
    size_t max_size;
    size_t max_unreleased; /* bytes */
} uct_rcache_options_t;

/* Reads the UCX_RCACHE_* variables. If a value is invalid, logs an error and
 * uses the defaults. */
void uct_rcache_options_read(uct_rcache_options_t *options);

/* Subscribes by ucm_set_event_handler(). Before the first subscription, sets
 * the options of UCM from the configuration variables of this process. */
ucs_status_t uct_mem_events_set(int events, int priority,
                                ucm_event_callback_t cb, void *arg);

/* Returns the number of forks from the first ancestor to this process. */
unsigned uct_fork_generation(void);

/* The functions mem_event_subscribe and mem_event_unsubscribe that plugins
 * call (<ucx/host.h>). */
ucs_status_t uct_host_mem_event_subscribe(unsigned events,
                                          ucx_mem_event_cb_t cb, void *arg);
void uct_host_mem_event_unsubscribe(ucx_mem_event_cb_t cb, void *arg);

#endif
