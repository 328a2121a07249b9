/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -w: a UCP worker, and what its interfaces are used for.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

static void print_worker(void *arg, FILE *stream)
{
    ucp_worker_print_info(arg, stream);
}

/* Parses "1:tcp/lo, 2:tcp/eth0". */
static json_t *read_interfaces(const char *list)
{
    json_t *result = json_array();
    char transport[64], device[128];
    int used;

    while (sscanf(list, "%*u:%63[^/]/%127[^, \n]%n", transport, device,
                  &used) == 2) {
        json_array_append_new(result, json_pack("{s:s, s:s}", "transport",
                                                transport, "device", device));
        list += used;
        list += strspn(list, ", ");
    }
    return result;
}

int info_worker_ask(info_t *info, json_t **answer_p)
{
    const info_cost_t *cost;
    ucp_worker_h worker = info_session_worker(info, &cost);
    json_t *answer, *line;
    const char *value;
    char label[64];
    size_t i;

    if (worker == NULL) {
        return INFO_BAD;
    }

    answer = json_pack("{s:{}, s:o}", "interfaces", "lines",
                       info_lines_capture(print_worker, worker));
    if (answer == NULL) {
        info_complain("out of memory");
        return INFO_BAD;
    }
    json_array_foreach(json_object_get(answer, "lines"), i, line) {
        value = info_line_value(json_string_value(line), label, sizeof(label));
        if (value == NULL) {
            continue;
        } else if (strcmp(label, "address") == 0) {
            json_object_set_new(answer, "address_bytes",
                                json_integer(strtol(value, NULL, 10)));
        } else {
            json_object_set_new(json_object_get(answer, "interfaces"), label,
                                read_interfaces(value));
        }
    }
    info_lines_add_cost(answer, cost);
    *answer_p = answer;
    return INFO_OK;
}
