/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains for a log message which transports might reach a peer: those in the
 * peer's address that this worker has not opened. The address has codes, not
 * names: a transport that no component installed here declares cannot be named,
 * and is only counted.
 */
#include "ucp/wireup/absent.h"

#include "ucp/base/worker.h"
#include "uct/base/component.h"

static int is_opened(ucp_worker_h worker, uint16_t code)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        if (ucp_address_tl_code(
                ucp_worker_iface_resource(worker, i)->tl_name) == code) {
            return 1;
        }
    }
    return 0;
}

/* Returns the name whose code is `code` (ucp_address_tl_code()) among the
 * transports that the installed components declare; NULL if there is none. */
static const char *declared_name(const uct_component_h *components,
                                 unsigned count, uint16_t code)
{
    const uct_component_decl_t *decl;
    unsigned i, j;

    for (i = 0; i < count; ++i) {
        decl = uct_component_decl(components[i]);
        for (j = 0; j < decl->num_transports; ++j) {
            if (ucp_address_tl_code(decl->transports[j].name) == code) {
                return decl->transports[j].name;
            }
        }
    }
    return NULL;
}

/* True if an earlier entry of the address has the same transport. */
static int is_repeated(const ucp_address_info_t *peer, unsigned entry)
{
    unsigned i;

    for (i = 0; i < entry; ++i) {
        if (peer->entries[i].tl_code == peer->entries[entry].tl_code) {
            return 1;
        }
    }
    return 0;
}

static void append_transports(ucp_worker_h worker,
                              const ucp_address_info_t *peer,
                              const uct_component_h *components,
                              unsigned num_components, ucs_string_buffer_t *why)
{
    unsigned unknown = 0, i;
    const char *name;

    for (i = 0; i < peer->num_entries; ++i) {
        if (is_repeated(peer, i) ||
            is_opened(worker, peer->entries[i].tl_code)) {
            continue;
        }
        name = declared_name(components, num_components,
                             peer->entries[i].tl_code);
        if (name != NULL) {
            ucs_string_buffer_appendf(why,
                                      ", %s (the peer has it; not opened "
                                      "here)",
                                      name);
        } else {
            ++unknown;
        }
    }
    if (unknown > 0) {
        ucs_string_buffer_appendf(why,
                                  ", %u transport%s of the peer whose "
                                  "plugin is not installed here",
                                  unknown, (unknown == 1) ? "" : "s");
    }
}

UCS_F_COLD void ucp_wireup_append_absent(ucp_worker_h worker,
                                         const ucp_address_info_t *peer,
                                         ucs_string_buffer_t *why)
{
    unsigned plugins = 0;
    uct_component_h *components;
    unsigned count, i;

    if (uct_query_components(&components, &count) != UCS_OK) {
        return;
    }
    append_transports(worker, peer, components, count, why);
    for (i = 0; i < count; ++i) {
        plugins += (uct_component_decl(components[i])->plugin != NULL);
    }
    if (plugins == 0) {
        ucs_string_buffer_appendf(why, "; no plugin is installed that could "
                                       "reach another process (packages "
                                       "ucx-plugin-*)");
    }
    uct_release_component_list(components);
}
