/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -y: sizes of structures of the library, including internal ones.
 */
#include "info.h"

#include <string.h>

#include <uct/api/uct.h>
#include <ucx/plugin.h>

#include "ucp/cm/conn.h"
#include "ucp/proto/ep.h"
#include "ucp/mem/mem.h"
#include "ucp/rma/rkey.h"
#include "ucs/async/async.h"
#include "ucs/config/config.h"
#include "ucs/datastruct/hash.h"
#include <ucs/datastruct/mpool.h>
#include "ucs/datastruct/ptr_array.h"
#include "ucs/datastruct/queue.h"
#include "uct/base/state.h"

typedef struct {
    const char *group; /* NULL: the group of the previous row */
    const char *name;
    size_t size;
} row_t;

#define ROW(_type) \
    { \
        NULL, #_type, sizeof(_type) \
    }
#define FIRST_ROW(_group, _type) \
    { \
        _group, #_type, sizeof(_type) \
    }

static const row_t rows[] = {
    FIRST_ROW("UCS", ucs_async_context_t),
    ROW(ucs_config_field_t),
    ROW(ucs_config_table_t),
    ROW(ucs_hash_t),
    ROW(ucs_list_link_t),
    ROW(ucs_mpool_t),
    ROW(ucs_ptr_array_t),
    ROW(ucs_queue_elem_t),
    ROW(ucs_queue_head_t),
    FIRST_ROW("UCT", uct_allocated_memory_t),
    ROW(uct_cm_state_t),
    ROW(uct_completion_t),
    ROW(uct_iface_attr_t),
    ROW(uct_iface_state_t),
    ROW(uct_iov_t),
    ROW(uct_md_attr_t),
    ROW(uct_md_state_t),
    ROW(uct_pending_req_t),
    ROW(uct_rkey_bundle_t),
    ROW(uct_tag_context_t),
    FIRST_ROW("Plugins", ucx_component_t),
    ROW(ucx_ep_ops_t),
    ROW(ucx_iface_attr_t),
    ROW(ucx_iface_ops_t),
    ROW(ucx_md_attr_t),
    ROW(ucx_md_ops_t),
    ROW(ucx_plugin_t),
    FIRST_ROW("UCP", ucp_context_t),
    ROW(ucp_ep_config_t),
    ROW(ucp_ep_lane_t),
    ROW(ucp_ep_t),
    ROW(ucp_lane_config_t),
    ROW(ucp_mem_t),
    ROW(ucp_proto_table_t),
    ROW(ucp_request_param_t),
    ROW(ucp_request_t),
    ROW(ucp_rkey_t),
    ROW(ucp_worker_iface_t),
    ROW(ucp_worker_t),
};

int info_types_ask(info_t *info, json_t **answer_p)
{
    json_t *answer = json_object(), *group = NULL;
    size_t i;

    for (i = 0; i < ucs_static_array_size(rows); ++i) {
        if (rows[i].group != NULL) {
            group = json_object();
            json_object_set_new(answer, rows[i].group, group);
        }
        json_object_set_new(group, rows[i].name,
                            json_integer((json_int_t)rows[i].size));
    }
    *answer_p = answer;
    return (answer == NULL) ? INFO_BAD : INFO_OK;
}

void info_types_print(const info_t *info, const json_t *answer)
{
    enum { WIDTH = 30 };
    static const char dots[] = "..............................";
    size_t i, length;
    const json_t *group = NULL;

    for (i = 0; i < ucs_static_array_size(rows); ++i) {
        if (rows[i].group != NULL) {
            group = json_object_get(answer, rows[i].group);
            printf("%s:\n", rows[i].group);
        }
        length = strlen(rows[i].name);
        printf("    sizeof(%s) = %.*s %" JSON_INTEGER_FORMAT "\n", rows[i].name,
               (length + 2 < WIDTH) ? (int)(WIDTH - length) : 2, dots,
               info_int(group, rows[i].name));
    }
}
