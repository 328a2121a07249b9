/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_classes: the table of all classes of operations (ucp_class_t, see
 * base/class.h), made from the list in classes.h.
 */
#include "ucp/classes.h"

#include "ucp/base/class.h"
#include "ucp/core/ep_life.h"

static const ucp_class_message_t end_messages[] = {
    {UCP_AM_ID_LOST, 0, 0, ucp_ep_lost_handler},
};

/* The class of the message LOST. One side of a connection sends it when it will
 * send no more replies (ep_close.c). */
const ucp_class_t ucp_end_class = {
    .name         = "end",
    .messages     = end_messages,
    .num_messages = 1,
};

#define DECLARE(_name, _worker, _ep, _bits) \
    extern const ucp_class_t ucp_##_name##_class;
#define REFER(_name, _worker, _ep, _bits) &ucp_##_name##_class,

UCP_CLASSES(DECLARE)

const ucp_class_t *const ucp_classes[] = {UCP_CLASSES(REFER) NULL};
