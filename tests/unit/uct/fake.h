/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin "fake" for tests: tables that are shorter or longer than the
 * core's, variables of every type, memory domains that allocate memory, and a
 * connection manager. The code is linked into test programs, and is also built
 * as a module with a manifest.
 */
#ifndef TEST_UCT_FAKE_H
#define TEST_UCT_FAKE_H

#include <ucx/plugin.h>

/* Options of the transport "fk", whose values the core sets. */
typedef struct fake_options {
    int number;
    unsigned count;
    unsigned long big;
    double ratio;
    int on;
    int ternary;
    int on_off;
    char *text;
    unsigned color;
    unsigned colors;
    size_t bytes;
    double seconds;
    double bandwidth;
    ucs_config_names_array_t list;
    ucs_config_allow_list_t allow;
} fake_options_t;

/* Record of the calls of the plugin: their numbers, and arguments of the last
 * call. */
typedef struct fake_log {
    unsigned opened_ifaces;
    unsigned closed_ifaces;
    unsigned opened_mds;
    unsigned closed_mds;
    unsigned allocated;
    unsigned freed;
    unsigned iface_freed;
    int number; /* option NUMBER of the last iface_open */
    char text[32];
    char dev_name[32];
    int is_polled;    /* of the last iface_open */
    char md_text[32]; /* option UCX_FAKE_MD_TEXT of the last md_open */
    size_t connect_ep_addr_length;
    const ucx_host_t *host;
} fake_log_t;

extern fake_log_t fake_log;

ucs_status_t fake_plugin_entry(const ucx_plugin_args_t *args,
                               const ucx_plugin_t **plugin_p);

#endif
