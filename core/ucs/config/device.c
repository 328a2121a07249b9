/* SPDX-License-Identifier: BSD-3-Clause */
/* The type "list of devices": an allow list (ucs_config_allow_list_t) whose
 * words may contain ranges of numbers, as in eth[0-3]. */
#include "ucs/config/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses a range "[FIRST-LAST]" at the start of a text. Returns the text after
 * it, or NULL if there is no range. */
static const char *parse_range(const char *text, unsigned long *first_p,
                               unsigned long *last_p)
{
    char *end;

    if ((text[0] != '[') || (text[1] < '0') || (text[1] > '9')) {
        return NULL;
    }

    *first_p = strtoul(text + 1, &end, 10);
    if ((end[0] != '-') || (end[1] < '0') || (end[1] > '9')) {
        return NULL;
    }

    *last_p = strtoul(end + 1, &end, 10);
    return ((*end == ']') && (*last_p < ULONG_MAX)) ? end + 1 : NULL;
}

/* Returns an error text if a range of the word is invalid, otherwise NULL. */
static const char *range_flaw(const char *word)
{
    unsigned long first, last;
    const char *rest;

    while ((word = strpbrk(word, "[]")) != NULL) {
        rest = parse_range(word, &first, &last);
        if (rest == NULL) {
            return "a range is written [FIRST-LAST], e.g. eth[0-3]";
        } else if (first > last) {
            return "the first number of a range is larger than the last one";
        }
        word = rest;
    }

    return NULL;
}

/* Compares the start of the device's name with the whole word; a range in the
 * word matches a number without leading zeros. Returns the rest of the device's
 * name, or NULL if they differ. */
static const char *match_word(const char *device, const char *word)
{
    unsigned long first, last, number;
    const char *rest;
    char *end;

    while (*word != '\0') {
        rest = parse_range(word, &first, &last);
        if (rest == NULL) {
            if (*device++ != *word++) {
                return NULL;
            }
            continue;
        }

        if ((device[0] < '0') || (device[0] > '9') ||
            ((device[0] == '0') && (device[1] >= '0') && (device[1] <= '9'))) {
            return NULL;
        }
        number = strtoul(device, &end, 10);
        if ((number < first) || (number > last)) {
            return NULL;
        }
        device = end;
        word   = rest;
    }

    return device;
}

int ucs_config_device_is_called(const char *device, const char *word)
{
    const char *rest = match_word(device, word);

    return (rest != NULL) &&
           ((*rest == '\0') || ((*rest == ':') && (strchr(word, ':') == NULL)));
}

static ucs_status_t device_parse(const char *text, void *dest, const void *arg,
                                 char *why)
{
    ucs_config_allow_list_t *list = dest;
    const char *flaw              = NULL;
    ucs_status_t status;
    unsigned i;

    status = config_allow_list_parse(text, list, why);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; (i < list->array.count) && (flaw == NULL); ++i) {
        flaw = range_flaw(list->array.names[i]);
    }

    if (flaw != NULL) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "%s", flaw);
        ucs_config_type_allow_list.release(list, arg);
        return UCS_ERR_INVALID_PARAM;
    }

    return UCS_OK;
}

static void device_print(char *buf, size_t max, const void *src,
                         const void *arg)
{
    ucs_config_type_allow_list.print(buf, max, src, arg);
}

static void device_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max,
             "a list of devices, separated by commas, such as eth0,ib[0-3], "
             "with ^ before it for all but these, or \"all\"");
}

static ucs_status_t device_clone(void *dest, const void *src, const void *arg)
{
    return ucs_config_type_allow_list.clone(dest, src, arg);
}

static void device_release(void *ptr, const void *arg)
{
    ucs_config_type_allow_list.release(ptr, arg);
}

const ucs_config_type_t ucs_config_type_device_list = {
    sizeof(ucs_config_allow_list_t),
    device_parse,
    device_print,
    device_describe,
    device_clone,
    device_release,
};
