/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_search_params_default(): the folders in which this process searches
 * plugins, from UCX_PLUGIN_PATH and from the folders that were fixed when the
 * core was built. A configuration file cannot set them: such a file may be in
 * the current folder, and must not decide which code the process loads.
 */
#include "uct/plugin/search.h"

#include <stdlib.h>

#include "ucs/config/config.h"
#include "ucs/sys/sys.h"
#include "uct/plugin/paths.h"

typedef struct plugin_opts {
    char *path;
} plugin_opts_t;

static const ucs_config_field_t plugin_fields[] = {
    {"PLUGIN_PATH", "",
     "Folders to look for plugins in, before the system's, with colons "
     "between.\n"
     "Each is an absolute path. Only the environment counts, not ucx.conf.\n"
     "`ucx-plugins path` shows the whole order.",
     offsetof(plugin_opts_t, path), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},
    {NULL},
};

/* The table is only registered, so that the variable is listed and misspelt
 * names are reported; the value is read by getenv() below. */
UCS_CONFIG_DEFINE_TABLE(plugin_table, "Plugins", "", plugin_fields,
                        plugin_opts_t);

void uct_search_params_default(uct_search_params_t *params)
{
    (void)ucs_config_env_is_ignored("UCX_PLUGIN_PATH", UCS_CONFIG_FLAG_PATH);
    params->secure       = ucs_sys_is_secure();
    params->env_path     = getenv("UCX_PLUGIN_PATH");
    params->admin_dir    = UCT_PLUGIN_ADMIN_DIR;
    params->system_dir   = UCT_PLUGIN_SYSTEM_DIR;
    params->root         = "";
    params->library_path = params->secure ? NULL : getenv("LD_LIBRARY_PATH");
}
