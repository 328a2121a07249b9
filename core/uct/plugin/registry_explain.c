/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_plugin_explain_word(): explains why an entry of UCX_TLS selects no usable
 * transport. The text names the rejected plugin that offers the transport and
 * the reason of the rejection; for an unknown entry, the most similar name. In
 * this file, a word is the name or an alias of a transport.
 */
#include "uct/plugin/registry_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config/config.h"

/* Returns whether a transport of the manifest has this name or alias. */
static int offers_word(const uct_manifest_t *manifest, const char *word)
{
    const uct_manifest_component_t *component;
    unsigned i, j;

    for (i = 0; i < manifest->num_components; ++i) {
        component = &manifest->components[i];
        for (j = 0; j < component->num_transports; ++j) {
            if (!strcmp(component->transports[j].name, word) ||
                uct_names_has(&component->transports[j].aliases, word)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Returns the first usable plugin that offers the word; if there is none, the
 * first rejected plugin that offers it, or NULL. */
static uct_plugin_t *find_provider(uct_plugin_registry_t *registry,
                                   const char *word)
{
    uct_plugin_t *result = NULL, *plugin;
    unsigned i;

    for (i = 0; i < registry->num_plugins; ++i) {
        plugin = registry->plugins[i];
        if ((plugin->manifest == NULL) ||
            !offers_word(plugin->manifest, word)) {
            continue;
        } else if (uct_plugin_is_usable(plugin)) {
            return plugin;
        } else if (result == NULL) {
            result = plugin;
        }
    }
    return result;
}

/* Stores all words of one manifest in the array `words`, which must be large
 * enough, and returns their number. If `words` is NULL, only returns the
 * number. */
static unsigned add_words(const uct_manifest_t *manifest, const char **words)
{
    const uct_manifest_transport_t *transport;
    unsigned count = 0, i, j, k;

    for (i = 0; i < manifest->num_components; ++i) {
        for (j = 0; j < manifest->components[i].num_transports; ++j) {
            transport = &manifest->components[i].transports[j];
            for (k = 0; k <= transport->aliases.count; ++k) {
                if (words != NULL) {
                    words[count] = (k == 0) ? transport->name :
                                              transport->aliases.name[k - 1];
                }
                ++count;
            }
        }
    }
    return count;
}

/* Returns an array of the words in `builtin` and in the manifests of all
 * plugins, terminated by NULL. The caller releases the array by free(). Returns
 * NULL if memory is exhausted. */
static const char **all_words(uct_plugin_registry_t *registry,
                              const char *const *builtin)
{
    unsigned count = 0, i;
    const char **words;

    for (i = 0; (builtin != NULL) && (builtin[i] != NULL); ++i) {
        ++count;
    }
    for (i = 0; i < registry->num_plugins; ++i) {
        if (registry->plugins[i]->manifest != NULL) {
            count += add_words(registry->plugins[i]->manifest, NULL);
        }
    }

    words = calloc(count + 1, sizeof(*words));
    if (words == NULL) {
        return NULL;
    }
    count = 0;
    for (i = 0; (builtin != NULL) && (builtin[i] != NULL); ++i) {
        words[count++] = builtin[i];
    }
    for (i = 0; i < registry->num_plugins; ++i) {
        if (registry->plugins[i]->manifest != NULL) {
            count += add_words(registry->plugins[i]->manifest, words + count);
        }
    }
    return words;
}

/* Writes the text for a word that no plugin offers. */
static void say_unknown(uct_plugin_registry_t *registry, const char *word,
                        const char *const *builtin, char *text, size_t size)
{
    const char **words  = all_words(registry, builtin);
    const char *foreign = ucs_config_foreign_transport(word);
    const char *nearest = (words == NULL) ? NULL :
                                            ucs_config_nearest(word, words);

    if (foreign != NULL) {
        snprintf(text, size,
                 "no plugin offers \"%s\", which in other implementations "
                 "means %s; install one that does, or remove the word",
                 word, foreign);
    } else if (registry->num_plugins == 0) {
        snprintf(text, size,
                 "no plugin offers \"%s\", because no plugin is installed; "
                 "`ucx-plugins path` shows the folders that are searched",
                 word);
    } else if (nearest != NULL) {
        snprintf(text, size, "no plugin offers \"%s\"; did you mean \"%s\"?",
                 word, nearest);
    } else {
        snprintf(text, size,
                 "no plugin offers \"%s\"; `ucx-plugins list` shows the "
                 "plugins",
                 word);
    }
    free(words);
}

ucs_status_t uct_plugin_explain_word(uct_plugin_registry_t *registry,
                                     const char *word,
                                     const char *const *builtin, char *text,
                                     size_t size)
{
    const uct_rejection_info_t *info;
    ucs_status_t status;
    uct_plugin_t *plugin;
    unsigned i;

    text[0] = '\0';
    for (i = 0; (builtin != NULL) && (builtin[i] != NULL); ++i) {
        if (!strcmp(builtin[i], word)) {
            return UCS_OK;
        }
    }

    pthread_mutex_lock(&registry->lock);
    plugin = find_provider(registry, word);
    if (plugin == NULL) {
        say_unknown(registry, word, builtin, text, size);
        status = UCS_ERR_NO_ELEM;
    } else if (uct_plugin_is_usable(plugin)) {
        status = UCS_OK;
    } else {
        info   = uct_rejection_info(plugin->rejection.code);
        status = UCS_ERR_UNSUPPORTED;
        snprintf(text, size,
                 "\"%s\" is offered by the plugin %s, which is not used: %s "
                 "%s: %s; what to do: %s",
                 word, plugin->name, info->id, info->meaning,
                 plugin->rejection.reason, info->remedy);
    }
    pthread_mutex_unlock(&registry->lock);
    return status;
}
