/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables UCX_RDMA_CM_* and the table of operations of the connection
 * manager rdmacm.
 */
#ifndef IB_CM_CONFIG_H
#define IB_CM_CONFIG_H

#include "plugin.h"

#include <ucx/cm.h>

typedef struct ib_cm_config {
    size_t priv_data_len; /* Maximum bytes of private data of a message */
    double timeout;       /* Maximum seconds: of a client to establish its RDMA
                           * connection; of a server from the RDMA connection
                           * request until the message REQUEST (cm.h) */
    unsigned max_unknown; /* Maximum number of connections whose client has sent
                           * no request yet */
} ib_cm_config_t;

extern const ucx_config_table_t ib_cm_config_table;
extern const ucx_cm_ops_t ib_cm_ops;

#endif
