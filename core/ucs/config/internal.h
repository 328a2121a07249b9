/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share; not for others. */
#ifndef UCS_CONFIG_INTERNAL_H
#define UCS_CONFIG_INTERNAL_H

#include "ucs/config/config.h"

#ifndef UCS_SYSCONF_DIR
#define UCS_SYSCONF_DIR "/etc"
#endif

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

/* Is the option called so, by one of its names? */
int config_item_is_called(const config_item_t *item, const char *name);

/* The default of an option, after what the sub-tables above change. */
const char *config_default(const config_item_t *item, char *buf, size_t max);

/* ---- files (file.c) and what stands in them (file_parse.c) ---- */

/* Longest name of a place: a path and a line. */
#define CONFIG_WHERE_MAX (4096 + 16)

typedef struct config_setting {
    ucs_list_link_t list;
    char *name; /* whole, e.g. UCX_TLS */
    char *text;
    unsigned line;
    unsigned section; /* 0: before the first one */
} config_setting_t;

typedef struct config_file {
    char *path;
    ucs_list_link_t settings; /* those that count, in their order */
} config_file_t;

/* Makes a file of a text of any content, which ends with a zero byte after
 * "length" bytes. What makes no sense in it is warned of and left out. NULL:
 * out of memory. Under a name of the library's own for the fuzzer. */
config_file_t *ucs_config_file_parse(const char *path, const char *data,
                                     size_t length);
void ucs_config_file_free(config_file_t *file);

/* The last setting of this name, or NULL. The file may be NULL. */
const config_setting_t *config_file_find(const config_file_t *file,
                                         const char *full_name);

/* The standard files: later ones win. */
const config_setting_t *config_files_find(const char *full_name,
                                          const config_file_t **file_p);

/* The file that a caller named; NULL if there is none. It is read again when
 * it has changed, and held until it is put back. */
const config_file_t *config_app_file_get(const char *path);
void config_app_file_put(const config_file_t *file);

/* Calls visit with each setting of a file, or of the standard files. "where" is
 * "path:line". */
typedef void (*config_setting_visit_t)(const char *full_name,
                                       const char *where, void *arg);
void config_file_each(const config_file_t *file, config_setting_visit_t visit,
                      void *arg);
void config_files_each(config_setting_visit_t visit, void *arg);

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

/* ---- lists of words (word.c) ---- */

/* Parses, and refuses words that no list has: says in "why" how to write it. */
ucs_status_t config_allow_list_parse(const char *text,
                                     ucs_config_allow_list_t *list, char *why);

/* ---- names of other implementations (foreign.c) ---- */

/* Why a variable has no effect here; NULL: nobody has one of this name. */
const char *config_foreign_variable(const char *name);

/* ---- registry, locked while it is walked (registry.c) ---- */

/* Notes that a variable was warned of; 0 if it was noted before. */
int config_warned_add(const char *full_name);

void config_registry_each(void (*visit)(const ucs_config_table_t *table,
                                        void *arg),
                          void *arg);

#endif
