/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of plugins (counters_create of <ucx/host.h>). They are records of
 * ucs/stats, which UCX_STATS enables; a record has the counters of one
 * object. */
#include "ucs/stats/stats.h"
#include "ucs/sys/math.h"
#include "uct/base/host_services.h"

#include <string.h>

enum { COUNTERS_MAX = 64 };

static int is_valid(const ucx_counters_params_t *params)
{
    unsigned i;

    if (!UCX_TABLE_HAS(params, num_counters) || (params->type == NULL) ||
        (params->name == NULL) ||
        (strlen(params->type) >=
         sizeof(((ucs_stats_layout_type_t *)0)->name)) ||
        (params->num_counters == 0) || (params->num_counters > COUNTERS_MAX)) {
        return 0;
    }
    for (i = 0; i < params->num_counters; ++i) {
        if (strlen(params->counters[i]) >=
            sizeof(((ucs_stats_layout_counter_t *)0)->name)) {
            return 0;
        }
    }
    return 1;
}

ucs_status_t uct_host_counters_create(const ucx_counters_params_t *params,
                                      uint64_t **values_p)
{
    ucs_stats_counter_t counters[COUNTERS_MAX];
    ucs_stats_type_t type;
    ucs_stats_record_t *record;
    unsigned i;
    int index;

    if (!is_valid(params)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (!ucs_stats_is_on()) {
        return UCS_ERR_UNSUPPORTED;
    }
    for (i = 0; i < params->num_counters; ++i) {
        counters[i] = (ucs_stats_counter_t){params->counters[i],
                                            UCS_STATS_EVENTS};
    }
    type   = (ucs_stats_type_t){params->type, counters, params->num_counters};
    index  = ucs_stats_add_type(&type);
    record = (index < 0) ?
                 NULL :
                 ucs_stats_create((unsigned)index, NULL, params->name);
    if (record == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    *values_p = record->values;
    return UCS_OK;
}

void uct_host_counters_destroy(uint64_t *values)
{
    ucs_stats_end((ucs_stats_record_t *)((char *)values -
                                         offsetof(ucs_stats_record_t, values)),
                  UCS_OK);
}
