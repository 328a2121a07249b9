/* SPDX-License-Identifier: BSD-3-Clause */
/* Options structures: reading, setting, getting, copying, releasing. */
#include "ucs/config/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

/* Where the text of an option was found, for messages. */
typedef struct {
    char name[CONFIG_NAME_MAX * 2]; /* full name of the variable */
    char where[CONFIG_WHERE_MAX];   /* "path:line", or a description such as "in
                                     * the environment" */
} config_origin_t;

/* Arguments and state of a read of all options of a table. */
typedef struct {
    const ucs_config_table_t *table;
    const ucs_config_source_t *source;
    const config_file_t *file; /* contents of source->filename; NULL: none */
    int defaults_only;         /* search no text, use the defaults */
    unsigned done;             /* number of options set so far; after a failure,
                                * undo_visit releases that many */
    unsigned undo;             /* number of options that undo_visit has
                                * released */
} config_read_t;

static const ucs_config_source_t no_source;
static const char set_by_call[] = "set by the application";

static void origin_set(config_origin_t *origin, const char *where)
{
    ucs_strncpy_zero(origin->where, where, sizeof(origin->where));
}

/* Concatenates three texts into the name of an option. snprintf() is slower,
 * and ucp_init() builds hundreds of names. */
static void name_join(char name[CONFIG_NAME_MAX * 2], const char *first,
                      const char *second, const char *third)
{
    const char *const parts[] = {first, second, third};
    size_t left               = CONFIG_NAME_MAX * 2 - 1;
    size_t length;
    unsigned i;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        length = strnlen(parts[i], left);
        memcpy(name, parts[i], length);
        name += length;
        left -= length;
    }
    *name = '\0';
}

/* Searches a variable in the file that the caller named, then in the standard
 * files. */
static const char *find_in_files(const config_file_t *file,
                                 config_origin_t *origin)
{
    const config_setting_t *setting = config_file_find(file, origin->name);

    if (setting == NULL) {
        setting = config_files_find(origin->name, &file);
    }

    if (setting == NULL) {
        return NULL;
    }

    snprintf(origin->where, sizeof(origin->where), "%s:%u", file->path,
             setting->line);
    return setting->text;
}

int ucs_config_env_is_ignored(const char *full_name, unsigned flags)
{
    if (!(flags & UCS_CONFIG_FLAG_PATH) || !ucs_sys_is_secure() ||
        (getenv(full_name) == NULL)) {
        return 0;
    }

    if (config_warned_add(full_name)) {
        ucs_warn(
            "%s in the environment is ignored: it names a path, and this "
            "program has privileges that its user lacks; set it in " UCS_SYSCONF_DIR
            "/ucx/ucx.conf",
            full_name);
    }
    return 1;
}

static const char *find_in_env(const char *full_name, unsigned flags)
{
    return ucs_config_env_is_ignored(full_name, flags) ? NULL :
                                                         getenv(full_name);
}

/* Searches all sources for one name without UCX_. */
static const char *find_text(const ucs_config_source_t *source,
                             const config_file_t *file, const char *name,
                             unsigned flags, config_origin_t *origin)
{
    const char *text = NULL;
    int pass;

    if (source->overrides != NULL) {
        text = ucs_config_overrides_get(source->overrides, name);
        if (text != NULL) {
            ucs_strncpy_zero(origin->name, name, sizeof(origin->name));
            origin_set(origin, set_by_call);
            return text;
        }
    }

    /* The environment, with and without the application's prefix, takes
     * precedence over files. */
    for (pass = 0; (pass < 4) && (text == NULL); ++pass) {
        if ((pass % 2 == 0) && (source->app_prefix == NULL)) {
            continue;
        }

        if (pass % 2 == 0) {
            name_join(origin->name, source->app_prefix,
                      "_" UCS_CONFIG_ENV_PREFIX, name);
        } else if ((pass == 1) || (source->app_prefix != NULL)) {
            name_join(origin->name, UCS_CONFIG_ENV_PREFIX, name, "");
        }
        if (pass < 2) {
            text = find_in_env(origin->name, flags);
            origin_set(origin, "in the environment");
        } else {
            text = find_in_files(file, origin);
        }
    }

    return text;
}

/* Searches by the name of the option, then by its alternative name, if any. The
 * prefixes of the table and of sub-tables precede the alternative name, too. */
static const char *find_names(const config_read_t *read,
                              const config_item_t *item, const char *prefix,
                              config_origin_t *origin)
{
    const ucs_config_field_t *field = item->field;
    char name[CONFIG_NAME_MAX * 2];
    const char *text;
    int inner;

    name_join(name, prefix, item->name, "");
    text = find_text(read->source, read->file, name, field->flags, origin);
    if ((text != NULL) || (field->also == NULL)) {
        return text;
    }

    inner = (int)(strlen(item->name) - strlen(field->name));
    snprintf(name, sizeof(name), "%s%.*s%s", prefix, inner, item->name,
             field->also);
    return find_text(read->source, read->file, name, field->flags, origin);
}

/* Searches the name with the prefix of the table, then with each fallback
 * prefix. */
