/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies the user's lists of transports and devices, and explains entries that
 * have no effect on this machine. resources.c calls these functions for each
 * transport and device, and keeps open the memory domains of those that are
 * allowed.
 */
#ifndef UCP_TL_SELECT_H
#define UCP_TL_SELECT_H

#include "ucp/base/config.h"
#include "uct/base/component.h"

/** A device that was found on this machine, even if the user's lists exclude
 *  it. */
typedef struct ucp_tl_select_device {
    uct_device_type_t type;
    char name[UCT_DEVICE_NAME_MAX];
} ucp_tl_select_device_t;

/** What was found and selected while the memory domains were opened. */
typedef struct ucp_tl_select {
    const ucp_config_options_t *options;
    uct_component_h *components; /**< All components */
    unsigned num_components;
    /** One entry for each pair of name and type, for log messages */
    ucp_tl_select_device_t *devices;
    unsigned num_devices;
    /** Number of resources (a transport on a device) that exist and that the
     *  lists select, other than those selected by "NAME:aux" */
    unsigned num_selected;
    /** Number of resources that an entry "NAME:aux" selects; not in
     *  num_selected */
    unsigned num_auxiliary;
    /** How many of num_selected carry active messages */
    unsigned num_messaging;
} ucp_tl_select_t;

ucs_status_t ucp_tl_select_init(ucp_tl_select_t *selection,
                                const ucp_config_options_t *options);
void ucp_tl_select_cleanup(ucp_tl_select_t *selection);

/** For what the list of transports (UCX_TLS) allows a transport to be used. */
typedef enum ucp_tl_role {
    UCP_TL_ROLE_NONE,
    UCP_TL_ROLE_AUXILIARY, /**< "NAME:aux": only to connect other lanes */
    UCP_TL_ROLE_ALL,
} ucp_tl_role_t;

ucp_tl_role_t ucp_tl_select_role(const ucp_tl_select_t *selection,
                                 const uct_component_decl_t *decl,
                                 const uct_tl_decl_t *tl);

/** An entry of UCX_TLS. */
typedef struct ucp_tl_word {
    /** The entry begins with "\": `name` is not an alias */
    int is_exact;
    int is_aux;                     /**< The entry ends in ":aux" */
    char name[UCT_TL_NAME_MAX * 4]; /**< The entry without "\" and ":aux" */
} ucp_tl_word_t;

void ucp_tl_word_read(const char *text, ucp_tl_word_t *word);

/** True if this list of devices allows the device. */
int ucp_tl_select_is_allowed(const ucs_config_allow_list_t *list,
                             const char *device);

/** Records the device for log messages. Returns non-zero if the list for
 *  devices of its type allows it. */
int ucp_tl_select_add_device(ucp_tl_select_t *selection,
                             const uct_tl_resource_desc_t *desc);

/** Counts a transport on a device that the lists allow, in this role. */
void ucp_tl_select_add_tl(ucp_tl_select_t *selection, const uct_tl_decl_t *tl,
                          ucp_tl_role_t role);

/**
 * Called when all memory domains are open. Logs warnings about entries that
 * have no effect. If nothing is selected, logs why and returns
 * UCS_ERR_NO_DEVICE.
 */
ucs_status_t ucp_tl_select_check(const ucp_tl_select_t *selection);

#endif
