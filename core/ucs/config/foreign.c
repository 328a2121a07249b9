/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches the names of variables and transports that only other
 * implementations of UCX have (foreign.txt). Users share settings between
 * implementations, so such a variable is logged at level info, not as a
 * warning.
 */
#include "ucs/config/foreign.h"

#include <string.h>

#include "ucs/config/internal.h"

/* Returns whether the entry stands for all variables with this prefix
 * ("PREFIX*"). The reason in such an entry is that no plugin with this prefix
 * is installed, which is wrong if the plugin is loaded. */
static int is_about(const config_foreign_t *foreign, const char *prefix)
{
    size_t length = strlen(prefix);

    return !strncmp(foreign->name, prefix, length) &&
           !strcmp(foreign->name + length, "*");
}

static int is_named(const config_foreign_t *foreign, const char *name)
{
    size_t length = strlen(foreign->name);

    if (foreign->name[length - 1] == '*') {
        return !strncmp(foreign->name, name, length - 1);
    }

    return !strcmp(foreign->name, name);
}

static const char *find(config_foreign_kind_t kind, const char *name,
                        const char *prefix)
{
    const config_foreign_t *foreign;

    for (foreign = config_foreign; foreign->name != NULL; ++foreign) {
        if ((foreign->kind == kind) && is_named(foreign, name) &&
            ((prefix == NULL) || !is_about(foreign, prefix))) {
            return foreign->reason;
        }
    }

    return NULL;
}

const char *config_foreign_variable(const char *name, const char *prefix)
{
    return find(CONFIG_FOREIGN_VARIABLE, name, prefix);
}

const char *ucs_config_foreign_transport(const char *word)
{
    return find(CONFIG_FOREIGN_TRANSPORT, word, NULL);
}
