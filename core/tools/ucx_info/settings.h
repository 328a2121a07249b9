/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of settings, for the parser and the help (cmdline.c).
 */
#ifndef UCX_INFO_SETTINGS_H
#define UCX_INFO_SETTINGS_H

#include "info.h"

typedef struct info_setting {
    char letter; /* 0: long name only */
    const char *name;
    const char *argument; /* NULL: no argument; in brackets: optional */
    const char *help;     /* NULL: not shown in the help */

    /* Parses the text. Returns 0, after a message, if it is invalid. If this is
     * NULL, the text itself, or 1 for a setting without an argument, is stored
     * at `offset` in info_t. */
    int (*apply)(info_t *info, const char *text);
    size_t offset;
} info_setting_t;

extern const info_setting_t info_settings[]; /* terminated by a row without a
                                              * name */

/* Returns 0, after a message, if the text is invalid. */
int info_setting_apply(const info_setting_t *setting, info_t *info,
                       const char *text);

#endif
