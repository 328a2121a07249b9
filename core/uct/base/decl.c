/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep copies of declarations (uct_component_decl_t): each component handle
 * keeps its own copy, because the manifest from which the declaration was made
 * may be freed. */
#include "uct/base/decl.h"

#include <stdlib.h>
#include <string.h>

/* Frees what a declaration points to. The casts remove the const of the
 * members, which other code must not change. */
static void uct_tl_decl_free(const uct_tl_decl_t *tl)
{
    unsigned i;

    for (i = 0; i < tl->num_aliases; ++i) {
        free((void *)tl->aliases[i]);
    }
    free((void *)tl->aliases);
    free((void *)tl->name);
}

/* Copies a declaration. Returns 0 if memory is exhausted; then the caller frees
 * what was copied. */
static int uct_tl_decl_copy(uct_tl_decl_t *to, const uct_tl_decl_t *tl)
{
    char **aliases;
    unsigned i;

    *to             = *tl;
    to->num_aliases = 0;
    to->name        = strdup(tl->name);
    aliases         = calloc((size_t)tl->num_aliases + 1, sizeof(*aliases));
    to->aliases     = (const char *const *)aliases;
    if ((to->name == NULL) || (aliases == NULL)) {
        return 0;
    }

    for (i = 0; i < tl->num_aliases; ++i) {
        aliases[i] = strdup(tl->aliases[i]);
        if (aliases[i] == NULL) {
            return 0;
        }
        ++to->num_aliases;
    }
    return 1;
}

uct_component_decl_t *uct_component_decl_copy(const uct_component_decl_t *decl)
{
    uct_component_decl_t *copy = malloc(sizeof(*copy));
    uct_tl_decl_t *tls;
    unsigned i;

    if (copy == NULL) {
        return NULL;
    }

    tls              = calloc((size_t)decl->num_transports + 1, sizeof(*tls));
    *copy            = *decl;
    copy->transports = tls;
    copy->num_transports = 0;
    copy->name           = strdup(decl->name);
    copy->plugin         = NULL;
    if ((tls == NULL) || (copy->name == NULL)) {
        goto err;
    }

    if (decl->plugin != NULL) {
        copy->plugin = strdup(decl->plugin);
        if (copy->plugin == NULL) {
            goto err;
        }
    }

    for (i = 0; i < decl->num_transports; ++i) {
        ++copy->num_transports;
        if (!uct_tl_decl_copy(&tls[i], &decl->transports[i])) {
            goto err;
        }
    }

    return copy;

err:
    uct_component_decl_free(copy);
    return NULL;
}

void uct_component_decl_free(uct_component_decl_t *decl)
{
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        uct_tl_decl_free(&decl->transports[i]);
    }
    free((void *)decl->transports);
    free((void *)decl->plugin);
    free((void *)decl->name);
    free(decl);
}

int uct_tl_decl_is_called(const uct_tl_decl_t *tl, const char *name)
{
    unsigned i;

    if (strcmp(tl->name, name) == 0) {
        return 1;
    }

    for (i = 0; i < tl->num_aliases; ++i) {
        if (strcmp(tl->aliases[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}
