/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses and prints settings such as "16k" or "intra:16k,inter:128k", the type
 * ucp_config_thresh_t (config_thresh.h).
 */
#include "ucp/base/config_thresh.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a buffer for a size as text. Longer text is rejected. */
enum { MAX_TEXT = 64 };

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t");
}

/* Reads the size in the first `length` characters of `text`. */
static ucs_status_t read_size(const char *text, size_t length, size_t *size_p,
                              char *why)
{
    char copy[MAX_TEXT];
    ucs_status_t status = UCS_ERR_INVALID_PARAM;

    while ((length > 0) &&
           ((text[length - 1] == ' ') || (text[length - 1] == '\t'))) {
        --length;
    }
    if (length < sizeof(copy)) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        status       = ucs_str_to_memunits(copy, size_p);
    }
    if (status != UCS_OK) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "'%.*s' is not a size",
                 (int)((length < MAX_TEXT) ? length : MAX_TEXT), text);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

/* Reads the key "intra:" or "inter:". Returns the address of the size that it
 * sets, and moves *text_p behind the colon; returns NULL if there is no key. */
static size_t *find_key(ucp_config_thresh_t *thresh, const char **text_p)
{
    static const char intra[] = "intra:", inter[] = "inter:";

    if (strncmp(*text_p, intra, sizeof(intra) - 1) == 0) {
        *text_p += sizeof(intra) - 1;
        return &thresh->intra;
    }
    if (strncmp(*text_p, inter, sizeof(inter) - 1) == 0) {
        *text_p += sizeof(inter) - 1;
        return &thresh->inter;
    }
    return NULL;
}

static ucs_status_t parse_keys(const char *text, ucp_config_thresh_t *thresh,
                               char *why)
{
    unsigned seen = 0;
    ucs_status_t status;
    size_t *size;
    size_t length;

    thresh->intra = thresh->inter = UCS_MEMUNITS_AUTO;
    for (;;) {
        text = skip_spaces(text);
        size = find_key(thresh, &text);
        if (size == NULL) {
            snprintf(why, UCS_CONFIG_WHY_MAX,
                     "'%.*s' is neither intra:SIZE"
                     " nor inter:SIZE",
                     (int)strcspn(text, ","), text);
            return UCS_ERR_INVALID_PARAM;
        }
        if (seen & (1u << (size == &thresh->inter))) {
            snprintf(why, UCS_CONFIG_WHY_MAX, "%s is there twice",
                     (size == &thresh->inter) ? "inter" : "intra");
            return UCS_ERR_INVALID_PARAM;
        }
        seen |= 1u << (size == &thresh->inter);
        text   = skip_spaces(text);
        length = strcspn(text, ",");
        status = read_size(text, length, size, why);
        if (status != UCS_OK) {
            return status;
        }
        if (text[length] == '\0') {
            return UCS_OK;
        }
        text += length + 1;
    }
}

static ucs_status_t parse(const char *text, void *dest, const void *arg,
                          char *why)
{
    ucp_config_thresh_t *thresh = dest;
    ucs_status_t status;

    if (strchr(text, ':') != NULL) {
        return parse_keys(text, thresh, why);
    }
    status = ucs_str_to_memunits(text, &thresh->intra);
    if (status == UCS_ERR_OUT_OF_RANGE) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "it is too large");
    }
    thresh->inter = thresh->intra;
    return (status == UCS_OK) ? UCS_OK : UCS_ERR_INVALID_PARAM;
}

static void print(char *buf, size_t max, const void *src, const void *arg)
{
    const ucp_config_thresh_t *thresh = src;
    char intra[MAX_TEXT], inter[MAX_TEXT];

    ucs_memunits_to_str(thresh->intra, intra, sizeof(intra));
    ucs_memunits_to_str(thresh->inter, inter, sizeof(inter));
    if (thresh->intra == thresh->inter) {
        snprintf(buf, max, "%s", intra);
    } else {
        snprintf(buf, max, "intra:%s,inter:%s", intra, inter);
    }
}

static void describe(char *buf, size_t max, const void *arg)
{
    snprintf(buf, max,
             "a size such as 4096, 4k, 1m or 2g, \"inf\" or"
             " \"auto\", or intra:SIZE,inter:SIZE");
}

const ucs_config_type_t ucp_config_type_thresh = {
    .size     = sizeof(ucp_config_thresh_t),
    .parse    = parse,
    .print    = print,
    .describe = describe,
};
