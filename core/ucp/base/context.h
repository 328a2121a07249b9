/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context: the communication resources of this machine that an application
 * uses. Read-only after creation, except for the table of mapped memory.
 */
#ifndef UCP_CONTEXT_H
#define UCP_CONTEXT_H

#include <pthread.h>
#include <uct/api/uct.h>

#include "ucp/base/config.h"
#include "ucp/base/types.h"
#include "ucs/datastruct/hash.h"

/** The mapped memory of a context, found by the ids that peers send in their
 *  accesses (mem/table.h). */
typedef struct ucp_mem_table {
    /** Locked for reading while this process carries out a peer's access, so
     *  that ucp_mem_unmap waits for the access */
    pthread_rwlock_t lock;
    ucs_hash_t mems; /**< ucp_mem_h by id */
} ucp_mem_table_t;

/** An opened memory domain. */
typedef struct ucp_md {
    uct_component_h component;
    uct_md_h md;
    char name[UCT_MD_NAME_MAX];
} ucp_md_t;

/** A transport on a device. */
typedef struct ucp_resource {
    char tl_name[UCT_TL_NAME_MAX];
    char dev_name[UCT_DEVICE_NAME_MAX];
    uct_device_type_t dev_type;
    ucs_sys_device_t sys_dev;
    uint8_t md_index;
    /** The user's lists of transports and devices exclude it: used only for
     *  endpoints to the worker itself, which work with any lists */
    uint8_t loopback_only;
    /** Used only for the messages that connect other lanes ("NAME:aux" in
     *  UCX_TLS) */
    uint8_t aux_only;
    /** Carries no messages: it is used only to copy to and from memory that
     *  the processor cannot access (stage/stage.h) */
    uint8_t is_copier;
} ucp_resource_t;

enum { UCP_MAX_MDS = 64, UCP_MAX_RESOURCES = 128 };

struct ucp_context {
    ucp_config_options_t options;
    /** Settings made by ucp_config_modify of variables that belong to
     *  transports */
    ucs_config_overrides_t overrides;
    char *app_prefix;  /**< Prefix of variables (PREFIX_UCX_*), or NULL */
    char *config_file; /**< Additional file with settings, or NULL */
    uint64_t features;
    /** Supported memory types, bits by ucs_memory_type_t */
    uint64_t mem_types;
    /** Subset of mem_types that the processor cannot access: copied by a
     *  transport with is_copier */
    uint64_t staged_types;
    /** Subset of mem_types for which a memory domain can export a dmabuf */
    uint64_t dmabuf_types;
    size_t request_size; /**< Bytes of the user's area in each request
                          *   (ucp_params_t) */
    ucp_request_init_callback_t request_init;
    ucp_request_cleanup_callback_t request_cleanup;
    uint64_t tag_sender_mask;
    /** The program was built for a newer minor version of the API: see
     *  ucp_context_check_fields() */
    int is_newer;
    /** Several threads use workers of the context (mt_workers_shared) */
    int shared;
    /** Statistics are counted (UCX_STATS=y, or UCX_STATS_DEST is set; see
     *  stats/stats.h) */
    int counts;
    size_t estimated_num_eps;
    size_t estimated_num_ppn;
    /** Rank of this process on its node, from 0; SIZE_MAX if not known */
    size_t node_local_id;
    char name[UCP_ENTITY_NAME_MAX];

    ucp_md_t *mds;
    unsigned num_mds;
    ucp_resource_t *resources;
    unsigned num_resources;
    ucp_mem_table_t mems; /**< Mapped memory */
};
typedef struct ucp_context ucp_context_t;

/** Checks the field_mask that a program passed to `function`, for bits that are
 *  not in `known`. If the program is newer than the library, rejects such a
 *  mask with UCS_ERR_UNSUPPORTED and a log message. If not, ignores the
 *  bits. */
ucs_status_t ucp_context_check_fields(int is_newer, const char *function,
                                      uint64_t mask, uint64_t known);

/** Applies the settings of ucp_config_modify to a transport's configuration
 *  that was read from the environment and files. */
void ucp_context_apply_overrides(ucp_context_h context, void *uct_config);

#endif
