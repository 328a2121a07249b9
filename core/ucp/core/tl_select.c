/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which transports and devices the user's lists allow (UCX_TLS and the
 * lists of devices), and records what was found for the messages in
 * tl_explain.c. An entry of UCX_TLS is the name or an alias of transports;
 * "\NAME" is only the transport of that name, "NAME:aux" uses it only to
 * connect other lanes. The manifests of the transport plugins define the names.
 */
#include "ucp/core/tl_select.h"

#include "ucs/sys/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ucs_status_t ucp_tl_select_init(ucp_tl_select_t *selection,
                                const ucp_config_options_t *options)
{
    memset(selection, 0, sizeof(*selection));
    selection->options = options;
    return uct_query_components(&selection->components,
                                &selection->num_components);
}

void ucp_tl_select_cleanup(ucp_tl_select_t *selection)
{
    uct_release_component_list(selection->components);
    free(selection->devices);
}

void ucp_tl_word_read(const char *text, ucp_tl_word_t *word)
{
    static const char aux[] = ":aux";
    size_t length, aux_length = strlen(aux);

    word->is_exact = (text[0] == '\\');
    snprintf(word->name, sizeof(word->name), "%s", text + word->is_exact);
    length       = strlen(word->name);
    word->is_aux = (length > aux_length) &&
                   !strcmp(word->name + length - aux_length, aux);
    if (word->is_aux) {
        word->name[length - aux_length] = '\0';
    }
}

static ucp_tl_role_t role_by(const uct_tl_decl_t *tl, const char *text)
{
    ucp_tl_word_t word;

    ucp_tl_word_read(text, &word);
    if (word.is_exact ? strcmp(tl->name, word.name) != 0 :
                        !uct_tl_decl_is_called(tl, word.name)) {
        return UCP_TL_ROLE_NONE;
    }
    return word.is_aux ? UCP_TL_ROLE_AUXILIARY : UCP_TL_ROLE_ALL;
}

/* True if the transport is a copier (stage/stage.h): it copies to and from
 * memory of a device within the process, and connects to no peer. */
static int is_copier(const uct_tl_decl_t *tl)
{
    return (tl->dev_type == UCT_DEVICE_TYPE_ACC) &&
           (tl->reach == UCT_TL_REACH_SELF) &&
           !(tl->cap_flags & UCT_IFACE_FLAG_AM_BCOPY);
}

/* True if an entry of the list is the name of the transport: not an alias,
 * "\NAME" or "NAME:aux". */
static int is_named(const ucs_config_allow_list_t *tls, const uct_tl_decl_t *tl)
{
    unsigned i;

    for (i = 0; i < tls->array.count; ++i) {
        if (strcmp(tls->array.names[i], tl->name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns the role of a copier that UCX_TLS does not name. If UCX_TLS names
 * another transport of the same plugin (for example cuda_ipc), the copier is
 * used too: without it the device's memory would not be detected, and data that
 * no transport can access could not be sent. */
static ucp_tl_role_t role_of_copier(const ucp_tl_select_t *selection,
                                    const uct_component_decl_t *copier)
{
    const uct_component_decl_t *decl;
    unsigned i, j;

    for (i = 0; i < selection->num_components; ++i) {
        decl = uct_component_decl(selection->components[i]);
        if ((decl->plugin == NULL) || (copier->plugin == NULL) ||
            (strcmp(decl->plugin, copier->plugin) != 0)) {
            continue;
        }
        for (j = 0; j < decl->num_transports; ++j) {
            if (is_named(&selection->options->tls, &decl->transports[j])) {
                return UCP_TL_ROLE_ALL;
            }
        }
    }
    return UCP_TL_ROLE_NONE;
}

ucp_tl_role_t ucp_tl_select_role(const ucp_tl_select_t *selection,
                                 const uct_component_decl_t *decl,
                                 const uct_tl_decl_t *tl)
{
    const ucs_config_allow_list_t *tls = &selection->options->tls;
    ucp_tl_role_t role                 = UCP_TL_ROLE_NONE;
    unsigned i;

    for (i = 0; i < tls->array.count; ++i) {
        role = ucs_max(role, role_by(tl, tls->array.names[i]));
    }

    if (tls->mode == UCS_CONFIG_ALLOW_LIST_ALLOW) {
        return ((role == UCP_TL_ROLE_NONE) && is_copier(tl)) ?
                   role_of_copier(selection, decl) :
                   role;
    }
    return (!decl->by_name_only && (role == UCP_TL_ROLE_NONE)) ?
               UCP_TL_ROLE_ALL :
               UCP_TL_ROLE_NONE;
}

static int is_device_named(const ucs_config_allow_list_t *list,
                           const char *device)
{
    unsigned i;

    for (i = 0; i < list->array.count; ++i) {
        if (ucs_config_device_is_called(device, list->array.names[i])) {
            return 1;
        }
    }
    return 0;
}

int ucp_tl_select_is_allowed(const ucs_config_allow_list_t *list,
                             const char *device)
{
    return (list->mode == UCS_CONFIG_ALLOW_LIST_ALLOW_ALL) ||
           ((list->mode == UCS_CONFIG_ALLOW_LIST_ALLOW) ==
            is_device_named(list, device));
}

/* Records a device for log messages. If there is no memory, the messages do not
 * contain the device. */
static void note_device(ucp_tl_select_t *selection,
                        const uct_tl_resource_desc_t *desc)
{
    ucp_tl_select_device_t *devices;
    unsigned i;

    for (i = 0; i < selection->num_devices; ++i) {
        if ((selection->devices[i].type == desc->dev_type) &&
            !strcmp(selection->devices[i].name, desc->dev_name)) {
            return;
        }
    }

    devices = realloc(selection->devices, (i + 1) * sizeof(*devices));
    if (devices != NULL) {
        selection->devices = devices;
        devices[i].type    = desc->dev_type;
        memcpy(devices[i].name, desc->dev_name, sizeof(devices[i].name));
        ++selection->num_devices;
    }
}

int ucp_tl_select_add_device(ucp_tl_select_t *selection,
                             const uct_tl_resource_desc_t *desc)
{
    if ((unsigned)desc->dev_type >= UCT_DEVICE_TYPE_LAST) {
        return 1; /* There is no list for devices of this type */
    }
    note_device(selection, desc);
    return ucp_tl_select_is_allowed(
        &selection->options->devices[desc->dev_type], desc->dev_name);
}

void ucp_tl_select_add_tl(ucp_tl_select_t *selection, const uct_tl_decl_t *tl,
                          ucp_tl_role_t role)
{
    if (role == UCP_TL_ROLE_AUXILIARY) {
        ++selection->num_auxiliary;
        return;
    }
    ++selection->num_selected;
    selection->num_messaging += !!(tl->cap_flags & UCT_IFACE_FLAG_AM_BCOPY);
}
