/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces slots (function pointers) in the core's tables of operations by the
 * functions of the checking layer. The tables have no NULL slots: the core has
 * set the missing ones to its default functions. */
#include <stdlib.h>
#include <string.h>

#include "uct/check/internal.h"

typedef void (*slot_t)(void);

/* Replaces the slots of the table `to` by those of `checks` that are not NULL.
 * Slots that contain the core's default function are not replaced, because the
 * core compares slots with the defaults. `size`: bytes of each table, which
 * consists of its size and pointers. */
static void replace_slots(void *to, const void *checks, const void *defaults,
                          size_t size)
{
    slot_t own, checking, dflt;
    size_t offset;

    for (offset = sizeof(size_t); offset < size; offset += sizeof(slot_t)) {
        memcpy(&own, (const char *)to + offset, sizeof(own));
        memcpy(&checking, (const char *)checks + offset, sizeof(checking));
        memcpy(&dflt, (const char *)defaults + offset, sizeof(dflt));
        if ((checking != NULL) && (own != dflt)) {
            memcpy((char *)to + offset, &checking, sizeof(checking));
        }
    }
}

ucs_status_t uct_check_tl_create(const char *name, ucx_iface_ops_t *iface_ops,
                                 const ucx_iface_ops_t *iface_defaults,
                                 ucx_ep_ops_t *ep_ops,
                                 const ucx_ep_ops_t *ep_defaults,
                                 uct_check_tl_t **check_p)
{
    ucx_ep_ops_t ep_checks = {.size = sizeof(ep_checks)};
    uct_check_tl_t *check;

    *check_p = NULL;
    check    = malloc(sizeof(*check));
    if (check == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *check = (uct_check_tl_t){
        .name        = name,
        .subject     = uct_check_subject(name),
        .iface_ops   = *iface_ops,
        .ep_ops      = *ep_ops,
        .ep_defaults = ep_defaults,
    };
    uct_check_am_slots(&ep_checks);
    uct_check_rma_slots(&ep_checks);
    uct_check_ep_slots(&ep_checks);
    uct_check_peer_slots(&ep_checks);
    replace_slots(iface_ops, &uct_check_iface_slots, iface_defaults,
                  sizeof(*iface_ops));
    replace_slots(ep_ops, &ep_checks, ep_defaults, sizeof(*ep_ops));
    *check_p = check;
    return UCS_OK;
}

void uct_check_tl_destroy(uct_check_tl_t *check)
{
    free(check);
}

ucs_status_t uct_check_cm_create(const char *name, ucx_cm_ops_t *cm_ops,
                                 const ucx_cm_ops_t *cm_defaults,
                                 ucx_ep_ops_t *ep_ops,
                                 const ucx_ep_ops_t *ep_defaults,
                                 uct_check_tl_t **check_p)
{
    uct_check_tl_t *check;

    *check_p = NULL;
    check    = malloc(sizeof(*check));
    if (check == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *check = (uct_check_tl_t){
        .name    = name,
        .subject = uct_check_subject(name),
        .ep_ops  = *ep_ops,
        .cm_ops  = *cm_ops,
    };
    replace_slots(cm_ops, &uct_check_cm_slots, cm_defaults, sizeof(*cm_ops));
    replace_slots(ep_ops, &uct_check_cm_ep_slots, ep_defaults, sizeof(*ep_ops));
    *check_p = check;
    return UCS_OK;
}

ucs_status_t uct_check_md_ops(ucx_md_ops_t *md_ops,
                              const ucx_md_ops_t *defaults,
                              ucx_md_ops_t **own_p)
{
    *own_p = malloc(sizeof(**own_p));
    if (*own_p == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    **own_p = *md_ops;
    replace_slots(md_ops, &uct_check_md_slots, defaults, sizeof(*md_ops));
    return UCS_OK;
}
