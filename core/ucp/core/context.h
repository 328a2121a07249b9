/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context: what of this machine's communication resources an application
 * uses. It is read-only once it is made.
 */
#ifndef UCP_CONTEXT_H
#define UCP_CONTEXT_H

#include <pthread.h>
#include <uct/api/uct.h>

#include "ucp/core/config.h"
#include "ucp/core/types.h"
#include "ucp/mem/table.h"

/** An opened memory domain. */
typedef struct ucp_md {
    uct_component_h   component;
    uct_md_h          md;
    char              name[UCT_MD_NAME_MAX];
} ucp_md_t;

/** A transport on a device. */
typedef struct ucp_resource {
    char             tl_name[UCT_TL_NAME_MAX];
    char             dev_name[UCT_DEVICE_NAME_MAX];
    uct_device_type_t dev_type;
    ucs_sys_device_t sys_dev;
    uint8_t          md_index;
    uint8_t          loopback_only; /**< Not asked for: there so that an
                                         endpoint to oneself always works */
    uint8_t          aux_only;      /**< Asked for to connect others only */
    uint8_t          is_copier;     /**< Carries no messages: copies to and
                                         from memory that the processor may not
                                         touch */
} ucp_resource_t;

enum { UCP_MAX_MDS = 64, UCP_MAX_RESOURCES = 128 };

struct ucp_context {
    ucp_config_options_t        options;
    ucs_config_overrides_t      overrides;       /**< For tables of others */
    char                        *app_prefix;     /**< NULL: none; so the next */
    char                        *config_file;
    uint64_t                    features;
    uint64_t                    mem_types;       /**< That can be used */
    uint64_t                    staged_types;    /**< Of these, those that a
                                                      copier serves */
    size_t                      request_size;    /**< The user's part */
    ucp_request_init_callback_t request_init;
    ucp_request_cleanup_callback_t request_cleanup;
    uint64_t                    tag_sender_mask;
    int                         is_newer;        /**< The program was built for
                                                      a newer minor version */
    int                         shared;          /**< Workers of several
                                                      threads */
    int                         counts;          /**< UCX_STATS: see stats.h */
    size_t                      estimated_num_eps;
    size_t                      estimated_num_ppn;
    size_t                      node_local_id;   /**< From 0; SIZE_MAX: not
                                                      known */
    char                        name[UCP_ENTITY_NAME_MAX];

    ucp_md_t                    *mds;
    unsigned                    num_mds;
    ucp_resource_t              *resources;
    unsigned                    num_resources;
    ucp_mem_table_t             mems;            /**< That are mapped */
    pthread_mutex_t             staged_amo;      /**< Makes peers' atomics on
                                                      staged memory atomic */
};
typedef struct ucp_context ucp_context_t;

/** Finds and opens what the configuration allows. */
ucs_status_t ucp_context_open_resources(ucp_context_t *context);
void ucp_context_close_resources(ucp_context_t *context);

/** Checks the field_mask that a program gave to `function`. Bits that are not
 *  `known` are an error (UCS_ERR_UNSUPPORTED, the message names the bit) if the
 *  program is newer than the library; otherwise they mean nothing. */
ucs_status_t ucp_context_check_fields(int is_newer, const char *function,
                                      uint64_t mask, uint64_t known);

/** Tells an opened table of a transport what ucp_config_modify has set. */
void ucp_context_apply_overrides(ucp_context_h context, void *uct_config);

#endif
