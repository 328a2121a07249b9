/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 24 of sdk/ABI.md: the manifest conforms to the schema, each transport
 * declares operations and a way to connect, and the core would use the plugin
 * from its folder.
 */
#include "check.h"
#include "plugin.h"

#include <stdio.h>
#include <string.h>

/* Checks that a transport declares operations and a way to connect. */
static void check_transport_words(run_t *run,
                                  const ucx_manifest_transport_t *tl)
{
    const uint64_t connect = UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                             UCT_IFACE_FLAG_CONNECT_TO_EP |
                             UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR;

    check_that(run, 24, tl->has_operations,
               "transport %s declares no operation", tl->name);
    check_that(run, 24, tl->iface_flags & connect,
               "transport %s declares no way to connect: \"capabilities\" has "
               "none of connect_to_iface, connect_to_ep, connect_to_sockaddr",
               tl->name);
}

void check_manifest(run_t *run)
{
    const ucx_manifest_t *manifest = run->target->manifest;
    unsigned i, j;

    if (!check_that(run, 24, manifest != NULL, "%s",
                    run->target->why_invalid)) {
        return;
    }

    for (i = 0; i < manifest->num_components; ++i) {
        for (j = 0; j < manifest->components[i].num_transports; ++j) {
            check_transport_words(run, &manifest->components[i].transports[j]);
        }
    }
    plugin_is_found(run);
}
