/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints every variable with its help text, in the format of ucx.conf;
 * check_table.py compares the output with the documented table of variables.
 * Loads all plugins that it finds, so that their variables are included.
 */
#include <stdio.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include "ucs/config/config.h"
#include "uct/base/component.h"

int main(void)
{
    uct_component_h *components;
    ucp_config_t *config;
    unsigned count, i;

    /* registers the variables of the library itself */
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK) {
        return 1;
    }
    ucp_config_release(config);

    if (uct_query_components(&components, &count) != UCS_OK) {
        return 1;
    }

    for (i = 0; i < count; ++i) {
        if (uct_component_load(components[i]) != UCS_OK) {
            return 1;
        }
    }

    ucs_config_print_all(stdout, NULL,
                         (ucs_config_print_flags_t)(UCS_CONFIG_PRINT_CONFIG |
                                                    UCS_CONFIG_PRINT_HEADER |
                                                    UCS_CONFIG_PRINT_DOC |
                                                    UCS_CONFIG_PRINT_HIDDEN));
    uct_release_component_list(components);
    return 0;
}
