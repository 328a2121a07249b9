/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the selection of lanes share, select.c and further.c;
 * for nobody else.
 */
#ifndef UCP_WIREUP_SEARCH_H
#define UCP_WIREUP_SEARCH_H

#include "ucp/wireup/select.h"
#include "ucs/datastruct/string_buffer.h"

enum { UNREACHABLE = UINT8_MAX };

/* What was found out about the worker's interfaces for one peer. */
typedef struct {
    ucp_worker_h              worker;
    const ucp_address_info_t  *peer;
    const ucp_select_params_t *params;
    int                       to_self;
    int                       has_aux;
    int                       for_aux;   /* it is an auxiliary link */
    int                       explains;  /* `why` is written */
    uint8_t                   entry[UCP_MAX_RESOURCES]; /* That it reaches */
    int                       near[UCP_MAX_RESOURCES];  /* ... how directly */
    ucs_string_buffer_t       why;       /* Why interfaces do not do */
} search_t;

/** Finds the nearest of the peer's addresses that the interface reaches, the
 *  first of them, on another device than those where the lanes lead already. */
void ucp_wireup_reach(search_t *search, unsigned index,
                      const ucp_lane_choice_t *lanes, unsigned num_lanes);

/** The lane that the interface would be, to the address that it reaches. */
ucp_lane_choice_t ucp_wireup_choice_of(const search_t *search,
                                       unsigned index);

/** Of interfaces that are equally good the one that this process takes
 *  (ucp_params_t::node_local_id), so that processes of a host spread over its
 *  network devices. Not 0 of them; in the worker's order. */
unsigned ucp_wireup_share(const search_t *search, const uint8_t *equals,
                          unsigned num_equals);

/** Compares two that are equally quick: positive if the first is to be preferred,
 *  0 if there is no difference. */
int ucp_wireup_prefer(const search_t *search, unsigned index, unsigned other);

/** Why the interface cannot carry UCP's messages; NULL: it can. */
const char *ucp_wireup_no_messages(const ucp_worker_iface_t *wiface);

/** Adds lanes beside the first ones; returns how many there are then. */
unsigned ucp_wireup_add_lanes(search_t *search, ucp_lane_choice_t *lanes,
                              unsigned num_lanes);

#endif
