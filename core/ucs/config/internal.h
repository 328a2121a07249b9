/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share; not for others. */
#ifndef UCS_CONFIG_INTERNAL_H
#define UCS_CONFIG_INTERNAL_H

#include "ucs/config/config.h"

#define CONFIG_NAME_MAX 192
#define CONFIG_TEXT_MAX 1024

/* ---- walking the fields of a table, sub-tables included (walk.c) ---- */

/* A sub-table on the way down to an option, and the defaults it changes. */
typedef struct config_scope {
    const struct config_scope *up;
    const char *dfl;    /* "A=1;B=2"; may be NULL */
    size_t name_offset; /* where names of this scope begin in item.name */
} config_scope_t;

typedef struct config_item {
    const ucs_config_field_t *field;
    const char *name; /* with the prefixes of sub-tables, not of the table */
    char *ptr;        /* the value */
    const config_scope_t *scope;
} config_item_t;

/* Anything but UCS_OK ends the walk and is returned. */
typedef ucs_status_t (*config_visit_t)(const config_item_t *item, void *arg);

ucs_status_t config_walk(const ucs_config_field_t *fields, void *opts,
                         config_visit_t visit, void *arg);

/* The default of an option, after what the sub-tables above change. */
const char *config_default(const config_item_t *item, char *buf, size_t max);

/* ---- where texts come from ---- */

/* The standard files: later ones win (file.c). */
const char *config_files_get(const char *full_name, const char **where_p);

/* One more file of a caller; NULL list if there is none. */
typedef struct config_file config_file_t;
config_file_t *config_file_load(const char *path, int check_owner);
void config_file_free(config_file_t *file);
const char *config_file_get(const config_file_t *file, const char *full_name);

/* Calls visit with each name=value of the standard files. */
void config_files_each(void (*visit)(const char *full_name, const char *where,
                                     void *arg),
                       void *arg);

/* ---- text and numbers without regard to the locale (number.c) ---- */

/* The number at the beginning of a text; NULL if there is none. */
const char *config_parse_double(const char *text, double *value_p);
void config_print_double(char *buf, size_t max, double value);

/* Is the value in the range of the type's argument? If not, says so. */
ucs_status_t config_check_range(const void *range, double value, char *why);

/* Says " from 1 to 9" of a range, or nothing. */
void config_describe_range(char *buf, size_t max, const void *range);

/* A copy of text[0..length) without blanks around it; NULL without memory. */
char *config_strndup_trim(const char *text, size_t length);

/* ---- registry, locked while it is walked (registry.c) ---- */
void config_registry_each(void (*visit)(const ucs_config_table_t *table,
                                        void *arg),
                          void *arg);

#endif
