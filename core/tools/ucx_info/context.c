/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -p: lists the components, domains, transports and devices that a UCP
 * context uses.
 */
#include "lines.h"

#include <string.h>

static void print_context(void *arg, FILE *stream)
{
    ucp_context_print_info(arg, stream);
}

/* Parses "component 0  :  self". */
static int read_component(const char *line, json_t *answer)
{
    char name[64];

    if (sscanf(line, "# component %*u : %63s", name) != 1) {
        return 0;
    }
    json_array_append_new(json_object_get(answer, "components"),
                          json_string(name));
    return 1;
}

/* Parses "md 0  :  component 0  self". */
static int read_domain(const char *line, json_t *answer)
{
    char name[64];
    int component;

    if (sscanf(line, "# md %*u : component %d %63s", &component, name) != 2) {
        return 0;
    }
    json_array_append_new(json_object_get(answer, "domains"),
                          json_pack("{s:s, s:i}", "name", name, "component",
                                    component));
    return 1;
}

/* Parses "resource 0  :  md 0  dev 0  flags -- self/memory0". */
static int read_resource(const char *line, json_t *answer)
{
    char transport[64], device[128];
    int domain;

    if (sscanf(line, "# resource %*u : md %d dev %*u flags %*s %63[^/]/%127s",
               &domain, transport, device) != 3) {
        return 0;
    }
    json_array_append_new(json_object_get(answer, "resources"),
                          json_pack("{s:s, s:s, s:i}", "transport", transport,
                                    "device", device, "domain", domain));
    return 1;
}

int info_context_ask(info_t *info, json_t **answer_p)
{
    const info_cost_t *cost;
    ucp_context_h context = info_session_context(info, &cost);
    json_t *answer, *line;
    const char *text;
    size_t i;

    if (context == NULL) {
        return INFO_BAD;
    }

    answer = json_pack("{s:[], s:[], s:[], s:o}", "components", "domains",
                       "resources", "lines",
                       info_lines_capture(print_context, context));
    if (answer == NULL) {
        info_complain("out of memory");
        return INFO_BAD;
    }
    json_array_foreach(json_object_get(answer, "lines"), i, line) {
        text = json_string_value(line);
        if (!read_component(text, answer) && !read_domain(text, answer)) {
            read_resource(text, answer);
        }
    }
    info_lines_add_cost(answer, cost);
    *answer_p = answer;
    return INFO_OK;
}
