/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -e: an endpoint to this process, to another process of this host, or
 * to a remote process: its lanes, the protocol for each size, and estimated
 * times.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "peer.h"

/* Range of sizes of the estimates, and the factor between sizes. */
enum { ESTIMATE_FROM = 8, ESTIMATE_TO = 16 << 20, ESTIMATE_STEP = 4 };

/* -------------------------------------------------------------- reading -- */

/* Parses "lane[0]:  0:self/memory0.0 md[0]  -> md[0]/self/sysdev[255] am
 * am_bw#0". */
static int read_lane(const char *line, json_t *answer)
{
    char transport[64], device[128], word[64], *path;
    json_t *uses;
    int index, resource, md, remote_md, used = 0;

    if ((sscanf(line,
                "# lane[%d]: %d:%63[^/]/%127s md[%d] -> md[%d]/%*[^/]/"
                "sysdev[%*d]%n",
                &index, &resource, transport, device, &md, &remote_md,
                &used) != 6) ||
        (used == 0)) {
        return 0;
    }
    /* the index of the network path follows the last dot */
    path = strrchr(device, '.');
    if (path != NULL) {
        *path++ = '\0';
    }
    uses = json_array();
    line += used;
    while (sscanf(line, "%63s%n", word, &used) == 1) {
        json_array_append_new(uses, json_string(word));
        line += used;
    }
    json_array_append_new(
        json_object_get(answer, "lanes"),
        json_pack("{s:i, s:i, s:s, s:o, s:i, s:i, s:i, s:o}", "lane", index,
                  "resource", resource, "transport", transport, "device",
                  json_text(device), "path", (path == NULL) ? 0 : atoi(path),
                  "domain", md, "remote_domain", remote_md, "uses", uses));
    return 1;
}

/* Parses "0..<egr/short>..8185..<rndv>..(inf)". */
static json_t *read_ranges(const char *text)
{
    json_t *ranges = json_array(), *last;
    char protocol[64];
    unsigned long long from, to;
    int used;

    while (sscanf(text, "%llu..<%63[^>]>..%n", &from, protocol, &used) == 2) {
        text += used;
        last = (sscanf(text, "%llu", &to) == 1) ?
                   json_integer((json_int_t)to - 1) :
                   json_null();
        json_array_append_new(ranges, json_pack("{s:I, s:o, s:s}", "from",
                                                (json_int_t)from, "to", last,
                                                "protocol", protocol));
    }
    return ranges;
}

static void read_line(const char *line, json_t *answer)
{
    char label[64];
    const char *value;
    json_t *ranges;

    if (read_lane(line, answer)) {
        return;
    }
    value = info_line_value(line, label, sizeof(label));
    if (value == NULL) {
        return;
    } else if (strcmp(label, "peer") == 0) {
        json_object_set_new(answer, "peer", json_text(value));
        return;
    }
    ranges = read_ranges(value);
    if (json_array_size(ranges) > 0) {
        json_object_set(json_object_get(answer, "protocols"), label, ranges);
    }
    json_decref(ranges);
}

/* ------------------------------------------------------------ estimates -- */

/* Returns the library's estimate of the time for each size. */
static json_t *estimates(ucp_ep_h ep)
{
    ucp_ep_evaluate_perf_param_t param = {
        .field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
    };
    ucp_ep_evaluate_perf_attr_t attr = {
        .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
    };
    json_t *rows = json_array();
    size_t size;

    for (size = ESTIMATE_FROM; size <= ESTIMATE_TO; size *= ESTIMATE_STEP) {
        param.message_size = size;
        if (ucp_ep_evaluate_perf(ep, &param, &attr) == UCS_OK) {
            json_array_append_new(rows, json_pack("{s:I, s:f}", "bytes",
                                                  (json_int_t)size, "time_us",
                                                  attr.estimated_time * 1e6));
        }
    }
    return rows;
}

