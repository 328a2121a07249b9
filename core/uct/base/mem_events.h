/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory events for the core and for plugins. core/ucm intercepts the functions
 * that map and unmap memory, and reports mapped and unmapped ranges. This
 * header has the settings of UCM and of registration caches as configuration
 * variables, and subscriptions to the events.
 */
#ifndef UCT_BASE_MEM_EVENTS_H
#define UCT_BASE_MEM_EVENTS_H

#include <ucm/api/ucm.h>
#include <ucx/host.h>

/* Settings of registration caches: the variables UCX_RCACHE_*. */
typedef struct uct_rcache_options {
    int enable;                /* UCS_NO; UCS_YES: warn if memory events are not
                                * available; UCS_TRY: do not warn */
    unsigned mem_prio;         /* priority of the caches' handlers of memory
                                * events */
    unsigned long max_regions; /* maximum number of cached regions */
    size_t max_size;           /* maximum bytes of cached regions */
    size_t max_unreleased;     /* total bytes of unmapped regions above which
                                * they are deregistered without waiting for the
                                * next use of the cache */
} uct_rcache_options_t;

/* Reads the UCX_RCACHE_* variables. If a value is invalid, logs an error and
 * uses the defaults. */
void uct_rcache_options_read(uct_rcache_options_t *options);

/* Calls ucm_set_event_handler(). The first call in the process sets the options
 * of UCM before that, from the variables UCX_MEM_*. */
ucs_status_t uct_mem_events_set(int events, int priority,
                                ucm_event_callback_t cb, void *arg);

/* Returns a number that is larger in a forked child than it was in its parent,
 * so that a process recognizes objects from before a fork. Forks before the
 * first uct_mem_events_set() do not count. */
unsigned uct_fork_generation(void);

/* The functions mem_event_subscribe and mem_event_unsubscribe that plugins
 * call (<ucx/host.h>). */
ucs_status_t uct_host_mem_event_subscribe(unsigned events,
                                          ucx_mem_event_cb_t cb, void *arg);
void uct_host_mem_event_unsubscribe(ucx_mem_event_cb_t cb, void *arg);

#endif
