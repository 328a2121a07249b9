/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of ucx_info: the table of all settings, and the parsers of those
 * that are not plain strings or flags.
 */
#include "settings.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <uct/api/uct_def.h>

#include "session.h"
#include "ucs/config/config.h"
#include "ucs/stats/view.h"

static int set_features(info_t *info, const char *text)
{
    char bad;

    if (info_features_parse(text, NULL, NULL, &bad) == 0) {
        info->features = text;
        return 1;
    } else if (bad == '\0') {
        info_complain("-u %s names no feature to use: add one of a, r, t, s, m",
                      text);
    } else {
        info_complain("-u takes letters of artsm (features) and we (wake-up, "
                      "error handling), not '%c'",
                      bad);
    }
    return 0;
}

/* Returns the index of a word in a NULL-terminated list, or -1 after a
 * message. */
static int find_word(const char *option, const char *text,
                     const char *const *words)
{
    char list[128] = "";
    const char *nearest;
    size_t length = 0;
    int i;

    for (i = 0; words[i] != NULL; ++i) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
                                   (i > 0) ? ", " : "", words[i]);
    }

    nearest = ucs_config_nearest(text, words);
    info_complain("%s takes one of %s, not '%s'%s%s%s", option, list, text,
                  (nearest == NULL) ? "" : "; did you mean ",
                  (nearest == NULL) ? "" : nearest,
                  (nearest == NULL) ? "" : "?");
    return -1;
}

static int set_device_types(info_t *info, const char *text)
{
    static const char *const words[] = {"all",  "shm", "net",
                                        "self", "acc", NULL};
    static const unsigned masks[]    = {
           0,
           UCS_BIT(UCT_DEVICE_TYPE_SHM),
           UCS_BIT(UCT_DEVICE_TYPE_NET),
           UCS_BIT(UCT_DEVICE_TYPE_SELF),
           UCS_BIT(UCT_DEVICE_TYPE_ACC),
    };
    int index = find_word("-D", text, words);

    if (index < 0) {
        return 0;
    }
    info->device_types = masks[index];
    return 1;
}

static int set_place(info_t *info, const char *text)
{
    static const char *const words[] = {
        [INFO_PLACE_SELF]  = "self",
        [INFO_PLACE_INTRA] = "intra",
        [INFO_PLACE_INTER] = "inter",
        NULL,
    };
    int index = find_word("-P", text, words);

    if (index < 0) {
        return 0;
    }
    info->place = (info_place_t)index;
    return 1;
}

static int read_count(const char *option, const char *text, unsigned long max,
                      unsigned long *value_p)
{
    char *end;

    /* checked first, because strtoul() would accept a sign and blanks */
    if ((text[0] >= '0') && (text[0] <= '9')) {
        *value_p = strtoul(text, &end, 10);
        if ((*end == '\0') && (*value_p <= max)) {
            return 1;
        }
    }
    info_complain("%s takes a number from 0 to %lu, not '%s'", option, max,
                  text);
    return 0;
}

static int set_num_eps(info_t *info, const char *text)
{
    return read_count("-n", text, ULONG_MAX / 2, &info->num_eps);
}

static int set_num_ppn(info_t *info, const char *text)
{
    return read_count("-N", text, ULONG_MAX / 2, &info->num_ppn);
}

static int set_listen(info_t *info, const char *text)
{
    info->listen = (text == NULL) ? "" : text;
    return 1;
}

static int set_peer(info_t *info, const char *text)
{
    unsigned long fd;

    if (!read_count("--peer", text, INT_MAX, &fd)) {
        return 0;
    }
    info->peer_fd = (int)fd;
    return 1;
}

static int set_interval(info_t *info, const char *text)
{
    char *end;

    info->interval = strtod(text, &end);
    if ((end == text) || (*end != '\0') || !(info->interval >= 0.001) ||
        !(info->interval <= 86400)) {
        info_complain("-i takes seconds from 0.001 to 86400, not '%s'", text);
        return 0;
    }
    return 1;
}

static int set_detail(info_t *info, const char *text)
{
    static const char *const words[] = {
        [UCS_STATS_FORMAT_FULL]    = "full",
        [UCS_STATS_FORMAT_AGG]     = "agg",
        [UCS_STATS_FORMAT_SUMMARY] = "summary",
        NULL,
    };
    int index = find_word("--detail", text, words);

    if (index < 0) {
        return 0;
    }
    info->detail = (unsigned)index;
    return 1;
}

const info_setting_t info_settings[] = {
    {'a', "all", NULL, "with -c: also variables that few people need", NULL,
     offsetof(info_t, all)},
    {'f', "full", NULL,
     "with -c: help, type, default; with -e: all\n"
     "protocols, estimates",
     NULL, offsetof(info_t, full)},
    {'C', "comment", NULL, "with -c: put \"# \" before what is the default",
     NULL, offsetof(info_t, comment)},
    {0, "prefix", "NAME", "with -c: NAME_UCX_* counts before UCX_*", NULL,
     offsetof(info_t, prefix)},
    {'t', "transport", "NAME", "with -d: this transport; with -c: its too",
     NULL, offsetof(info_t, transport)},
    {'D', "device-type", "TYPE", "only devices of type shm, net, self or acc",
     set_device_types},
    {'u', "features", "LETTERS",
     "what to use of UCP: a atomics, r remote memory,\n"
     "t tags, s streams, m active messages; w wake-up,\n"
     "e error handling",
     set_features},
    {'n', "num-eps", "COUNT", "expect so many endpoints", set_num_eps},
    {'N', "num-ppn", "COUNT", "expect so many processes on this machine",
     set_num_ppn},
    {'P', "place", "WHERE",
     "where the endpoint leads: self (this process),\n"
     "intra (another one here), inter (another machine)",
     set_place},
    {'A', "address", "IP", "connect to this address of ours by a listener",
     NULL, offsetof(info_t, address)},
    {'6', "ipv6", NULL, "-A is an IPv6 address", NULL, offsetof(info_t, ipv6)},
    {0, "listen", "[[IP:]PORT]",
     "the other end is an ucx_info --connect, anywhere", set_listen},
    {0, "connect", "HOST[:PORT]", "the other end is an ucx_info --listen", NULL,
     offsetof(info_t, connect)},
    {0, "peer", "FD", NULL, set_peer},
    {'i', "interval", "SECONDS", "with --live: again and again, with rates",
     set_interval},
    {0, "detail", "LEVEL", "with --live: full, agg (no endpoints), summary",
     set_detail},
    {'j', "json", NULL, "for programs: one object, a member for each mode",
     NULL, offsetof(info_t, json)},
    {0},
};

int info_setting_apply(const info_setting_t *setting, info_t *info,
                       const char *text)
{
    char *member = (char *)info + setting->offset;

    if (setting->apply != NULL) {
        return setting->apply(info, text);
    } else if (setting->argument != NULL) {
        *(const char **)(void *)member = text;
    } else {
        *(int *)(void *)member = 1;
    }
    return 1;
}
