/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies the user's lists of transports and devices, and explains entries that
 * have no effect on this machine. resources.c calls these functions for each
 * transport and device, and opens those that are allowed.
 */
#ifndef UCP_TL_SELECT_H
#define UCP_TL_SELECT_H

#include "ucp/base/config.h"
#include "uct/base/component.h"

/** A device that was found, whether the lists allow it or not. */
typedef struct ucp_tl_select_device {
    uct_device_type_t type;
    char name[UCT_DEVICE_NAME_MAX];
} ucp_tl_select_device_t;

/** What was found and selected while the resources were opened. */
typedef struct ucp_tl_select {
    const ucp_config_options_t *options;
    uct_component_h *components; /**< All components */
    unsigned num_components;
    ucp_tl_select_device_t *devices; /**< One entry for each name and type */
    unsigned num_devices;
    /** Number of transports on devices that the lists select and that exist */
    unsigned num_selected;
    /** Selected as auxiliary only; not in num_selected */
    unsigned num_auxiliary;
    /** Subset of num_selected: transports that carry messages */
    unsigned num_messaging;
} ucp_tl_select_t;

ucs_status_t ucp_tl_select_init(ucp_tl_select_t *selection,
                                const ucp_config_options_t *options);
void ucp_tl_select_cleanup(ucp_tl_select_t *selection);

/** What the list of transports allows a transport to be used for. */
typedef enum ucp_tl_role {
    UCP_TL_ROLE_NONE,
    UCP_TL_ROLE_AUXILIARY, /**< "NAME:aux": only to connect other lanes */
    UCP_TL_ROLE_ALL,
} ucp_tl_role_t;

ucp_tl_role_t ucp_tl_select_role(const ucp_tl_select_t *selection,
                                 const uct_component_decl_t *decl,
                                 const uct_tl_decl_t *tl);

/** An entry of a list of transports. */
typedef struct ucp_tl_word {
    int is_exact;                   /**< Begins with "\" */
    int is_aux;                     /**< Ends in ":aux" */
    char name[UCT_TL_NAME_MAX * 4]; /**< The name without "\" and ":aux" */
} ucp_tl_word_t;

void ucp_tl_word_read(const char *text, ucp_tl_word_t *word);

/** True if the list allows the device. */
int ucp_tl_select_is_allowed(const ucs_config_allow_list_t *list,
                             const char *device);

/** Records the device. Returns whether the lists allow it. */
int ucp_tl_select_add_device(ucp_tl_select_t *selection,
                             const uct_tl_resource_desc_t *desc);

/** Records that the transport was found on a device and that the lists allow
 *  both, in this role. */
void ucp_tl_select_add_tl(ucp_tl_select_t *selection, const uct_tl_decl_t *tl,
                          ucp_tl_role_t role);

/**
 * Called when all is opened. Warns of entries that have no effect. If nothing
 * usable is left, reports why and returns UCS_ERR_NO_DEVICE.
 */
ucs_status_t ucp_tl_select_check(const ucp_tl_select_t *selection);

#endif
