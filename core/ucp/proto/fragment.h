/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends data that exceeds one message of the transport as several active
 * messages, called fragments: for rendezvous, eager messages, and emulated put
 * and get (rma/rma.h). An argument `header` that is a number is the size of the
 * header of a fragment in bytes.
 */
#ifndef UCP_FRAGMENT_H
#define UCP_FRAGMENT_H

#include "ucp/proto/proto.h"

/** Default of the maximum number of data bytes in a fragment. Larger fragments
 *  gain nothing and delay other messages. The user's setting is
 *  UCX_RNDV_FRAG_SIZE. */
enum { UCP_FRAGMENT_MAX = 65536 };

/** Minimum result of ucp_fragment_best(), in bytes. */
enum { UCP_FRAGMENT_MIN = 4096 };

/** Returns non-zero if fragments of this data are sent by zero-copy, otherwise
 *  they are sent by buffered copy. Zero-copy is faster only if the transport
 *  permits larger messages by zero-copy. */
static inline int ucp_fragment_is_zcopy(const ucp_ep_config_t *config,
                                        unsigned dt_class, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);

    return (dt_class == UCP_DT_CLASS_CONTIG) &&
           (am->max_zcopy > am->max_bcopy) && (am->max_hdr >= header) &&
           (am->max_iov > 0) &&
           !(config->lanes[UCP_AM_LANE].md_flags & UCT_MD_FLAG_NEED_MEMH);
}

/** Returns the maximum number of data bytes in a fragment, if it is sent by
 *  zero-copy (`zcopy`) or by buffered copy. */
static inline size_t ucp_fragment_limit(const ucp_ep_config_t *config,
                                        int zcopy, size_t header)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);
    size_t limit            = (zcopy ? am->max_zcopy : am->max_bcopy) - header;
    size_t wanted = (config->rndv_frag_size > 0) ? config->rndv_frag_size :
                                                   UCP_FRAGMENT_MAX;

    return (wanted < limit) ? wanted : limit;
}

/** Returns the number of data bytes in each fragment of a message of `length`
 *  bytes, except the last; at most `limit`. The receiver copies a fragment
 *  while the sender copies the next one. Small fragments let it begin early,
 *  and each costs the latency of the line that announces it. The result is the
 *  power of two, at least UCP_FRAGMENT_MIN, with about the least sum of both.
 *  It is `limit` if the bandwidth between the processors is not known, if many
 *  messages are in flight (ucp_lane_am_t::many), or if the user has set the
 *  size. */
size_t ucp_fragment_best(const ucp_ep_config_t *config, size_t limit,
                         size_t length);

/** Returns the last length for which ucp_fragment_best() returns the same as
 *  for `length`. */
size_t ucp_fragment_last(const ucp_ep_config_t *config, size_t limit,
                         size_t length);

/** Returns the maximum number of data bytes in a fragment, by the method that
 *  ucp_fragment_is_zcopy() selects. */
static inline size_t ucp_fragment_size(const ucp_ep_config_t *config,
                                       unsigned dt_class, size_t header)
{
    return ucp_fragment_limit(config,
                              ucp_fragment_is_zcopy(config, dt_class, header),
                              header);
}

/** Sends the next fragment by buffered copy. `pack` writes its header and at
 *  most `max` bytes of data, and advances req->dt. */
ucs_status_t ucp_fragment_copy(ucp_request_t *req, uint8_t id,
                               uct_pack_callback_t pack, size_t max);

/** Sends a fragment by zero-copy: `length` bytes of data in `iov`. Advances
 *  req->dt. If the transport still uses the buffer, the count of req->send.comp
 *  is increased by one, and the transport decreases it when it has finished. */
ucs_status_t ucp_fragment_post(ucp_request_t *req, uint8_t id,
                               const void *header, size_t header_size,
                               const uct_iov_t *iov, size_t iovcnt,
                               size_t length);

/** As ucp_fragment_post(), for the next fragment of contiguous data, of at most
 *  `max` bytes. */
ucs_status_t ucp_fragment_zcopy(ucp_request_t *req, uint8_t id,
                                const void *header, size_t header_size,
                                size_t max);

/** Called after a fragment was sent. `before`: req->dt.offset before it;
 *  `status`: the result. Returns `status`. But if the offset has not advanced
 *  although the send has succeeded, returns UCS_ERR_IO_ERROR, because the
 *  request would never complete. */
ucs_status_t ucp_fragment_check(const ucp_request_t *req, size_t before,
                                ucs_status_t status);

#endif
