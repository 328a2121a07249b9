/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Components (uct_component_h): all that were ever added in this process, with
 * their declarations (component.h), and the loading of their code when it is
 * needed. component_list.c decides which of them uct_query_components() lists.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/base/component_list.h"
#include "uct/base/decl.h"
#include "uct/base/state.h"

enum {
    UCT_RANK_START   = -1,      /* lower than the rank of any component */
    UCT_RANK_PLUGINS = 1 << 16, /* lowest rank of components of plugins; those
                                 * of the core itself have lower ranks */
};

struct uct_component {
    struct uct_component *next; /* link in uct_components */
    int is_listed;              /* uct_query_components() returns it */
    int rank; /* order in that list: lowest first; no two listed components have
               * the same */
    uct_component_decl_t *decl;
    uct_component_load_cb_t load;     /* loads the code; called with load_arg */
    uct_component_unload_cb_t unload; /* undoes `load`; may be NULL */
    void *load_arg;
    pthread_mutex_t lock;       /* protects load_status, mds and num_mds */
    _Atomic(uct_code_t *) code; /* NULL until loaded */
    ucs_status_t load_status;   /* result of loading; UCS_INPROGRESS: not loaded
                                 * yet, or must be tried again */
    _Atomic int num_open; /* number of open domains and connection managers */
    uct_md_resource_desc_t *mds; /* the memory domains, as the plugin listed
                                  * them at the first query that found any;
                                  * NULL: the next query calls the plugin */
    unsigned num_mds;            /* length of that array */
};

/* All components that were ever added; protected by uct_components_lock. */
static pthread_mutex_t uct_components_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uct_component *uct_components;
static int uct_components_count;

static int uct_same_text(const char *a, const char *b)
{
    return (a == b) || ((a != NULL) && (b != NULL) && (strcmp(a, b) == 0));
}

/* Returns the listed component with the lowest rank above `rank`, or NULL. The
 * caller holds uct_components_lock. */
static struct uct_component *uct_component_after(int rank)
{
    struct uct_component *component, *best = NULL;

    for (component = uct_components; component != NULL;
         component = component->next) {
        if (component->is_listed && (component->rank > rank) &&
            ((best == NULL) || (component->rank < best->rank))) {
            best = component;
        }
    }
    return best;
}

static struct uct_component *
uct_component_create(const uct_component_decl_t *decl,
                     uct_component_load_cb_t load,
                     uct_component_unload_cb_t unload, void *arg)
{
    struct uct_component *component = calloc(1, sizeof(*component));

    if (component == NULL) {
        return NULL;
    }

    component->decl = uct_component_decl_copy(decl);
    if (component->decl == NULL) {
        free(component);
        return NULL;
    }

    pthread_mutex_init(&component->lock, NULL);
    component->load        = load;
    component->unload      = unload;
    component->load_arg    = arg;
    component->load_status = UCS_INPROGRESS;
    component->is_listed   = (decl->plugin == NULL);
    component->rank        = uct_components_count;
    component->next        = uct_components;
    uct_components         = component;
    ++uct_components_count;
    return component;
}

static void uct_component_free(struct uct_component *component)
{
    uct_code_t *code = atomic_load(&component->code);

    if (code != NULL) {
        uct_code_destroy(code);
    }
    free(component->mds);
    pthread_mutex_destroy(&component->lock);
    uct_component_decl_free(component->decl);
    free(component);
}

