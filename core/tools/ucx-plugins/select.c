/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses a transport list: "all", "a,b" or "^a,b". A word may end with a colon
 * and a purpose (":aux"), which are ignored here. It may begin with '\', which
 * selects the transport of that name, not an alias.
 */
#include "select.h"

#include <string.h>

#define WORD_LENGTH_MAX 64

static int is_called(const uct_manifest_transport_t *transport,
                     const char *word)
{
    if (word[0] == '\\') {
        return !strcmp(transport->name, word + 1);
    }
    return !strcmp(transport->name, word) ||
           uct_names_has(&transport->aliases, word);
}

/* Returns whether a word of the list names the transport. If `all_counts`, the
 * word "all" names every transport. */
static int is_named(const uct_manifest_transport_t *transport, const char *list,
                    int all_counts)
{
    char word[WORD_LENGTH_MAX];
    size_t length;

    for (; *list != '\0'; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (length >= sizeof(word)) {
            continue;
        }
        memcpy(word, list, length);
        word[length]             = '\0';
        word[strcspn(word, ":")] = '\0';
        if ((all_counts && !strcmp(word, "all")) ||
            is_called(transport, word)) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether the list allows the transport. `by_default`: the plugin is
 * used also if it is not named. */
static int is_let_through(const uct_manifest_transport_t *transport,
                          const char *list, int by_default)
{
    if (list[0] == '^') {
        return by_default && !is_named(transport, list + 1, 1);
    }
    return is_named(transport, list, by_default);
}

uct_rejection_code_t select_judge(const uct_manifest_t *manifest,
                                  const char *list)
{
    const uct_manifest_component_t *component;
    unsigned count = 0, i, j;

    if ((list == NULL) || (list[0] == '\0')) {
        list = "all";
    }
    for (i = 0; i < manifest->num_components; ++i) {
        component = &manifest->components[i];
        for (j = 0; j < component->num_transports; ++j) {
            ++count;
            if (is_let_through(&component->transports[j], list,
                               manifest->by_default)) {
                return UCT_REJECT_NONE;
            }
        }
    }
    if (!manifest->by_default) {
        return UCT_REJECT_NOT_DEFAULT;
    }
    /* a plugin without transports, for example for a memory type only, is not
     * affected by the list */
    return (count == 0) ? UCT_REJECT_NONE : UCT_REJECT_EXCLUDED;
}
