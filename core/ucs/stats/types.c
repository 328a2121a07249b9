/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arrays of types and of counters in the memory of the counters (layout.h).
 * Types may be added while other processes read. Therefore the new numbers of
 * counters and of types are stored after the new type.
 */
#include "ucs/stats/internal.h"

#include "ucs/sys/sys.h"

#include <string.h>

/* Number of types, and of counters, for which space is reserved in addition to
 * those of ucs_stats_open(). */
enum { MORE_TYPES = 8, MORE_COUNTERS = 96 };

static ucs_stats_layout_counter_t *counter_at(ucs_stats_header_t *header,
                                              unsigned index)
{
    return (ucs_stats_layout_counter_t *)((char *)header +
                                          header->counters_at) +
           index;
}

ucs_stats_layout_type_t *stats_type_at(ucs_stats_header_t *header,
                                       unsigned index)
{
    return (ucs_stats_layout_type_t *)((char *)header + header->types_at) +
           index;
}

void stats_types_reserve(ucs_stats_header_t *header,
                         const ucs_stats_type_t *types, unsigned num_types)
{
    unsigned num_counters = MORE_COUNTERS, i;
    size_t end;

    for (i = 0; i < num_types; ++i) {
        num_counters += types[i].num_counters;
    }
    num_types += MORE_TYPES;
    header->types_at    = sizeof(*header);
    header->counters_at = (uint32_t)(header->types_at +
                                     num_types *
                                         sizeof(ucs_stats_layout_type_t));
    end                 = header->counters_at +
          num_counters * sizeof(ucs_stats_layout_counter_t);
    header->records_at = (uint32_t)((end + 63) & ~(size_t)63);
    header->used       = header->records_at;
}

/* Returns whether the known type has the same counters as `type`. */
static int has_counters(ucs_stats_header_t *header,
                        const ucs_stats_layout_type_t *known,
                        const ucs_stats_type_t *type)
{
    const ucs_stats_layout_counter_t *counter;
    unsigned i;

    if (known->num_counters != type->num_counters) {
        return 0;
    }
    for (i = 0; i < type->num_counters; ++i) {
        counter = counter_at(header, known->first_counter + i);
        if (strncmp(counter->name, type->counters[i].name,
                    sizeof(counter->name) - 1) ||
            (counter->unit != type->counters[i].unit)) {
            return 0;
        }
    }
    return 1;
}

int stats_type_find(ucs_stats_header_t *header, const ucs_stats_type_t *type)
{
    const ucs_stats_layout_type_t *known;
    unsigned i;

    for (i = 0; i < header->num_types; ++i) {
        known = stats_type_at(header, i);
        if (!strncmp(known->name, type->name, sizeof(known->name) - 1) &&
            has_counters(header, known, type)) {
            return (int)i;
        }
    }
    return -1;
}

int stats_type_append(ucs_stats_header_t *header, const ucs_stats_type_t *type)
{
    const unsigned index           = header->num_types;
    const unsigned first           = header->num_counters;
    ucs_stats_layout_type_t *added = stats_type_at(header, index);
    ucs_stats_layout_counter_t *counter;
    size_t size;
    unsigned i;

    if ((index >= UCS_STATS_TYPES_MAX) ||
        ((char *)(added + 1) > (char *)counter_at(header, 0)) ||
        ((char *)counter_at(header, first + type->num_counters) >
         (char *)header + header->records_at)) {
        return -1;
    }
    for (i = 0; i < type->num_counters; ++i) {
        counter = counter_at(header, first + i);
        ucs_strncpy_zero(counter->name, type->counters[i].name,
                         sizeof(counter->name));
        counter->unit = type->counters[i].unit;
    }
    size = sizeof(ucs_stats_record_t) + type->num_counters * sizeof(uint64_t);
    ucs_strncpy_zero(added->name, type->name, sizeof(added->name));
    added->record_size   = (uint32_t)((size + 63) & ~(size_t)63);
    added->first_counter = first;
    added->num_counters  = type->num_counters;
    __atomic_store_n(&header->num_counters, first + type->num_counters,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&header->num_types, index + 1, __ATOMIC_RELEASE);
    return (int)index;
}
