/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of tests, and checks of parameters that a test does not support. */
#include "perf.h"

#include "ucp_side.h"
#include "uct_side.h"

#include <stdio.h>
#include <string.h>

enum {
    STREAM_OUTSTANDING = 64,
    POST_OUTSTANDING   = 64,
};

const struct perf_test perf_tests[] = {
    {"am_lat", "active message latency", &perf_uct, TEST_PING_PONG, PERF_UCT_AM,
     uct_am_latency},
    {"put_lat", "put latency", &perf_uct, TEST_PING_PONG, PERF_UCT_PUT,
     uct_put_latency},
    {"add_lat", "atomic add latency", &perf_uct, TEST_PING_PONG, PERF_UCT_ADD,
     uct_add_latency},
    {"get", "get latency / bandwidth / message rate", &perf_uct, TEST_REQUEST,
     PERF_UCT_GET, uct_get_requests},
    {"fadd", "atomic fetch-and-add latency / message rate", &perf_uct,
     TEST_REQUEST, PERF_UCT_FADD, uct_fadd_requests},
    {"swap", "atomic swap latency / message rate", &perf_uct, TEST_REQUEST,
     PERF_UCT_SWAP, uct_swap_requests},
    {"cswap", "atomic compare-and-swap latency / message rate", &perf_uct,
     TEST_REQUEST, PERF_UCT_CSWAP, uct_cswap_requests},
    {"am_bw", "active message bandwidth / message rate", &perf_uct, TEST_STREAM,
     PERF_UCT_AM, uct_am_stream},
    {"put_bw", "put bandwidth / message rate", &perf_uct, TEST_POST,
     PERF_UCT_PUT, uct_put_posts},
    {"add_mr", "atomic add message rate", &perf_uct, TEST_POST, PERF_UCT_ADD,
     uct_add_posts},
    {"tag_lat", "tag match latency", &perf_ucp, TEST_PING_PONG, UCP_FEATURE_TAG,
     ucp_tag_latency},
    {"tag_bw", "tag match bandwidth", &perf_ucp, TEST_STREAM, UCP_FEATURE_TAG,
     ucp_tag_stream},
    {"tag_sync_lat", "tag sync match latency", &perf_ucp, TEST_PING_PONG,
     UCP_FEATURE_TAG, ucp_tag_sync_latency},
    {"tag_sync_bw", "tag sync match bandwidth", &perf_ucp, TEST_STREAM,
     UCP_FEATURE_TAG, ucp_tag_sync_stream},
    {"ucp_put_lat", "put latency", &perf_ucp, TEST_PING_PONG, UCP_FEATURE_RMA,
     ucp_put_latency},
    {"ucp_put_bw", "put bandwidth", &perf_ucp, TEST_POST, UCP_FEATURE_RMA,
     ucp_put_posts},
    {"ucp_get", "get latency / bandwidth / message rate", &perf_ucp,
     TEST_REQUEST, UCP_FEATURE_RMA, ucp_get_requests},
    {"ucp_add", "atomic add bandwidth / message rate", &perf_ucp, TEST_POST,
     UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64, ucp_add_posts},
    {"ucp_fadd", "atomic fetch-and-add latency / bandwidth / message rate",
     &perf_ucp, TEST_REQUEST, UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
     ucp_fadd_requests},
    {"ucp_swap", "atomic swap latency / bandwidth / message rate", &perf_ucp,
     TEST_REQUEST, UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64, ucp_swap_requests},
    {"ucp_cswap", "atomic compare-and-swap latency / bandwidth / message rate",
     &perf_ucp, TEST_REQUEST, UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
     ucp_cswap_requests},
    {"stream_bw", "stream bandwidth", &perf_ucp, TEST_STREAM,
     UCP_FEATURE_STREAM, ucp_stream_stream},
    {"stream_lat", "stream latency", &perf_ucp, TEST_PING_PONG,
     UCP_FEATURE_STREAM, ucp_stream_latency},
    {"ucp_am_lat", "am latency", &perf_ucp, TEST_PING_PONG, UCP_FEATURE_AM,
     ucp_am_latency},
    {"ucp_am_bw", "am bandwidth / message rate", &perf_ucp, TEST_STREAM,
     UCP_FEATURE_AM, ucp_am_stream},
};

