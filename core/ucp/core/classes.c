/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of classes. Its order matters: the first class that recognizes a
 * receive cancels or describes it, and if protocols have equal costs, that of
 * the first class is selected.
 */
#include "ucp/base/class.h"

#include "ucp/core/ep_life.h"

static const ucp_class_message_t end_messages[] = {
    {UCP_AM_ID_LOST, 0, 0, ucp_ep_lost_handler},
};

/* Class of the close of endpoints, which has a message (LOST). */
static const ucp_class_t end_class = {
    .name         = "end",
    .messages     = end_messages,
    .num_messages = 1,
};

extern const ucp_class_t ucp_tag_class;
extern const ucp_class_t ucp_am_class;
extern const ucp_class_t ucp_stream_class;
extern const ucp_class_t ucp_rma_class;
extern const ucp_class_t ucp_amo_class;
extern const ucp_class_t ucp_rndv_class;
extern const ucp_class_t ucp_multi_class;
extern const ucp_class_t ucp_learn_class;
extern const ucp_class_t ucp_wireup_class;
extern const ucp_class_t ucp_cm_class;

const ucp_class_t *const ucp_classes[] = {
    &ucp_tag_class,    &ucp_am_class,   &ucp_stream_class, &ucp_rma_class,
    &ucp_amo_class,    &ucp_rndv_class, &ucp_multi_class,  &ucp_learn_class,
    &ucp_wireup_class, &ucp_cm_class,   &end_class,        NULL,
};
