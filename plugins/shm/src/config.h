/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of this plugin; the core parses them into these structures.
 * config.c describes each variable. Sizes are in bytes, times in seconds,
 * bandwidths in bytes per second; "auto" is a negative time, the bandwidth 0,
 * or UCS_MEMUNITS_AUTO. */
#ifndef SHM_CONFIG_H
#define SHM_CONFIG_H

#include <ucs/config/types.h>
#include <ucx/config.h>

/* Seconds between two checks of the peers if KEEPALIVE is auto and the core
 * specifies no interval. */
#define SHM_KEEPALIVE_DEFAULT 1.0

/* Memory domain of posix. */
typedef struct shm_posix_md_config {
    char *dir;
    int use_names; /* ucs_ternary_auto_value_t */
    int use_proc_link;
    int use_socket;   /* ucs_ternary_auto_value_t */
    int hugetlb_mode; /* ucs_ternary_auto_value_t */
} shm_posix_md_config_t;

/* Memory domain of sysv. */
typedef struct shm_sysv_md_config {
    int hugetlb_mode; /* ucs_ternary_auto_value_t */
} shm_sysv_md_config_t;

/* Interface of posix and of sysv. */
typedef struct shm_iface_config {
    unsigned fifo_size;
    size_t ring_size;
    unsigned max_peers;
    size_t seg_size;
    size_t zcopy_size;
    size_t nt_min;
    double bw;
    double latency;
    double overhead;
    double keepalive;
} shm_iface_config_t;

/* Interface of cma. */
typedef struct shm_cma_config {
    unsigned max_iov;
    int share;
    size_t share_thresh;
    size_t chunk;
    int ptracer;
    double bw;
    double latency;
    double overhead;
    double keepalive;
} shm_cma_config_t;

extern const ucx_config_table_t shm_posix_md_config_table;
extern const ucx_config_table_t shm_sysv_md_config_table;
extern const ucx_config_table_t shm_posix_config_table;
extern const ucx_config_table_t shm_sysv_config_table;
extern const ucx_config_table_t shm_cma_config_table;

#endif
