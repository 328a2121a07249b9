/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies and checks of the values of UCP's configuration variables. */
#ifndef UCP_CORE_CONFIG_H
#define UCP_CORE_CONFIG_H

#include "ucp/base/config.h"

/** ucp_config_options_clone() makes a deep copy; ucp_config_options_release()
 *  frees what an options structure owns. */
ucs_status_t ucp_config_options_clone(ucp_config_options_t *dest,
                                      const ucp_config_options_t *src);
void ucp_config_options_release(ucp_config_options_t *options);

/**
 * Checks combinations of settings. Logs warnings about settings without effect.
 * Returns UCS_ERR_INVALID_PARAM if the settings allow no transport at all.
 */
ucs_status_t ucp_config_check(const ucp_config_options_t *options);

#endif