static const char *find_option(const config_read_t *read,
                               const config_item_t *item,
                               config_origin_t *origin)
{
    const char *const *fallback = read->table->fallbacks;
    const char *prefix          = read->table->prefix;
    const char *text;

    for (;;) {
        text = find_names(read, item, prefix, origin);
        if ((text != NULL) || (fallback == NULL) || (*fallback == NULL)) {
            return text;
        }
        prefix = *fallback++;
    }
}

const char *ucs_config_lookup(const ucs_config_source_t *source,
                              const char *name)
{
    config_origin_t origin;

    return find_text((source == NULL) ? &no_source : source, NULL, name, 0,
                     &origin);
}

static void report_bad_text(const config_item_t *item, const char *text,
                            const config_origin_t *origin, const char *why)
{
    char expected[CONFIG_TEXT_MAX], dfl[CONFIG_TEXT_MAX];
    ucs_string_buffer_t advice;

    ucs_string_buffer_init(&advice);
    if (*why != '\0') {
        ucs_string_buffer_appendf(&advice, "; %s", why);
    }
    if (*text == '\0') {
        ucs_string_buffer_appendf(&advice, "; leave it out for the default, %s",
                                  config_default(item, dfl, sizeof(dfl)));
    }

    item->field->type->describe(expected, sizeof(expected), item->field->arg);
    ucs_error("'%s' is not a valid value for %s (%s): expected %s%s", text,
              origin->name, origin->where, expected,
              ucs_string_buffer_cstr(&advice));
    ucs_string_buffer_cleanup(&advice);
}

