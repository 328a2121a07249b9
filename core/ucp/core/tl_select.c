/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See tl_select.h; tl_explain.c has the messages. Entries of lists are names or aliases of
 * transports; "\NAME" is only the transport of that name, "NAME:aux" uses it
 * only to connect other lanes. The plugins' manifests define the names.
 */
#include "ucp/core/tl_select.h"

#include "ucs/sys/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ucs_status_t
ucp_choice_init(ucp_choice_t *choice, const ucp_config_options_t *options)
{
    memset(choice, 0, sizeof(*choice));
    choice->options = options;
    return uct_query_components(&choice->components, &choice->num_components);
}

void ucp_choice_cleanup(ucp_choice_t *choice)
{
    uct_release_component_list(choice->components);
    free(choice->devices);
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

static ucp_choice_role_t role_by(const uct_tl_promise_t *tl, const char *text)
{
    ucp_tl_word_t word;

    ucp_tl_word_read(text, &word);
    if (word.is_exact ? strcmp(tl->name, word.name) != 0 :
                        !uct_tl_promise_is_called(tl, word.name)) {
        return UCP_CHOICE_NOTHING;
    }
    return word.is_aux ? UCP_CHOICE_AUXILIARY : UCP_CHOICE_ALL;
}

ucp_choice_role_t ucp_choice_of_tl(const ucp_choice_t *choice,
                                   const uct_component_promise_t *promise,
                                   const uct_tl_promise_t *tl)
{
    const ucs_config_allow_list_t *tls = &choice->options->tls;
    ucp_choice_role_t role             = UCP_CHOICE_NOTHING;
    unsigned i;

    for (i = 0; i < tls->array.count; ++i) {
        role = ucs_max(role, role_by(tl, tls->array.names[i]));
    }

    if (tls->mode == UCS_CONFIG_ALLOW_LIST_ALLOW) {
        return role;
    }
    return (!promise->by_name_only && (role == UCP_CHOICE_NOTHING)) ?
           UCP_CHOICE_ALL : UCP_CHOICE_NOTHING;
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

/* Records a device for log messages. Without memory, only the messages lack
 * it. */
static void
note_device(ucp_choice_t *choice, const uct_tl_resource_desc_t *desc)
{
    ucp_choice_device_t *devices;
    unsigned i;

    for (i = 0; i < choice->num_devices; ++i) {
        if ((choice->devices[i].type == desc->dev_type) &&
            !strcmp(choice->devices[i].name, desc->dev_name)) {
            return;
        }
    }

    devices = realloc(choice->devices, (i + 1) * sizeof(*devices));
    if (devices != NULL) {
        choice->devices = devices;
        devices[i].type = desc->dev_type;
        memcpy(devices[i].name, desc->dev_name, sizeof(devices[i].name));
        ++choice->num_devices;
    }
}

int ucp_choice_takes_device(ucp_choice_t *choice,
                            const uct_tl_resource_desc_t *desc)
{
    if ((unsigned)desc->dev_type >= UCT_DEVICE_TYPE_LAST) {
        return 1; /* no list applies to it */
    }
    note_device(choice, desc);
    return ucp_tl_select_is_allowed(&choice->options->devices[desc->dev_type],
                             desc->dev_name);
}

void ucp_choice_chosen(ucp_choice_t *choice, const uct_tl_promise_t *tl,
                       ucp_choice_role_t role)
{
    if (role == UCP_CHOICE_AUXILIARY) {
        ++choice->num_auxiliary;
        return;
    }
    ++choice->num_chosen;
    choice->num_messaging += !!(tl->cap_flags & UCT_IFACE_FLAG_AM_BCOPY);
}
