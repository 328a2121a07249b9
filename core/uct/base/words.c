/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains why a word of UCX_TLS selects no transport (words.h): compares it
 * with the transports of the core itself (built-in ones), then with those in
 * the manifests of plugins. */
#include "uct/base/words.h"

#include <stdio.h>

#include "uct/base/component.h"
#include "uct/plugin/registry.h"

/* Returns whether a built-in component declares the word. */
static int is_builtin(const char *word)
{
    uct_component_h component = NULL;

    while ((component = uct_component_find_by_tl(word, component)) != NULL) {
        if (uct_component_decl(component)->plugin == NULL) {
            return 1;
        }
    }
    return 0;
}

/* Stores the names of the built-in transports in `words`, at most max - 1 of
 * them, terminated by NULL. */
static void list_builtin(const char **words, unsigned max)
{
    unsigned num_components, num = 0, i, j;
    const uct_component_decl_t *decl;
    uct_component_h *components;

    words[0] = NULL;
    if (uct_query_components(&components, &num_components) != UCS_OK) {
        return;
    }

    for (i = 0; i < num_components; ++i) {
        decl = uct_component_decl(components[i]);
        for (j = 0; (decl->plugin == NULL) && (j < decl->num_transports) &&
                    (num + 1 < max);
             ++j) {
            words[num++] = decl->transports[j].name;
        }
    }
    words[num] = NULL;
    uct_release_component_list(components);
}

ucs_status_t uct_explain_word(const char *word, char *text, size_t size)
{
    uct_plugin_registry_t *registry;
    const char *builtin[8];
    ucs_status_t status;

    text[0] = '\0';
    if (is_builtin(word)) {
        return UCS_OK;
    }

    status = uct_plugin_registry_get(&registry);
    if (status != UCS_OK) {
        snprintf(text, size, "the plugins cannot be listed: %s",
                 ucs_status_string(status));
        return status;
    }

    list_builtin(builtin, ucs_static_array_size(builtin));
    return uct_plugin_explain_word(registry, word, builtin, text, size);
}

const char *const *uct_config_prefixes(void)
{
    uct_plugin_registry_t *registry;

    return (uct_plugin_registry_get(&registry) == UCS_OK) ?
               uct_plugin_config_prefixes(registry) :
               NULL;
}
