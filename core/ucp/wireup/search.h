/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the parts of lane selection, select.c, requested.c and
 * extra_lanes.c, and by no other file.
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
    int to_self;  /* Non-zero: the peer is this worker itself */
    int has_aux;  /* Non-zero: an interface that needs no handshake reaches the
                  * peer, so that it can carry the messages of a handshake */
    int for_aux;  /* Non-zero: the search is for an auxiliary link */
    int explains; /* Non-zero: append to `why` for each interface the reason
                   * why it is not selected */
    /* For each interface of the worker: index of the peer's entry that it
     * reaches, or UNREACHABLE */
    uint8_t entry[UCP_MAX_RESOURCES];
    /* For each interface of the worker: how directly it reaches that entry,
     * see ucp_wireup_nearness(); 0 if it reaches none */
    int near[UCP_MAX_RESOURCES];
    ucs_string_buffer_t why; /* Reasons, for a log message */
} search_t;

/** Returns how directly the worker's interface `index` reaches an entry of the
 *  peer's address, a positive number, higher for a shorter path. Returns zero
 *  if it does not reach it: `*reason_p` is then the reason, and may point into
 *  `detail`. */
int ucp_wireup_nearness(const search_t *search, unsigned index,
                        unsigned entry_index, char *detail, size_t detail_size,
                        const char **reason_p);

/** Finds the peer's entry that the worker's interface `index` reaches most
 *  directly, the first of equal ones, and sets search->entry and search->near
 *  of this interface. Skips entries on devices of the peer that one of `lanes`
 *  uses. */
void ucp_wireup_reach(search_t *search, unsigned index,
                      const ucp_selected_lane_t *lanes, unsigned num_lanes);

/** Returns a lane from the worker's interface `index` to the entry that
 *  ucp_wireup_reach() has found for it. */
ucp_selected_lane_t ucp_wireup_selected_lane(const search_t *search,
                                             unsigned index);

/** Sets the interface and the entry of a lane that the peer requests. Returns
 *  zero if our interface does not exist or cannot carry the lane, or if the
 *  peer's is not in its address or is not reached by ours. */
int ucp_wireup_take_requested(search_t *search,
                              const ucp_wireup_record_t *record,
                              ucp_selected_lane_t *lane);

/** Selects one of equally good interfaces and returns its index. If all are on
 *  network devices, the number of this process on its host
 *  (ucp_params_t::node_local_id) decides, so that the processes of a host
 *  spread over its devices. Otherwise, or if this number is unknown, the first
 *  is selected. `equals`: indices of the interfaces, at least one, in the
 *  worker's order. */
unsigned ucp_wireup_share(const search_t *search, const uint8_t *equals,
                          unsigned num_equals);

/** Compares two equally fast interfaces of the worker: positive if `index` is
 *  preferred, negative if `other` is, 0 if there is no difference. */
int ucp_wireup_prefer(const search_t *search, unsigned index, unsigned other);

/** Returns why the interface cannot carry UCP's messages, or NULL if it can. */
const char *ucp_wireup_no_messages(const ucp_worker_iface_t *wiface);

/** Adds lanes to those that are selected already; returns the new number of
 *  lanes. */
unsigned ucp_wireup_add_lanes(search_t *search, ucp_selected_lane_t *lanes,
                              unsigned num_lanes);

#endif
