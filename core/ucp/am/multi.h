/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager active messages of several fragments: the functions with which
 * multi/recv.c receives them.
 */
#ifndef UCP_AM_MULTI_H
#define UCP_AM_MULTI_H

#include "ucp/multi/multi.h"

extern const ucp_multi_receiver_t ucp_am_multi_receiver;

#endif
