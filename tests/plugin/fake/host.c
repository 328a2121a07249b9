/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses the UCT library by dlopen() only, as bindings of other
 * languages do: it loads the library with local symbols, and the library loads
 * the plugins. The program prints the name of each component whose code was
 * called successfully.
 *
 *   host LIBRARY once    uses the library
 *   host LIBRARY again   unloads it, and loads and uses it again
 *   host LIBRARY copies  loads a second copy, and uses both
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <uct/api/uct.h>

typedef struct library {
    void *handle;
    ucs_status_t (*query_components)(uct_component_h **components_p,
                                     unsigned *num_p);
    void (*release_components)(uct_component_h *components);
    ucs_status_t (*query)(uct_component_h component,
                          uct_component_attr_t *attr);
} library_t;

static int bind_library(library_t *library, void *handle)
{
    library->handle = handle;
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    library->query_components   = dlsym(handle, "uct_query_components");
    library->release_components = dlsym(handle, "uct_release_component_list");
    library->query              = dlsym(handle, "uct_component_query");
    return (library->query_components != NULL) &&
           (library->release_components != NULL) && (library->query != NULL);
}

/* Queries the domains of each component, which loads the component's code. */
static int use_library(library_t *library)
{
    uct_component_attr_t attr;
    uct_component_h *components;
    unsigned count, i;

    if (library->query_components(&components, &count) != UCS_OK) {
        return 0;
    }
    for (i = 0; i < count; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
                          UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
        if (library->query(components[i], &attr) == UCS_OK) {
            printf("%s\n", attr.name);
        }
    }
    library->release_components(components);
    return 1;
}

static int run(const char *path, const char *mode)
{
    library_t first, second;
    int ok;

    if (!bind_library(&first, dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        return 0;
    }
    ok = (dlsym(RTLD_DEFAULT, "uct_query_components") == NULL) &&
         use_library(&first);

    if (ok && !strcmp(mode, "again")) {
        dlclose(first.handle);
        ok = bind_library(&first, dlopen(path, RTLD_NOW | RTLD_LOCAL)) &&
             use_library(&first);
    } else if (ok && !strcmp(mode, "copies")) {
        ok = bind_library(&second, dlmopen(LM_ID_NEWLM, path, RTLD_NOW)) &&
             use_library(&second) && use_library(&first);
        if (second.handle != NULL) {
            dlclose(second.handle);
        }
        ok = ok && use_library(&first);
    }
    dlclose(first.handle);
    return ok;
}

int main(int argc, char **argv)
{
    return ((argc == 3) && run(argv[1], argv[2])) ? 0 : 1;
}
