/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two functions on contexts that several folders use: the check of a field_mask
 * from a newer program, and the settings of ucp_config_modify for transports.
 */
#include "ucp/base/context.h"

#include "ucs/debug/log.h"

ucs_status_t ucp_context_check_fields(int is_newer, const char *function,
                                      uint64_t mask, uint64_t known)
{
    uint64_t unknown = mask & ~known;

    if (ucs_likely(!is_newer || (unknown == 0))) {
        return UCS_OK;
    }
    ucs_error("%s: field_mask has bit %d (0x%lx), which this library, of UCP"
              " %u.%u, does not have: the program was built for a newer one and"
              " needs it",
              function, __builtin_ctzll(unknown), unknown & -unknown,
              UCP_API_MAJOR, UCP_API_MINOR);
    return UCS_ERR_UNSUPPORTED;
}

void ucp_context_apply_overrides(ucp_context_h context, void *uct_config)
{
    const ucs_config_override_t *item;

    ucs_list_for_each(item, &context->overrides.list, list) {
        /* Ignore errors: the setting may belong to another table, and its name
         * is then not known in this table. */
        uct_config_modify(uct_config, item->name, item->text);
    }
}
