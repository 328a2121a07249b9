/* SPDX-License-Identifier: BSD-3-Clause */
/* The registered tables of the process, and warnings about variables that no
 * table has. */
#include "ucs/config/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ucs/datastruct/string_buffer.h"
#include "ucs/debug/log.h"

extern char **environ;

static struct {
    pthread_mutex_t lock;
    ucs_list_link_t tables; /* sorted by title */
} registry = {
    .lock   = PTHREAD_MUTEX_INITIALIZER,
    .tables = UCS_LIST_INITIALIZER(&registry.tables),
};

/* Has its own lock, because visitors of config_registry_each() read tables,
 * which leads to warnings. */
static struct {
    pthread_mutex_t lock;
    ucs_config_names_array_t names; /* full names of variables about which a
                                     * message was logged */
} warned = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Inserts a table by its title, so that the order of tables does not depend on
 * the order in which libraries are linked and loaded. */
static void insert(ucs_config_table_t *table)
{
    ucs_config_table_t *next;

    ucs_list_for_each(next, &registry.tables, list) {
        if (strcmp(next->title, table->title) > 0) {
            break;
        }
    }
    ucs_list_insert_before(&next->list, &table->list);
}

void ucs_config_table_register(ucs_config_table_t *table)
{
    pthread_mutex_lock(&registry.lock);
    if (table->list.next == NULL) {
        insert(table);
    }
    pthread_mutex_unlock(&registry.lock);
}

void ucs_config_table_unregister(ucs_config_table_t *table)
{
    pthread_mutex_lock(&registry.lock);
    if (table->list.next != NULL) {
        ucs_list_del(&table->list);
        table->list.next = NULL;
    }
    pthread_mutex_unlock(&registry.lock);
}

void config_registry_each(void (*visit)(const ucs_config_table_t *table,
                                        void *arg),
                          void *arg)
{
    const ucs_config_table_t *table;

    pthread_mutex_lock(&registry.lock);
    ucs_list_for_each(table, &registry.tables, list) {
        visit(table, arg);
    }
    pthread_mutex_unlock(&registry.lock);
}

static void UCS_F_DTOR registry_at_unload(void)
{
    ucs_config_type_string_array.release(&warned.names, NULL);
}

/* ---- unknown names ---- */

/* Search for one name: whether it is known, and otherwise the most similar
 * known name. */
typedef struct {
    const char *name; /* the name to search, without UCX_ */
    int is_known;
    unsigned best; /* edit distance of `nearest`; while there is none, one
                    * more than the largest accepted distance */
    char nearest[CONFIG_NAME_MAX * 2]; /* most similar known name; "": none */
    const char *prefix; /* prefix of the names that are being compared */
    const char *owner;  /* the known prefix (of a plugin's variables) with which
                         * `name` begins, or NULL */
    int owner_is_here;  /* a table with that prefix is registered, because the
                         * plugin is loaded */
} known_t;

/* Arguments and results of ucs_config_warn_unknown(). */
typedef struct {
    const char *app_prefix;
    const char *const *known_prefixes;
    const char *const *known_names;
    ucs_string_buffer_t text; /* the unknown names, for one warning */
    unsigned count;           /* number of names in `text` */
} unknown_t;

/* Compares the name with a known name, and updates the result. */
static void known_compare(known_t *known, const char *candidate)
{
    unsigned distance;

    if (!strcmp(known->name, candidate)) {
        known->is_known = 1;
        return;
    }

    distance = ucs_config_edit_distance(known->name, candidate, known->best);
    if (distance < known->best) {
        known->best = distance;
        snprintf(known->nearest, sizeof(known->nearest), "%s", candidate);
    }
}

static ucs_status_t known_visit(const config_item_t *item, void *arg)
{
    char candidate[CONFIG_NAME_MAX * 2];
    known_t *known = arg;
    int inner;

    snprintf(candidate, sizeof(candidate), "%s%s", known->prefix, item->name);
    known_compare(known, candidate);
    if (!known->is_known && (item->field->also != NULL)) {
        inner = (int)(strlen(item->name) - strlen(item->field->name));
        snprintf(candidate, sizeof(candidate), "%s%.*s%s", known->prefix, inner,
                 item->name, item->field->also);
        known_compare(known, candidate);
    }

    return known->is_known ? UCS_INPROGRESS : UCS_OK;
}

static void known_in_table(const ucs_config_table_t *table, void *arg)
{
    const char *const *fallback = table->fallbacks;
    known_t *known              = arg;

    if ((known->owner != NULL) &&
        !strncmp(table->prefix, known->owner, strlen(known->owner))) {
        known->owner_is_here = 1;
    }

    known->prefix = table->prefix;
    while (!known->is_known) {
        config_walk(table->fields, NULL, known_visit, known);
        if ((fallback == NULL) || (*fallback == NULL)) {
            return;
        }
        known->prefix = *fallback++;
    }
}

/* Returns whether the name is known. Names with the prefix of a plugin that is
 * not loaded are accepted, because its tables are not registered. */
static int known_ask(known_t *known, const unknown_t *unknown)
{
    const char *const *p;

    for (p = unknown->known_prefixes; (p != NULL) && (*p != NULL); ++p) {
        if (!strncmp(known->name, *p, strlen(*p))) {
            known->owner = *p;
            break;
        }
    }

    for (p = unknown->known_names; (p != NULL) && (*p != NULL); ++p) {
        known_compare(known, *p);
    }

    config_registry_each(known_in_table, known);
    return known->is_known || ((known->owner != NULL) && !known->owner_is_here);
}

