/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings made by function calls, stored as text: one of the sources from
 * which ucs_config_read() takes values. */
#include "ucs/config/config.h"

#include <stdlib.h>
#include <string.h>

typedef ucs_config_override_t override_t;

static const char *strip_prefix(const char *name)
{
    size_t length = strlen(UCS_CONFIG_ENV_PREFIX);

    return strncmp(name, UCS_CONFIG_ENV_PREFIX, length) ? name : name + length;
}

static override_t *override_find(const ucs_config_overrides_t *overrides,
                                 const char *name)
{
    override_t *override;

    ucs_list_for_each(override, &overrides->list, list) {
        if (!strcmp(override->name, name)) {
            return override;
        }
    }

    return NULL;
}

static void override_free(override_t *override)
{
    free(override->name);
    free(override->text);
    free(override);
}

void ucs_config_overrides_init(ucs_config_overrides_t *overrides)
{
    ucs_list_head_init(&overrides->list);
}

void ucs_config_overrides_cleanup(ucs_config_overrides_t *overrides)
{
    while (!ucs_list_is_empty(&overrides->list)) {
        override_free(
            ucs_list_extract_head(&overrides->list, override_t, list));
    }
}

ucs_status_t ucs_config_overrides_set(ucs_config_overrides_t *overrides,
                                      const char *name, const char *text)
{
    override_t *override;
    char *copy;

    name     = strip_prefix(name);
    override = override_find(overrides, name);
    if (override != NULL) {
        copy = strdup(text);
        if (copy == NULL) {
            return UCS_ERR_NO_MEMORY;
        }

        free(override->text);
        override->text = copy;
        return UCS_OK;
    }

    override = calloc(1, sizeof(*override));
    if (override == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    override->name = strdup(name);
    override->text = strdup(text);
    if ((override->name == NULL) || (override->text == NULL)) {
        override_free(override);
        return UCS_ERR_NO_MEMORY;
    }

    ucs_list_add_tail(&overrides->list, &override->list);
    return UCS_OK;
}

const char *ucs_config_overrides_get(const ucs_config_overrides_t *overrides,
                                     const char *name)
{
    const override_t *override;

    override = override_find(overrides, strip_prefix(name));
    return (override == NULL) ? NULL : override->text;
}

ucs_status_t ucs_config_overrides_clone(ucs_config_overrides_t *dest,
                                        const ucs_config_overrides_t *src)
{
    const override_t *override;
    ucs_status_t status;

    ucs_config_overrides_init(dest);
    ucs_list_for_each(override, &src->list, list) {
        status = ucs_config_overrides_set(dest, override->name, override->text);
        if (status != UCS_OK) {
            ucs_config_overrides_cleanup(dest);
            return status;
        }
    }

    return UCS_OK;
}