const unsigned perf_test_count = sizeof(perf_tests) / sizeof(perf_tests[0]);

bool tests_one_sided(const struct perf_test *test)
{
    return (test->kind == TEST_REQUEST) || (test->kind == TEST_POST);
}

unsigned tests_outstanding(const struct perf_test *test,
                           const struct params *params)
{
    static const unsigned usual[] = {
        [TEST_PING_PONG] = 1,
        [TEST_STREAM]    = STREAM_OUTSTANDING,
        [TEST_REQUEST]   = 1,
        [TEST_POST]      = POST_OUTSTANDING,
    };

    /* a ping-pong has one message in flight, even if the user requests more */
    if ((params->outstanding == 0) || (test->kind == TEST_PING_PONG)) {
        return usual[test->kind];
    }
    return params->outstanding;
}

/* Returns the messages per iteration. In loopback there is no reply, because
 * the message arrives where it was sent. */
unsigned tests_messages(const struct perf_test *test,
                        const struct params *params)
{
    return ((test->kind == TEST_PING_PONG) &&
            !(params->flags & PARAMS_LOOPBACK)) ?
               2 :
               1;
}

/* Returns the edit distance of two words. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[PARAMS_NAME_MAX + 1], i, j, corner, above, best;
    size_t length = strlen(b);

    if (length > PARAMS_NAME_MAX) {
        return PARAMS_NAME_MAX;
    }
    for (j = 0; j <= length; ++j) {
        row[j] = j;
    }
    for (i = 1; *a != '\0'; ++i, ++a) {
        corner = row[0];
        row[0] = i;
        for (j = 1; j <= length; ++j) {
            above  = row[j];
            best   = corner + (*a != b[j - 1]);
            best   = (above + 1 < best) ? above + 1 : best;
            best   = (row[j - 1] + 1 < best) ? row[j - 1] + 1 : best;
            row[j] = best;
            corner = above;
        }
    }
    return row[length];
}

static const struct perf_test *find(const char *name, const char **nearest)
{
    unsigned i, best = 4, away;

    *nearest = NULL;
    for (i = 0; i < perf_test_count; ++i) {
        away = distance(name, perf_tests[i].name);
        if (away == 0) {
            return &perf_tests[i];
        }
        if (away < best) {
            best     = away;
            *nearest = perf_tests[i].name;
        }
    }
    return NULL;
}

static bool check_pieces(const struct params *params,
                         char error[PARAMS_ERROR_MAX])
{
    unsigned i;

    for (i = 0; (params->stride > 0) && (i < params->size_count); ++i) {
        if (params->sizes[i] > params->stride) {
            snprintf(error, PARAMS_ERROR_MAX,
                     "-i: buffers that begin every "
                     "%llu bytes overlap, since one has %llu (-s)",
                     (unsigned long long)params->stride,
                     (unsigned long long)params->sizes[i]);
            return false;
        }
    }
    if (params->stride > (UINT64_C(1) << 36) / params->size_count) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "-i: the buffers of one message "
                 "would take more than 64g of memory");
        return false;
    }
    return true;
}

const struct perf_test *tests_check(const struct params *params,
                                    char error[PARAMS_ERROR_MAX])
{
    const struct perf_test *test;
    const char *nearest;

    if (params->test[0] == '\0') {
        snprintf(error, PARAMS_ERROR_MAX,
                 "which test? Name one with -t (-h "
                 "shows them)");
        return NULL;
    }
    test = find(params->test, &nearest);
    if (test == NULL) {
        snprintf(error, PARAMS_ERROR_MAX, "there is no test \"%s\"%s%s%s",
                 params->test,
                 (nearest == NULL) ? " (-h shows them)" : "; did you mean ",
                 (nearest == NULL) ? "" : nearest,
                 (nearest == NULL) ? "" : "?");
        return NULL;
    }
    if (!check_pieces(params, error) ||
        !test->api->check(test, params, error)) {
        return NULL;
    }
    return test;
}
