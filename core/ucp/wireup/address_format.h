/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constants of the format in address.h; only for the code that packs and
 * unpacks addresses.
 */
#ifndef UCP_ADDRESS_FORMAT_H
#define UCP_ADDRESS_FORMAT_H

#include "ucp/wireup/address.h"

#include "ucs/host/guid.h"

enum {
    FIELD_NAME         = 2,
    FIELD_FAR_RESOURCE = 3,
    FIELD_HOST         = 4,
    FIELD_RESOURCE     = 0x80, /* This and all higher types: the low bits
                                * contain the indices of domain and
                                * interface */
    MD_SHIFT           = 4,
    MAX_MD             = 7,
    MAX_IFACE          = 15,
    LONG_FIELD         = UINT8_MAX,
    MAX_FIELD_HEAD     = 4,
    START              = 16, /* Zero bytes before the body in the buffer: the
                              * compression may refer to them */
    RESOURCE_HEAD      = 3,
};

/* Returns a number that identifies this machine and its namespaces, never 0:
 * in addresses 0 means unknown. */
static inline uint32_t this_host(void)
{
    uint32_t host = (uint32_t)ucs_get_system_id();

    return (host != 0) ? host : 1;
}

#endif