ucs_status_t uct_component_add(const uct_component_decl_t *decl,
                               uct_component_load_cb_t load,
                               uct_component_unload_cb_t unload, void *arg,
                               uct_component_h *component_p)
{
    struct uct_component *component;

    pthread_mutex_lock(&uct_components_lock);
    for (component = uct_components; component != NULL;
         component = component->next) {
        if (uct_same_text(component->decl->name, decl->name) &&
            uct_same_text(component->decl->plugin, decl->plugin)) {
            break;
        }
    }
    if (component == NULL) {
        component = uct_component_create(decl, load, unload, arg);
    }
    pthread_mutex_unlock(&uct_components_lock);

    *component_p = component;
    return (component == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

void uct_component_list_set(const uct_component_h *components, unsigned count)
{
    struct uct_component *component;
    unsigned i;

    pthread_mutex_lock(&uct_components_lock);
    for (component = uct_components; component != NULL;
         component = component->next) {
        if (component->decl->plugin != NULL) {
            component->is_listed = 0;
        }
    }
    for (i = 0; i < count; ++i) {
        components[i]->is_listed = 1;
        components[i]->rank      = UCT_RANK_PLUGINS + (int)i;
    }
    pthread_mutex_unlock(&uct_components_lock);
}

void uct_component_remove(uct_component_h component)
{
    struct uct_component **link;

    pthread_mutex_lock(&uct_components_lock);
    for (link = &uct_components; *link != NULL; link = &(*link)->next) {
        if (*link == component) {
            *link = component->next;
            break;
        }
    }
    pthread_mutex_unlock(&uct_components_lock);
    uct_component_free(component);
}

void uct_component_opened(uct_component_h component)
{
    atomic_fetch_add(&component->num_open, 1);
}

void uct_component_closed(uct_component_h component)
{
    atomic_fetch_sub(&component->num_open, 1);
}

static void uct_component_unload(struct uct_component *component)
{
    if (component->unload != NULL) {
        component->unload(component->decl);
    }
}

void uct_component_free_all(void)
{
    struct uct_component *component;

    for (component = uct_components; component != NULL;
         component = component->next) {
        if (atomic_load(&component->num_open) > 0) {
            return;
        }
    }
    while ((component = uct_components) != NULL) {
        uct_components = component->next;
        if (uct_component_is_loaded(component)) {
            uct_component_unload(component);
        }
        uct_component_free(component);
    }
}

const uct_component_decl_t *uct_component_decl(uct_component_h component)
{
    return component->decl;
}

int uct_component_is_loaded(uct_component_h component)
{
    return atomic_load_explicit(&component->code, memory_order_acquire) != NULL;
}

/* Loads the code. The caller holds the component's lock. */
static ucs_status_t uct_component_load_locked(struct uct_component *component)
{
    const ucx_component_t *desc = NULL;
    uct_code_t *code;
    ucs_status_t status;

    status = component->load(component->load_arg, component->decl, &desc);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_code_create(desc, &code);
    if (status != UCS_OK) {
        uct_component_unload(component);
        return status;
    }
    atomic_store_explicit(&component->code, code, memory_order_release);
    return UCS_OK;
}

ucs_status_t uct_component_load(uct_component_h component)
{
    ucs_status_t status;

    if (uct_component_is_loaded(component)) {
        return UCS_OK;
    }

    pthread_mutex_lock(&component->lock);
    if (component->load_status == UCS_INPROGRESS) {
        component->load_status = uct_component_load_locked(component);
        if (component->load_status == UCS_ERR_NO_MEMORY) {
            /* UCP continues without a component that fails. Therefore the
             * warning is logged here. */
            ucs_warn("component %s is left out: out of memory",
                     component->decl->name);
        } else if (component->load_status != UCS_OK) {
            ucs_diag("component %s cannot be used: %s", component->decl->name,
                     ucs_status_string(component->load_status));
        }
    }
    status = component->load_status;
    if (status == UCS_ERR_NO_MEMORY) {
        /* the next call tries again, because memory may be available then */
        component->load_status = UCS_INPROGRESS;
    }
    pthread_mutex_unlock(&component->lock);

    return status;
}

const uct_code_t *uct_component_code(uct_component_h component,
                                     ucs_status_t *status_p)
{
    *status_p = uct_component_load(component);
    return (*status_p == UCS_OK) ?
               atomic_load_explicit(&component->code, memory_order_acquire) :
               NULL;
}

uct_component_h uct_component_find(const char *name)
{
    struct uct_component *component;

    if (uct_component_list_update() != UCS_OK) {
        return NULL;
    }

    pthread_mutex_lock(&uct_components_lock);
    component = uct_component_after(UCT_RANK_START);
    while ((component != NULL) && (strcmp(component->decl->name, name) != 0)) {
        component = uct_component_after(component->rank);
    }
    pthread_mutex_unlock(&uct_components_lock);
    return component;
}

static int uct_component_has_tl(const struct uct_component *component,
                                const char *name)
{
    unsigned i;

    for (i = 0; i < component->decl->num_transports; ++i) {
        if (uct_tl_decl_is_called(&component->decl->transports[i], name)) {
            return 1;
        }
    }
    return 0;
}

uct_component_h uct_component_find_by_tl(const char *name,
                                         uct_component_h previous)
{
    struct uct_component *component;

    if (uct_component_list_update() != UCS_OK) {
        return NULL;
    }

    pthread_mutex_lock(&uct_components_lock);
    component = uct_component_after((previous == NULL) ? UCT_RANK_START :
                                                         previous->rank);
    while ((component != NULL) && !uct_component_has_tl(component, name)) {
        component = uct_component_after(component->rank);
    }
    pthread_mutex_unlock(&uct_components_lock);
    return component;
}

/* Returns all listed components by rank, in an array to free(). The caller
 * holds uct_components_lock. */
static uct_component_h *uct_components_collect(unsigned *count_p)
{
    uct_component_h *components;
    struct uct_component *component;
    unsigned count = 0;

    components = calloc((size_t)uct_components_count + 1, sizeof(*components));
    if (components != NULL) {
        for (component = uct_component_after(UCT_RANK_START); component != NULL;
             component = uct_component_after(component->rank)) {
            components[count++] = component;
        }
    }

    *count_p = count;
    return components;
}

ucs_status_t uct_query_components(uct_component_h **components_p,
                                  unsigned *num_components_p)
{
    uct_component_h *components;
    ucs_status_t status;
    unsigned count;

    if ((components_p == NULL) || (num_components_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = uct_component_list_update();
    if (status != UCS_OK) {
        return status;
    }

    pthread_mutex_lock(&uct_components_lock);
    components = uct_components_collect(&count);
    pthread_mutex_unlock(&uct_components_lock);
    if (components == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    *components_p     = components;
    *num_components_p = count;
    return UCS_OK;
}

void uct_release_component_list(uct_component_h *components)
{
    free(components);
}

/*
 * Gets the list of memory domains from the plugin. The first list that is not
 * empty is kept for all later queries: a user queries the number of domains
 * first and the array afterwards, so both queries must use the same list.
 */
static ucs_status_t uct_component_find_mds(struct uct_component *component)
{
    uct_md_resource_desc_t *mds = NULL;
    unsigned num_mds            = 0;
    const uct_code_t *code;
    ucs_status_t status;

    code = uct_component_code(component, &status);
    if ((code == NULL) || (code->full.query_md_resources == NULL)) {
        return status;
    }

    pthread_mutex_lock(&component->lock);
    if (component->num_mds == 0) {
        status = code->full.query_md_resources(code->desc, &mds, &num_mds);
        if (uct_checks != NULL) {
            uct_checks->listed_mds(code->full.name, status, mds, num_mds);
        }
        if ((status == UCS_OK) && (num_mds > 0)) {
            component->mds     = mds;
            component->num_mds = num_mds;
        } else if (status == UCS_OK) {
            free(mds);
        }
    }
    pthread_mutex_unlock(&component->lock);
    return status;
}

ucs_status_t uct_component_inspect(uct_component_h component, char *reason,
                                   size_t reason_size)
{
    const uct_code_t *code;
    ucs_status_t status;

    reason[0] = '\0';
    code      = uct_component_code(component, &status);
    if ((code != NULL) && (code->full.inspect != NULL)) {
        status = code->full.inspect(code->desc, reason, reason_size);
        if (status == UCS_OK) {
            reason[0] = '\0'; /* the plugin may have written a text although it
                               * returns UCS_OK */
        }
    }
    return status;
}

ucs_status_t uct_component_query(uct_component_h component,
                                 uct_component_attr_t *attr)
{
    const uint64_t md_fields = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT |
                               UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    ucs_status_t status;

    if ((component == NULL) || (attr == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (attr->field_mask & md_fields) {
        status = uct_component_find_mds(component);
        if (status != UCS_OK) {
            return status;
        }
    }

    if ((attr->field_mask & UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES) &&
        (component->num_mds > 0)) {
        if (attr->md_resources == NULL) {
            return UCS_ERR_INVALID_PARAM;
        }
        memcpy(attr->md_resources, component->mds,
               component->num_mds * sizeof(*component->mds));
    }
    if (attr->field_mask & UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT) {
        attr->md_resource_count = component->num_mds;
    }
    if (attr->field_mask & UCT_COMPONENT_ATTR_FIELD_NAME) {
        strcpy(attr->name, component->decl->name);
    }
    if (attr->field_mask & UCT_COMPONENT_ATTR_FIELD_FLAGS) {
        attr->flags = component->decl->flags;
    }
    return UCS_OK;
}
