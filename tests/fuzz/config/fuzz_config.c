/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: configuration files, and the values of the variables in them.
 * Each value is parsed as each type of variable. A value that a type accepts is
 * printed, and the same type must accept the printed text.
 */
#include "ucs/config/internal.h"

#include "ucp/base/config_sizes.h"
#include "ucp/base/config_thresh.h"
#include "ucs/debug/log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* MAX_ROUND_TRIP: bytes of a value whose printed text is checked; that of a
 * longer value may be truncated. MAX_SIZE: bytes of an input. MAX_VALUE: bytes
 * of a parsed value in memory. */
enum { MAX_ROUND_TRIP = 200, MAX_SIZE = 1 << 16, MAX_VALUE = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"auto", "get_zcopy", "put_zcopy", NULL};

/* The types of variables. */
static const struct {
    const ucs_config_type_t *type;
    const void *arg; /* Argument of the type's functions */
    /* Nonzero: parsing the printed text and printing again must give the same
     * text. 0: the printed value may be rounded, so the text may differ. */
    int is_exact;
} types[] = {
    {UCS_CONFIG_TYPE_INT, 1},          {UCS_CONFIG_TYPE_UINT, 1},
    {UCS_CONFIG_TYPE_ULUNITS, 1},      {UCS_CONFIG_TYPE_DOUBLE, 0},
    {UCS_CONFIG_TYPE_BOOL, 1},         {UCS_CONFIG_TYPE_TERNARY_AUTO, 1},
    {UCS_CONFIG_TYPE_ON_OFF_AUTO, 1},  {UCS_CONFIG_TYPE_STRING, 1},
    {UCS_CONFIG_TYPE_ENUM(words), 1},  {UCS_CONFIG_TYPE_BITMAP(words), 1},
    {UCS_CONFIG_TYPE_MEMUNITS, 1},     {UCS_CONFIG_TYPE_TIME, 0},
    {UCS_CONFIG_TYPE_TIME_UNITS, 0},   {UCS_CONFIG_TYPE_BW, 0},
    {UCS_CONFIG_TYPE_STRING_ARRAY, 1}, {UCS_CONFIG_TYPE_ALLOW_LIST, 1},
    {UCS_CONFIG_TYPE_DEVICE_LIST, 1},  {UCS_CONFIG_TYPE_SIGNO_RANGE(0, 64), 1},
    {UCP_CONFIG_TYPE_THRESH, 1},       {UCP_CONFIG_TYPE_SIZES, 1},
};

/* Parses the text as types[i], and prints the value to `printed`. Returns 0 if
 * the type rejects the text. */
static int try_text(unsigned i, const char *text, char *printed, size_t max)
{
    uint64_t value[MAX_VALUE / sizeof(uint64_t)];
    char why[UCS_CONFIG_WHY_MAX]  = "";
    const ucs_config_type_t *type = types[i].type;

    if ((type->size > sizeof(value)) ||
        (type->parse(text, value, types[i].arg, why) != UCS_OK)) {
        return 0;
    }

    type->print(printed, max, value, types[i].arg);
    if (type->release != NULL) {
        type->release(value, types[i].arg);
    }
    return 1;
}

/* Parses a value as every type, and checks the printed text. */
static void try_value(const char *text)
{
    char first[CONFIG_TEXT_MAX], second[CONFIG_TEXT_MAX];
    unsigned i;

    for (i = 0; i < ucs_static_array_size(types); ++i) {
        if (!try_text(i, text, first, sizeof(first)) ||
            (strlen(text) > MAX_ROUND_TRIP)) {
            continue;
        }
        if (!try_text(i, first, second, sizeof(second)) ||
            (types[i].is_exact && (strcmp(first, second) != 0))) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const config_setting_t *setting;
    config_file_t *file;
    char *text;

    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    if (size > MAX_SIZE) {
        return 0;
    }

    text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';

    file = ucs_config_file_parse("fuzz", text, size);
    free(text);
    if (file == NULL) {
        abort();
    }

    ucs_list_for_each(setting, &file->settings, list) {
        if ((strstr(setting->name, UCS_CONFIG_ENV_PREFIX) == NULL) ||
            (setting->line == 0) || (strchr(setting->text, '\n') != NULL)) {
            abort();
        }
        try_value(setting->text);
        ucs_config_device_is_called("eth12:1", setting->text);
    }
    ucs_config_file_free(file);
    return 0;
}