/* Parses text into the value at "dest", which does not change on failure. */
static ucs_status_t parse_text(const config_item_t *item, const char *text,
                               void *dest, const config_origin_t *origin)
{
    const ucs_config_type_t *type = item->field->type;
    char why[UCS_CONFIG_WHY_MAX]  = "";
    ucs_status_t status;
    uint64_t small[4];
    void *value = small;

    if (type->size > sizeof(small)) {
        value = malloc(type->size);
        if (value == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }

    status = type->parse(text, value, item->field->arg, why);
    if (status == UCS_OK) {
        memcpy(dest, value, type->size);
    } else if (status != UCS_ERR_NO_MEMORY) {
        report_bad_text(item, text, origin, why);
        status = UCS_ERR_INVALID_PARAM;
    }

    if (value != small) {
        free(value);
    }

    return status;
}

static ucs_status_t read_visit(const config_item_t *item, void *arg)
{
    config_read_t *read = arg;
    config_origin_t origin;
    char dfl[CONFIG_TEXT_MAX];
    const char *text = NULL;
    ucs_status_t status;

    if (!read->defaults_only) {
        text = find_option(read, item, &origin);
        if ((text != NULL) &&
            (item->field->flags & UCS_CONFIG_FLAG_DEPRECATED)) {
            ucs_warn("%s (%s) is obsolete: %s", origin.name, origin.where,
                     (item->field->doc == NULL) ? "it has no effect" :
                                                  item->field->doc);
        }
    }

    if (text == NULL) {
        text = config_default(item, dfl, sizeof(dfl));
        name_join(origin.name, UCS_CONFIG_ENV_PREFIX, read->table->prefix,
                  item->name);
        origin_set(&origin, "its default");
    }

    status = parse_text(item, text, item->ptr, &origin);
    read->done += (status == UCS_OK);
    return status;
}

static ucs_status_t undo_visit(const config_item_t *item, void *arg)
{
    config_read_t *read = arg;

    if (read->undo == read->done) {
        return UCS_ERR_CANCELED; /* the remaining options were not set */
    }

    ++read->undo;
    if (item->field->type->release != NULL) {
        item->field->type->release(item->ptr, item->field->arg);
    }

    return UCS_OK;
}

static ucs_status_t config_read(config_read_t *read, void *opts)
{
    ucs_status_t status;

    status = config_walk(read->table->fields, opts, read_visit, read);
    if (status != UCS_OK) {
        config_walk(read->table->fields, opts, undo_visit, read);
    }

    return status;
}

ucs_status_t ucs_config_read(const ucs_config_table_t *table,
                             const ucs_config_source_t *source, void *opts)
{
    config_read_t read = {.table = table, .source = source};
    ucs_status_t status;

    if (source == NULL) {
        read.source = &no_source;
    } else if (source->filename != NULL) {
        read.file = config_app_file_get(source->filename);
    }

    status = config_read(&read, opts);
    config_app_file_put(read.file);
    return status;
}

ucs_status_t ucs_config_read_defaults(const ucs_config_table_t *table,
                                      void *opts)
{
    config_read_t read = {
        .table         = table,
        .source        = &no_source,
        .defaults_only = 1,
    };

    return config_read(&read, opts);
}

/* ---- by name ---- */

typedef struct {
    const char *name;    /* as passed by the caller */
    const char *tail;    /* the same name without UCX_ and without the table's
                          * prefix, as far as it has them; NULL: it has
                          * neither */
    config_item_t found; /* the option that has one of these names */
    char found_name[CONFIG_NAME_MAX]; /* to which found.name points */
} config_search_t;

static ucs_status_t search_visit(const config_item_t *item, void *arg)
{
    config_search_t *search = arg;

    if (!config_item_is_called(item, search->name) &&
        ((search->tail == NULL) ||
         !config_item_is_called(item, search->tail))) {
        return UCS_OK;
    }

    search->found = *item;
    ucs_strncpy_zero(search->found_name, item->name,
                     sizeof(search->found_name));
    search->found.name = search->found_name;
    return UCS_INPROGRESS;
}

static int search_option(const ucs_config_table_t *table, void *opts,
                         const char *name, config_search_t *search)
{
    size_t length;

    search->name = name;
    search->tail = NULL;
    length       = strlen(UCS_CONFIG_ENV_PREFIX);
    if (!strncmp(name, UCS_CONFIG_ENV_PREFIX, length)) {
        name += length;
        search->tail = name;
    }

    length = strlen(table->prefix);
    if (!strncmp(name, table->prefix, length)) {
        search->tail = name + length;
    }

    return config_walk(table->fields, opts, search_visit, search) ==
           UCS_INPROGRESS;
}

ucs_status_t ucs_config_set(const ucs_config_table_t *table, void *opts,
                            const char *name, const char *text)
{
    const ucs_config_type_t *type;
    config_origin_t origin;
    config_search_t search;
    ucs_status_t status;
    void *old;

    if (!search_option(table, opts, name, &search)) {
        return UCS_ERR_NO_ELEM;
    }

    type = search.found.field->type;
    old  = malloc(type->size + 1);
    if (old == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memcpy(old, search.found.ptr, type->size);
    ucs_strncpy_zero(origin.name, name, sizeof(origin.name));
    origin_set(&origin, set_by_call);
    status = parse_text(&search.found, text, search.found.ptr, &origin);
    if ((status == UCS_OK) && (type->release != NULL)) {
        type->release(old, search.found.field->arg);
    }

    free(old);
    return status;
}

ucs_status_t ucs_config_get(const ucs_config_table_t *table, const void *opts,
                            const char *name, char *text, size_t max)
{
    const ucs_config_field_t *field;
    config_search_t search;
    char *whole;
    int fits;

    if (max == 0) {
        return UCS_ERR_BUFFER_TOO_SMALL;
    }

    *text = '\0';
    if (!search_option(table, (void *)opts, name, &search)) {
        return UCS_ERR_NO_ELEM;
    }

    /* one character more than the caller's buffer, to detect truncation */
    whole = calloc(1, max + 1);
    if (whole == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    field = search.found.field;
    field->type->print(whole, max + 1, search.found.ptr, field->arg);
    fits = ucs_strncpy_zero(text, whole, max);
    free(whole);
    return fits ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
}

/* ---- whole structures ---- */

typedef struct {
    char *dest;
    const char *src;
    config_read_t progress; /* argument of undo_visit after a failure; only
                             * `done` and `undo` are used */
} config_clone_t;

static ucs_status_t clone_visit(const config_item_t *item, void *arg)
{
    const ucs_config_type_t *type = item->field->type;
    config_clone_t *clone         = arg;
    const char *src               = clone->src + (item->ptr - clone->dest);
    ucs_status_t status           = UCS_OK;

    if (type->clone == NULL) {
        memcpy(item->ptr, src, type->size);
    } else {
        status = type->clone(item->ptr, src, item->field->arg);
    }

    clone->progress.done += (status == UCS_OK);
    return status;
}

ucs_status_t ucs_config_clone(const ucs_config_table_t *table, void *dest,
                              const void *src)
{
    config_clone_t clone = {.dest = dest, .src = src};
    ucs_status_t status;

    memcpy(dest, src, table->size); /* for the members that are not options */
    status = config_walk(table->fields, dest, clone_visit, &clone);
    if (status != UCS_OK) {
        config_walk(table->fields, dest, undo_visit, &clone.progress);
    }

    return status;
}

static ucs_status_t release_visit(const config_item_t *item, void *arg)
{
    (void)arg;
    if (item->field->type->release != NULL) {
        item->field->type->release(item->ptr, item->field->arg);
    }

    return UCS_OK;
}

void ucs_config_release(const ucs_config_table_t *table, void *opts)
{
    config_walk(table->fields, opts, release_visit, NULL);
}

/* ---- types without a value: sub-tables and deprecated options ---- */

static ucs_status_t nothing_parse(const char *text, void *dest, const void *arg,
                                  char *why)
{
    (void)text;
    (void)dest;
    (void)arg;
    (void)why;
    return UCS_OK;
}

static void nothing_print(char *buf, size_t max, const void *src,
                          const void *arg)
{
    (void)src;
    (void)arg;
    if (max > 0) {
        *buf = '\0';
    }
}

static void nothing_describe(char *buf, size_t max, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "nothing: it has no effect");
}

const ucs_config_type_t ucs_config_type_table = {
    0, nothing_parse, nothing_print, nothing_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_deprecated = {
    0, nothing_parse, nothing_print, nothing_describe, NULL, NULL,
};
