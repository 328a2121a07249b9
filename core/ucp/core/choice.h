/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user's lists of transports and devices let through, and words for
 * lists that make no sense on this machine. Opens nothing: resources.c does.
 */
#ifndef UCP_CHOICE_H
#define UCP_CHOICE_H

#include "ucp/core/config.h"
#include "uct/base/component.h"

/** A device that was found, whether the lists allow it or not. */
typedef struct ucp_choice_device {
    uct_device_type_t type;
    char              name[UCT_DEVICE_NAME_MAX];
} ucp_choice_device_t;

/** What was found while resources were opened. */
typedef struct ucp_choice {
    const ucp_config_options_t *options;
    uct_component_h            *components;   /**< All there are */
    unsigned                   num_components;
    ucp_choice_device_t        *devices;      /**< Each name once a type */
    unsigned                   num_devices;
    unsigned                   num_chosen;    /**< Asked for, and there */
    unsigned                   num_auxiliary; /**< Not among those */
    unsigned                   num_messaging; /**< Of the chosen, those
                                                   that carry messages */
} ucp_choice_t;

ucs_status_t
ucp_choice_init(ucp_choice_t *choice, const ucp_config_options_t *options);
void ucp_choice_cleanup(ucp_choice_t *choice);

/** What the list of transports lets one be used for. */
typedef enum ucp_choice_role {
    UCP_CHOICE_NOTHING,
    UCP_CHOICE_AUXILIARY, /**< "NAME:aux": to connect others by */
    UCP_CHOICE_ALL
} ucp_choice_role_t;

ucp_choice_role_t ucp_choice_of_tl(const ucp_choice_t *choice,
                                   const uct_component_promise_t *promise,
                                   const uct_tl_promise_t *tl);

/** Takes note of the device. Returns whether the lists let it through. */
int ucp_choice_takes_device(ucp_choice_t *choice,
                            const uct_tl_resource_desc_t *desc);

/** The transport was found on a device; both were asked for, in this role. */
void ucp_choice_chosen(ucp_choice_t *choice, const uct_tl_promise_t *tl,
                       ucp_choice_role_t role);

/**
 * All is opened: warns of words that meant nothing, or, if they have left
 * nothing to use, says so and returns UCS_ERR_NO_DEVICE.
 */
ucs_status_t ucp_choice_judge(const ucp_choice_t *choice);

#endif
