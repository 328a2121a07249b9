/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the two parts of lane selection, select.c and extra_lanes.c,
 * and by no other file.
 */
#ifndef UCP_WIREUP_SEARCH_H
#define UCP_WIREUP_SEARCH_H

#include "ucp/wireup/select.h"
#include "ucs/datastruct/string_buffer.h"

enum { UNREACHABLE = UINT8_MAX };

/* The state of a selection for one peer. */
typedef struct {
    ucp_worker_h worker;
    const ucp_address_info_t *peer;
    const ucp_select_params_t *params;
    int to_self;
    int has_aux;
    int for_aux;  /* The search is for an auxiliary link */
    int explains; /* Non-zero: append to `why` for each interface the reason
                   * why it is not selected */
    /* For each interface of the worker: index of the peer's entry that it
     * reaches, or UNREACHABLE */
    uint8_t entry[UCP_MAX_RESOURCES];
    /* How directly the interface reaches that entry, see nearness(); 0 if it
     * does not */
    int near[UCP_MAX_RESOURCES];
    ucs_string_buffer_t why; /* Reasons, for a log message */
} search_t;

/** Finds the nearest of the peer's entries that the interface reaches; if
 *  several are equally near, the first. Entries on the peer's devices that
 *  `lanes` use are skipped. */
void ucp_wireup_reach(search_t *search, unsigned index,
                      const ucp_selected_lane_t *lanes, unsigned num_lanes);

/** Returns the lane over the interface to the entry that it reaches. */
ucp_selected_lane_t ucp_wireup_selected_lane(const search_t *search,
                                             unsigned index);

/** Selects one of equally good interfaces by the number of this process
 *  (ucp_params_t::node_local_id), so that the processes of a host spread over
 *  its network devices. `equals`: at least one, in the worker's order. */
unsigned ucp_wireup_share(const search_t *search, const uint8_t *equals,
                          unsigned num_equals);

/** Compares two equally fast interfaces: positive if the first is preferred, 0
 *  if there is no difference. */
int ucp_wireup_prefer(const search_t *search, unsigned index, unsigned other);

/** Returns why the interface cannot carry UCP's messages, or NULL if it can. */
const char *ucp_wireup_no_messages(const ucp_worker_iface_t *wiface);

/** Adds lanes to those that are selected already; returns the new number of
 *  lanes. */
unsigned ucp_wireup_add_lanes(search_t *search, ucp_selected_lane_t *lanes,
                              unsigned num_lanes);

#endif
