/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides data that exceeds one message into active messages: for rendezvous,
 * eager messages, and put and get that messages carry out (rma/rma.h).
 * `header`: bytes that each message carries in addition to its data.
 */
#ifndef UCP_FRAGMENT_H
#define UCP_FRAGMENT_H

#include "ucp/proto/proto.h"

/** Maximum bytes of data in a fragment by default: larger ones gain nothing
 *  and delay other messages. */
enum { UCP_FRAGMENT_MAX = 65536 };

/** Returns non-zero if fragments of this data are sent by zero-copy. Zero-copy
 *  is faster only if it permits larger fragments than buffered copy. */
static inline int ucp_fragment_is_zcopy(const ucp_ep_config_t *config,
                                        unsigned dt_class, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);

    return (dt_class == UCP_DT_CLASS_CONTIG) &&
           (am->max_zcopy > am->max_bcopy) && (am->max_hdr >= header) &&
           (am->max_iov > 0) &&
           !(config->lanes[UCP_AM_LANE].md_flags & UCT_MD_FLAG_NEED_MEMH);
}

/** Returns the maximum bytes of data in a fragment, by zero-copy or by buffered
 *  copy. */
static inline size_t ucp_fragment_limit(const ucp_ep_config_t *config,
                                        int zcopy, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);
    size_t limit            = (zcopy ? am->max_zcopy : am->max_bcopy) - header;
    size_t wanted = (config->rndv_frag_size > 0) ? config->rndv_frag_size :
                                                   UCP_FRAGMENT_MAX;

    return (wanted < limit) ? wanted : limit;
}

/** Returns the maximum bytes of data in a fragment, by the method that is
 *  selected for data of this class. */
static inline size_t ucp_fragment_size(const ucp_ep_config_t *config,
                                       unsigned dt_class, size_t header)
{
    return ucp_fragment_limit(config,
                              ucp_fragment_is_zcopy(config, dt_class, header),
                              header);
}

/** Sends the next fragment by buffered copy: `pack` writes its header and at
 *  most `max` bytes of data, and advances the request's data. */
ucs_status_t ucp_fragment_copy(ucp_request_t *req, uint8_t id,
                               uct_pack_callback_t pack, size_t max);

/** Sends a fragment by zero-copy: `length` bytes in `iov`. Advances the
 *  request's data. If the transport still uses the buffer, the count of
 *  req->send.comp is increased by one, until the transport releases it. */
ucs_status_t ucp_fragment_post(ucp_request_t *req, uint8_t id,
                               const void *header, size_t header_size,
                               const uct_iov_t *iov, size_t iovcnt,
                               size_t length);

/** Sends the next fragment of contiguous data, at most `max` bytes, as
 *  ucp_fragment_post(). */
ucs_status_t ucp_fragment_zcopy(ucp_request_t *req, uint8_t id,
                                const void *header, size_t header_size,
                                size_t max);

/** Called after a fragment was sent from the offset `before`, with the result
 *  `status`. Returns `status`; but if the send has succeeded without advancing
 *  the offset, the request would never complete: returns UCS_ERR_IO_ERROR. */
ucs_status_t ucp_fragment_check(const ucp_request_t *req, size_t before,
                                ucs_status_t status);

#endif