/* Returns 0 if an earlier call had the same name. */
int config_warned_add(const char *full_name)
{
    int is_new = 0;
    char **names;

    pthread_mutex_lock(&warned.lock);
    if (ucs_config_names_search(&warned.names, full_name) < 0) {
        is_new = 1;
        names  = realloc(warned.names.names,
                         (warned.names.count + 1) * sizeof(*names));
        if (names != NULL) {
            warned.names.names        = names;
            names[warned.names.count] = strdup(full_name);
            warned.names.count += (names[warned.names.count] != NULL);
        }
    }
    pthread_mutex_unlock(&warned.lock);
    return is_new;
}

/* Returns the name without the application's prefix and UCX_, or NULL if it is
 * not a UCX variable. */
static const char *own_name(const unknown_t *unknown, const char *full_name)
{
    const char *ours = full_name;
    size_t app_length;

    if (unknown->app_prefix != NULL) {
        app_length = strlen(unknown->app_prefix);
        if (!strncmp(full_name, unknown->app_prefix, app_length) &&
            (full_name[app_length] == '_')) {
            ours += app_length + 1;
        }
    }

    return strncmp(ours, UCS_CONFIG_ENV_PREFIX, strlen(UCS_CONFIG_ENV_PREFIX)) ?
               NULL :
               ours + strlen(UCS_CONFIG_ENV_PREFIX);
}

/* Checks a variable. If its name is unknown, adds the name to the text of the
 * warning. `where` is the location as text; NULL: the environment. */
static void unknown_check(const char *full_name, const char *where, void *arg)
{
    known_t known      = {.name = NULL};
    unknown_t *unknown = arg;
    const char *reason;

    known.name = own_name(unknown, full_name);
    if (known.name == NULL) {
        return;
    }

    known.best = ucs_config_slips(known.name) + 1;
    if (known_ask(&known, unknown) || !config_warned_add(full_name)) {
        return;
    }

    reason = config_foreign_variable(known.name,
                                     known.owner_is_here ? known.owner : NULL);
    if (reason != NULL) {
        ucs_info("%s%s%s has no effect here: %s", full_name,
                 (where == NULL) ? "" : " in ", (where == NULL) ? "" : where,
                 reason);
        return;
    }

    ucs_string_buffer_appendf(&unknown->text, "%s%s",
                              (unknown->count++ == 0) ? "" : ", ", full_name);
    if (where != NULL) {
        ucs_string_buffer_appendf(&unknown->text, " in %s", where);
    }
    if (known.nearest[0] != '\0') {
        ucs_string_buffer_appendf(&unknown->text, " (did you mean %.*s%s?)",
                                  (int)(known.name - full_name), full_name,
                                  known.nearest);
    }
}

static int warn_is_wanted(const ucs_config_source_t *source)
{
    const char *text = ucs_config_lookup(source, "WARN_UNUSED_ENV_VARS");
    char why[UCS_CONFIG_WHY_MAX];
    int wanted = 1;

    if (text != NULL) {
        ucs_config_type_bool.parse(text, &wanted, NULL, why);
    }

    return wanted;
}

static void check_environment(unknown_t *unknown)
{
    char name[CONFIG_NAME_MAX * 2];
    size_t length;
    char **var;

    for (var = environ; (var != NULL) && (*var != NULL); ++var) {
        length = strcspn(*var, "=");
        if ((length > 0) && (length < sizeof(name))) {
            memcpy(name, *var, length);
            name[length] = '\0';
            unknown_check(name, NULL, unknown);
        }
    }
}

static void check_overrides(const ucs_config_overrides_t *overrides,
                            unknown_t *unknown)
{
    char name[CONFIG_NAME_MAX * 2];
    const ucs_config_override_t *override;

    ucs_list_for_each(override, &overrides->list, list) {
        if (snprintf(name, sizeof(name), "%s%s", UCS_CONFIG_ENV_PREFIX,
                     override->name) < (int)sizeof(name)) {
            unknown_check(name, "the application's settings", unknown);
        }
    }
}

unsigned ucs_config_warn_unknown(const ucs_config_source_t *source,
                                 const char *const *known_prefixes,
                                 const char *const *known_names)
{
    static const ucs_config_source_t no_source;
    unknown_t unknown = {
        .known_prefixes = known_prefixes,
        .known_names    = known_names,
    };
    const config_file_t *file;

    source             = (source == NULL) ? &no_source : source;
    unknown.app_prefix = source->app_prefix;
    if (!warn_is_wanted(source)) {
        return 0;
    }

    check_environment(&unknown);
    config_files_each(unknown_check, &unknown);
    if (source->filename != NULL) {
        file = config_app_file_get(source->filename);
        if (file != NULL) {
            config_file_each(file, unknown_check, &unknown);
        }
        config_app_file_put(file);
    }
    if (source->overrides != NULL) {
        check_overrides(source->overrides, &unknown);
    }

    if (unknown.count > 0) {
        ucs_warn("unknown variable%s %s; UCX_WARN_UNUSED_ENV_VARS=n silences "
                 "this",
                 (unknown.count == 1) ? "" : "s",
                 ucs_string_buffer_cstr(&unknown.text));
    }

    ucs_string_buffer_cleanup(&unknown.text);
    return unknown.count;
}
