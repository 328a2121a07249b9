/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies -D and -P to transports and devices. Reach and device types come from
 * manifests, so that no unused code is loaded.
 */
#include "session.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config/config.h"
#include "ucs/datastruct/string_buffer.h"
#include "uct/base/component.h"

/* Returns whether a word of the list names the transport. A word may begin
 * with '\' (the transport of this name, not an alias) and end with a colon and
 * a purpose, such as ":aux". */
static int is_named(const uct_tl_decl_t *tl, const char *list)
{
    char word[64];
    size_t length;
    int exact;

    for (; *list != '\0'; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        exact  = (list[0] == '\\');
        snprintf(word, sizeof(word), "%.*s", (int)length - exact, list + exact);
        word[strcspn(word, ":")] = '\0';
        if (exact ? !strcmp(tl->name, word) : uct_tl_decl_is_called(tl, word)) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether the current UCX_TLS allows the transport. */
static int is_let_through(const uct_component_decl_t *decl,
                          const uct_tl_decl_t *tl, const char *list)
{
    if ((list == NULL) || !strcmp(list, "all") || (list[0] == '\0')) {
        return !decl->by_name_only;
    } else if (list[0] == '^') {
        return !decl->by_name_only && !is_named(tl, list + 1);
    }
    return is_named(tl, list);
}

/* Returns whether -D and -P select the transport. For -P inter, the
 * transport must reach other hosts. */
static int is_wanted(const info_t *info, const uct_tl_decl_t *tl)
{
    if ((info->device_types != 0) &&
        !(info->device_types & UCS_BIT(tl->dev_type))) {
        return 0;
    }
    return (info->place != INFO_PLACE_INTER) ||
           (tl->reach & UCT_TL_REACH_NETWORK);
}

static void collect(const info_t *info, uct_component_h component,
                    const char *list, ucs_string_buffer_t *result)
{
    const uct_component_decl_t *decl = uct_component_decl(component);
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (is_let_through(decl, &decl->transports[i], list) &&
            is_wanted(info, &decl->transports[i])) {
            ucs_string_buffer_appendf(
                result, "%s%s",
                (ucs_string_buffer_cstr(result)[0] == '\0') ? "" : ",",
                decl->transports[i].name);
        }
    }
}

ucs_status_t info_list_components(uct_component_h **list_p, unsigned *count_p)
{
    ucs_status_t status = uct_query_components(list_p, count_p);

    if (status != UCS_OK) {
        info_complain("the components cannot be listed: %s",
                      ucs_status_string(status));
    }
    return status;
}

ucs_status_t info_select_transports(const info_t *info, char **list_p)
{
    const ucs_config_source_t source = {.app_prefix = info->prefix};
    const char *list                 = ucs_config_lookup(&source, "TLS");
    ucs_string_buffer_t result;
    uct_component_h *components;
    unsigned count, i;
    ucs_status_t status;

    *list_p = NULL;
    if ((info->device_types == 0) && (info->place != INFO_PLACE_INTER)) {
        return UCS_OK;
    }

    status = info_list_components(&components, &count);
    if (status != UCS_OK) {
        return status;
    }
    ucs_string_buffer_init(&result);
    for (i = 0; i < count; ++i) {
        collect(info, components[i], list, &result);
    }
    uct_release_component_list(components);

    if (ucs_string_buffer_cstr(&result)[0] == '\0') {
        info_complain("no transport is left for %s%s%s: see `ucx-plugins "
                      "list`%s%s",
                      (info->device_types != 0) ? "-D" : "",
                      ((info->device_types != 0) &&
                       (info->place == INFO_PLACE_INTER)) ?
                          " and " :
                          "",
                      (info->place == INFO_PLACE_INTER) ? "-P inter" : "",
                      (list == NULL) ? "" : "; UCX_TLS is ",
                      (list == NULL) ? "" : list);
        status = UCS_ERR_NO_DEVICE;
    } else {
        *list_p = ucs_string_buffer_extract(&result);
        status  = (*list_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    ucs_string_buffer_cleanup(&result);
    return status;
}

/* Writes an exclusion list, such as "^lo", of the loopback interfaces that are
 * up, and returns their number. *others_p receives the number of the other
 * interfaces that are up. */
static unsigned list_loopbacks(ucs_string_buffer_t *list, unsigned *others_p)
{
    struct ifaddrs *addresses, *address;
    unsigned count = 0;

    *others_p = 0;
    if (getifaddrs(&addresses) != 0) {
        return 0;
    }
    for (address = addresses; address != NULL; address = address->ifa_next) {
        /* the list has an entry for each address of an interface, but only one
         * entry with a packet address */
        if ((address->ifa_addr == NULL) ||
            (address->ifa_addr->sa_family != AF_PACKET) ||
            !(address->ifa_flags & IFF_UP)) {
            continue;
        }
        if (address->ifa_flags & IFF_LOOPBACK) {
            ucs_string_buffer_appendf(list, "%s%s", (count++ == 0) ? "^" : ",",
                                      address->ifa_name);
        } else {
            ++*others_p;
        }
    }
    freeifaddrs(addresses);
    return count;
}

ucs_status_t info_select_devices(const info_t *info, char **list_p)
{
    const ucs_config_source_t source = {.app_prefix = info->prefix};
    ucs_status_t status              = UCS_OK;
    ucs_string_buffer_t list;
    unsigned others;

    *list_p = NULL;
    /* do not replace a selection of the user in UCX_NET_DEVICES */
    if ((info->place != INFO_PLACE_INTER) ||
        (ucs_config_lookup(&source, "NET_DEVICES") != NULL)) {
        return UCS_OK;
    }

    ucs_string_buffer_init(&list);
    if ((list_loopbacks(&list, &others) > 0) && (others > 0)) {
        *list_p = ucs_string_buffer_extract(&list);
        status  = (*list_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    ucs_string_buffer_cleanup(&list);
    return status;
}
