/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifiers of the messages by which endpoints are introduced, connected,
 * watched and closed (wire-up).
 */
#ifndef UCP_WIREUP_IDS_H
#define UCP_WIREUP_IDS_H

enum {
    /** Id of the sender's endpoint, and its worker's address: the receiver
     *  creates an endpoint for replies (introduce.h) */
    UCP_AM_ID_INTRODUCE       = 1,
    UCP_AM_ID_FAREWELL        = 2,  /**< The sender's endpoint is closed or has
                                     *   failed: it sends nothing more */
    UCP_AM_ID_WIREUP_FRAGMENT = 25, /**< A part of a message that exceeds the
                                     *   transport's limit (fragments.h) */
    UCP_AM_ID_WIREUP_REQUEST  = 26, /**< Requests to connect lanes endpoint to
                                     *   endpoint (handshake.h) */
    /** Answers a request: the requested lanes are connected at the replying
     *  side, or the request is rejected */
    UCP_AM_ID_WIREUP_REPLY    = 27,
    UCP_AM_ID_WIREUP_ACK      = 28, /**< The lanes are connected at the
                                     *   requesting side, too */
    UCP_AM_ID_KEEPALIVE       = 29, /**< Makes the transport detect a lost
                                     *   peer; the receiver ignores it */
};

#endif
