/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies the user's lists of transports and devices, and explains lists that
 * are invalid on this machine. Opens nothing: resources.c does.
 */
#ifndef UCP_CHOICE_H
#define UCP_CHOICE_H

#include "ucp/base/config.h"
#include "uct/base/component.h"

/** A device that was found, whether the lists allow it or not. */
typedef struct ucp_choice_device {
    uct_device_type_t type;
    char              name[UCT_DEVICE_NAME_MAX];
} ucp_choice_device_t;

/** Results of opening the resources. */
typedef struct ucp_choice {
    const ucp_config_options_t *options;
    uct_component_h            *components;   /**< All components */
    unsigned                   num_components;
    ucp_choice_device_t        *devices; /**< Each name once for each type */
    unsigned                   num_devices;
    /** Selected by the lists and found */
    unsigned                   num_chosen;
    /** Selected as auxiliary only; not in num_chosen */
    unsigned                   num_auxiliary;
    /** Of num_chosen, transports that carry messages */
    unsigned                   num_messaging;
} ucp_choice_t;

ucs_status_t
ucp_choice_init(ucp_choice_t *choice, const ucp_config_options_t *options);
void ucp_choice_cleanup(ucp_choice_t *choice);

/** What the list of transports allows one to be used for. */
typedef enum ucp_choice_role {
    UCP_CHOICE_NOTHING,
    UCP_CHOICE_AUXILIARY, /**< "NAME:aux": only to connect other lanes */
    UCP_CHOICE_ALL
} ucp_choice_role_t;

ucp_choice_role_t ucp_choice_of_tl(const ucp_choice_t *choice,
                                   const uct_component_promise_t *promise,
                                   const uct_tl_promise_t *tl);

/** An entry of a list of transports. */
typedef struct ucp_tl_word {
    int  is_exact;                  /**< Begins with "\" */
    int  is_aux;                    /**< Ends in ":aux" */
    char name[UCT_TL_NAME_MAX * 4]; /**< The name in between */
} ucp_tl_word_t;

void ucp_tl_word_read(const char *text, ucp_tl_word_t *word);

/** True if the list allows the device. */
int ucp_tl_select_is_allowed(const ucs_config_allow_list_t *list,
                             const char *device);

/** Records the device. Returns whether the lists allow it. */
int ucp_choice_takes_device(ucp_choice_t *choice,
                            const uct_tl_resource_desc_t *desc);

/** Records that the transport was found on a device and that the lists allow
 *  both, in this role. */
void ucp_choice_chosen(ucp_choice_t *choice, const uct_tl_promise_t *tl,
                       ucp_choice_role_t role);

/**
 * Called when all is opened. Warns of entries that have no effect. If nothing
 * usable is left, reports why and returns UCS_ERR_NO_DEVICE.
 */
ucs_status_t ucp_choice_judge(const ucp_choice_t *choice);

#endif
