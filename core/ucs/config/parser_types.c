/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of values for tables of programs (<ucs/config/parser.h>), based on the
 * library's own types (ucs/config/config.h). Both headers define a structure
 * ucs_config_field_t, with different layouts. This file includes only the
 * functions of the first (<ucs/config/parser_func.h>).
 */
#include <ucs/config/parser_func.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config/internal.h"
#include "ucs/config/parser_internal.h"

static int value_read(const ucs_config_type_t *type, const char *buf,
                      void *dest, const void *arg)
{
    char why[UCS_CONFIG_WHY_MAX] = "";

    return type->parse(buf, dest, arg, why) == UCS_OK;
}

static int value_write(const ucs_config_type_t *type, char *buf, size_t max,
                       const void *src, const void *arg)
{
    if (max == 0) {
        return 0;
    }

    buf[0] = '\0';
    type->print(buf, max, src, arg);
    return (int)strlen(buf);
}

/* Defines the functions of a type. _arg: the argument for the library's type:
 * `arg`, or NULL if the program's argument is a text for
 * ucs_config_help_generic(). */
#define DEFINE_TEXT(_type, _arg) \
    int ucs_config_sscanf_##_type(const char *buf, void *dest, \
                                  const void *arg) \
    { \
        (void)arg; \
        return value_read(&ucs_config_type_##_type, buf, dest, _arg); \
    } \
    int ucs_config_sprintf_##_type(char *buf, size_t max, const void *src, \
                                   const void *arg) \
    { \
        (void)arg; \
        return value_write(&ucs_config_type_##_type, buf, max, src, _arg); \
    }

DEFINE_TEXT(string, NULL)
DEFINE_TEXT(int, NULL)
DEFINE_TEXT(uint, NULL)
DEFINE_TEXT(ulong, NULL)
DEFINE_TEXT(ulunits, NULL)
DEFINE_TEXT(double, NULL)
DEFINE_TEXT(bool, NULL)
DEFINE_TEXT(ternary, NULL)
DEFINE_TEXT(ternary_auto, NULL)
DEFINE_TEXT(on_off_auto, NULL)
DEFINE_TEXT(enum, arg)
DEFINE_TEXT(memunits, NULL)
DEFINE_TEXT(time, NULL)
DEFINE_TEXT(bw, NULL)
DEFINE_TEXT(allow_list, NULL)

/* A bitmap of a program is an unsigned, one of the library a uint64_t. */
int ucs_config_sscanf_bitmap(const char *buf, void *dest, const void *arg)
{
    uint64_t bits;

    if (!value_read(&ucs_config_type_bitmap, buf, &bits, arg) ||
        (bits > UINT32_MAX)) {
        return 0;
    }

    *(unsigned *)dest = (unsigned)bits;
    return 1;
}

int ucs_config_sprintf_bitmap(char *buf, size_t max, const void *src,
                              const void *arg)
{
    uint64_t bits = *(const unsigned *)src;

    return value_write(&ucs_config_type_bitmap, buf, max, &bits, arg);
}

/* ---- copies ---- */

#define DEFINE_CLONE(_name, _type) \
    ucs_status_t ucs_config_clone_##_name(const void *src, void *dest, \
                                          const void *arg) \
    { \
        (void)arg; \
        *(_type *)dest = *(const _type *)src; \
        return UCS_OK; \
    }

DEFINE_CLONE(int, int)
DEFINE_CLONE(uint, unsigned)
DEFINE_CLONE(ulong, unsigned long)
DEFINE_CLONE(double, double)
DEFINE_CLONE(log_comp, ucs_log_component_config_t)

ucs_status_t ucs_config_clone_string(const void *src, void *dest,
                                     const void *arg)
{
    return ucs_config_type_string.clone(dest, src, arg);
}

ucs_status_t ucs_config_clone_allow_list(const void *src, void *dest,
                                         const void *arg)
{
    return ucs_config_type_allow_list.clone(dest, src, arg);
}

void ucs_config_release_nop(void *ptr, const void *arg)
{
    (void)ptr;
    (void)arg;
}

void ucs_config_release_string(void *ptr, const void *arg)
{
    ucs_config_type_string.release(ptr, arg);
}

void ucs_config_release_allow_list(void *ptr, const void *arg)
{
    ucs_config_type_allow_list.release(ptr, arg);
}

/* ---- help ---- */

void ucs_config_help_generic(char *buf, size_t max, const void *arg)
{
    snprintf(buf, max, "%s", (arg == NULL) ? "" : (const char *)arg);
}

void ucs_config_help_enum(char *buf, size_t max, const void *arg)
{
    ucs_config_type_enum.describe(buf, max, arg);
}

void ucs_config_help_bitmap(char *buf, size_t max, const void *arg)
{
    ucs_config_type_bitmap.describe(buf, max, arg);
}

void ucs_config_help_allow_list(char *buf, size_t max, const void *arg)
{
    ucs_config_type_allow_list.describe(buf, max, arg);
}

void ucs_config_doc_nop(struct ucs_string_buffer *strb, const void *arg)
{
    (void)strb;
    (void)arg;
}

/* ---- the text of a variable ---- */

const char *config_parser_text(const char *full_name)
{
    const config_setting_t *setting;
    const config_file_t *file;
    const char *text = getenv(full_name);

    if (text != NULL) {
        return text;
    }

    setting = config_files_find(full_name, &file);
    return (setting == NULL) ? NULL : setting->text;
}
