/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifiers of the messages of wire-up.
 */
#ifndef UCP_WIREUP_IDS_H
#define UCP_WIREUP_IDS_H

enum {
    /** Id of the sender's endpoint, and its worker's address */
    UCP_AM_ID_INTRODUCE       = 1,
    UCP_AM_ID_FAREWELL        = 2,  /**< The sender closed its endpoint */
    UCP_AM_ID_WIREUP_FRAGMENT = 25, /**< A fragment of a long message */
    UCP_AM_ID_WIREUP_REQUEST  = 26, /**< Requests to connect lanes */
    /** The requested lanes are connected at the replying side */
    UCP_AM_ID_WIREUP_REPLY    = 27,
    UCP_AM_ID_WIREUP_ACK      = 28, /**< And at the requesting side */
    UCP_AM_ID_KEEPALIVE       = 29, /**< No contents */
};

#endif
