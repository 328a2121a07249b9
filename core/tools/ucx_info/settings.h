/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of settings, for the parser and the help (cmdline.c).
 */
#ifndef UCX_INFO_SETTINGS_H
#define UCX_INFO_SETTINGS_H

#include "info.h"

typedef struct info_setting {
    char letter;          /* 0: known by its name alone */
    const char *name;
    const char *argument; /* NULL: none; in brackets: may be left out */
    const char *help;     /* NULL: not for people */

    /* Reads the text; 0: it is a bad one, which was told of. NULL: the text
     * itself, or 1 for a setting without argument, goes to `offset` in
     * info_t. */
    int (*apply)(info_t *info, const char *text);
    size_t offset;
} info_setting_t;

extern const info_setting_t info_settings[]; /* ends with a row without name */

/* 0: a bad text, which was told of. */
int info_setting_apply(const info_setting_t *setting, info_t *info,
                       const char *text);

#endif