static void print_estimates(const json_t *rows)
{
    double bytes, time;
    json_t *row;
    size_t i;

    printf("#          message size: estimated time, bandwidth\n");
    json_array_foreach(rows, i, row) {
        bytes = (double)info_int(row, "bytes");
        time  = info_real(row, "time_us");
        printf("#%22.0f: %.3f usec, %.1f MB/sec\n", bytes, time,
               (time > 0) ? bytes / time : 0);
    }
    printf("#\n");
}

/* --------------------------------------------------------------- queries -- */

static void print_ep(void *arg, FILE *stream)
{
    ucp_ep_print_info(arg, stream);
}

static json_t *describe(ucp_ep_h ep)
{
    json_t *answer = json_pack("{s:[], s:{}, s:o, s:o}", "lanes", "protocols",
                               "estimates", estimates(ep), "lines",
                               info_lines_capture(print_ep, ep));
    json_t *line;
    size_t i;

    json_array_foreach(json_object_get(answer, "lines"), i, line) {
        read_line(json_string_value(line), answer);
    }
    return answer;
}

/* Closes the endpoint without a flush: all operations are complete, or the
 * endpoint has failed. */
static void close_ep(ucp_worker_h worker, ucp_ep_h ep)
{
    const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    if (ep != NULL) {
        info_wait(worker, ucp_ep_close_nbx(ep, &force));
    }
}

/* Queries an endpoint of the worker to itself. */
static int ask_self(info_t *info, ucp_worker_h worker, json_t **answer_p)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .err_mode = info_error_mode(info) ? UCP_ERR_HANDLING_MODE_PEER :
                                            UCP_ERR_HANDLING_MODE_NONE,
    };
    ucp_address_t *address;
    ucs_status_t status;
    size_t length;
    ucp_ep_h ep;

    status = ucp_worker_get_address(worker, &address, &length);
    if (status != UCS_OK) {
        info_complain("the worker has no address: %s",
                      ucs_status_string(status));
        return INFO_BAD;
    }
    params.address = address;
    status         = ucp_ep_create(worker, &params, &ep);
    ucp_worker_release_address(worker, address);
    if (status != UCS_OK) {
        info_complain("cannot create an endpoint to this process: %s",
                      ucs_status_string(status));
        return INFO_BAD;
    }
    *answer_p = describe(ep);
    close_ep(worker, ep);
    return INFO_OK;
}

/* Queries an endpoint to another process. */
static int ask_peer(info_t *info, ucp_worker_h worker, json_t **answer_p)
{
    info_peer_t peer;
    ucp_ep_h ep;
    int code;

    code = info_peer_open(info, worker, &peer);
    if (code != INFO_OK) {
        return code;
    }
    code = info_peer_meet(info, &peer, &ep);
    if (code == INFO_OK) {
        if (info->peer_fd < 0) {
            *answer_p = describe(ep);
        }
        info_peer_part(&peer);
    }
    close_ep(worker, ep);
    info_peer_close(&peer);
    return code;
}

/* Queries an endpoint that connects to this process by socket address (-A). */
static int ask_client(info_t *info, ucp_worker_h worker, json_t **answer_p)
{
    info_client_t client;
    int code = info_client_open(info, worker, &client);

    if (code == INFO_OK) {
        *answer_p = describe(client.ep);
    }
    close_ep(worker, client.ep);
    close_ep(worker, client.server_ep);
    info_client_close(&client);
    return code;
}

int info_endpoint_ask(info_t *info, json_t **answer_p)
{
    ucp_worker_h worker = info_session_worker(info, NULL);

    if (worker == NULL) {
        return INFO_BAD;
    } else if (info->address != NULL) {
        return ask_client(info, worker, answer_p);
    } else if ((info->place != INFO_PLACE_SELF) || (info->listen != NULL) ||
               (info->connect != NULL) || (info->peer_fd >= 0)) {
        return ask_peer(info, worker, answer_p);
    }
    return ask_self(info, worker, answer_p);
}

void info_endpoint_print(const info_t *info, const json_t *answer)
{
    info_lines_print(info, answer);
    if (info->full) {
        print_estimates(json_object_get(answer, "estimates"));
    }
}
