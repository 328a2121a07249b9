/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How data that is too large for one message is cut into active messages: of
 * rendezvous, of eager messages, and of emulated put and get. `header`: what each
 * message carries beside its data.
 */
#ifndef UCP_FRAGMENT_H
#define UCP_FRAGMENT_H

#include "ucp/proto/proto.h"

/** Larger ones gain nothing, and others wait for them. */
enum { UCP_FRAGMENT_MAX = 65536 };

/** True if fragments of these data are sent from where they lie. Copying costs
 *  less than what that saves unless it allows larger ones. */
static inline int ucp_fragment_is_zcopy(const ucp_ep_config_t *config,
                                        unsigned dt_class, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);

    return (dt_class == UCP_DT_CLASS_CONTIG) &&
           (am->max_zcopy > am->max_bcopy) && (am->max_hdr >= header) &&
           (am->max_iov > 0) &&
           !(config->lanes[UCP_AM_LANE].md_flags & UCT_MD_FLAG_NEED_MEMH);
}

/** Bytes of data in a fragment that goes by zero-copy, or is copied, at most. */
static inline size_t ucp_fragment_limit(const ucp_ep_config_t *config,
                                        int zcopy, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);
    size_t limit            = (zcopy ? am->max_zcopy : am->max_bcopy) - header;
    size_t wanted           = (config->rndv_frag_size > 0) ?
                              config->rndv_frag_size : UCP_FRAGMENT_MAX;

    return (wanted < limit) ? wanted : limit;
}

/** Likewise, in the way that is best for these data. */
static inline size_t ucp_fragment_size(const ucp_ep_config_t *config,
                                       unsigned dt_class, size_t header)
{
    return ucp_fragment_limit(config,
                              ucp_fragment_is_zcopy(config, dt_class, header),
                              header);
}

#endif
