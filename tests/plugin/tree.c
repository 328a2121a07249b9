/* SPDX-License-Identifier: BSD-3-Clause */
/* See tree.h. */
#include "tree.h"

#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *tree_product(const char *variable)
{
    const char *value = getenv(variable);

    ck_assert_msg(value != NULL, "run it by meson test: %s is not set",
                  variable);
    return value;
}

void tree_create(tree_t *tree)
{
    const char *base = getenv("TMPDIR");
    char template[PATH_MAX];

    snprintf(template, sizeof(template), "%s/ucx-plugin-test-XXXXXX",
             (base == NULL) ? "/tmp" : base);
    ck_assert_ptr_nonnull(mkdtemp(template));
    ck_assert_ptr_nonnull(realpath(template, tree->path));
    umask(022);
    tree_mkdir(tree, "env");
    tree_mkdir(tree, "admin");
    tree_mkdir(tree, "system");
    tree_mkdir(tree, "root");
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    return remove(path);
}

void tree_destroy(tree_t *tree)
{
    nftw(tree->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tree_path(const tree_t *tree, const char *relative)
{
    static char buffers[8][2 * PATH_MAX];
    static unsigned next;
    char *buffer = buffers[next++ % 8];

    snprintf(buffer, sizeof(buffers[0]), "%s/%s", tree->path, relative);
    return buffer;
}

static void make_parents(const char *path)
{
    char copy[2 * PATH_MAX];
    char *slash;

    snprintf(copy, sizeof(copy), "%s", path);
    for (slash = strchr(copy + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(copy, 0755);
        *slash = '/';
    }
}

void tree_mkdir(const tree_t *tree, const char *relative)
{
    const char *path = tree_path(tree, relative);

    make_parents(path);
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

static FILE *open_new(const tree_t *tree, const char *relative)
{
    const char *path = tree_path(tree, relative);
    FILE *file;

    make_parents(path);
    file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    return file;
}

void tree_write(const tree_t *tree, const char *relative, const char *text)
{
    FILE *file = open_new(tree, relative);

    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

void tree_copy(const tree_t *tree, const char *source, const char *relative)
{
    FILE *to   = open_new(tree, relative);
    FILE *from = fopen(source, "re");
    char buffer[65536];
    size_t length;

    ck_assert_msg(from != NULL, "cannot open %s", source);
    while ((length = fread(buffer, 1, sizeof(buffer), from)) > 0) {
        ck_assert_uint_eq(fwrite(buffer, 1, length, to), length);
    }
    fclose(from);
    ck_assert_int_eq(fclose(to), 0);
}

void tree_link(const tree_t *tree, const char *target, const char *relative)
{
    const char *path = tree_path(tree, relative);

    make_parents(path);
    ck_assert_int_eq(symlink(target, path), 0);
}

void tree_chmod(const tree_t *tree, const char *relative, mode_t mode)
{
    ck_assert_int_eq(chmod(tree_path(tree, relative), mode), 0);
}

/* Applies a JSON merge patch (RFC 7396) to an object. `patch` must be an
 * object, too. */
static void merge(json_t *target, json_t *patch)
{
    const char *key;
    json_t *value;

    json_object_foreach(patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (json_is_object(value) &&
                   json_is_object(json_object_get(target, key))) {
            merge(json_object_get(target, key), value);
        } else {
            json_object_set(target, key, value);
        }
    }
}

char *tree_manifest(const char *name, const char *patch)
{
    json_t *root, *changes;
    json_error_t error;
    char *text;

    root = json_pack_ex(&error, 0,
                        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[s],"
                        " s:[{s:s, s:[s], s:[s],"
                        "     s:[{s:s, s:[s], s:[s,s], s:[s,s], s:s}]}]}",
                        "name", name, "version", "1.0.0", "vendor", "Nobody",
                        "license", "BSD-3-Clause", "description",
                        "A plugin for tests", "abi", "1.0", "library",
                        "fake.so", "config_prefixes", "FAKE", "components",
                        "name", name, "memory_types", "host", "capabilities",
                        "reg", "transports", "name", "fake", "aliases",
                        "pretence", "operations", "am_short", "am_bcopy",
                        "reach", "node", "network", "device_class", "network");
    ck_assert_msg(root != NULL, "%s", error.text);
    if (patch != NULL) {
        changes = json_loads(patch, 0, &error);
        ck_assert_msg(changes != NULL, "%s: %s", patch, error.text);
        merge(root, changes);
        json_decref(changes);
    }
    text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    ck_assert_ptr_nonnull(text);
    return text;
}

void tree_plugin(const tree_t *tree, const char *folder, const char *name,
                 const char *defect, const char *patch)
{
    char *text = tree_manifest(name, patch);
    char file[512], orders[256];

    snprintf(file, sizeof(file), "%s/%s/%s.json", folder, name, name);
    tree_write(tree, file, text);
    free(text);

    snprintf(file, sizeof(file), "%s/%s/fake.so", folder, name);
    tree_copy(tree, tree_product("FAKE_PLUGIN"), file);

    snprintf(file, sizeof(file), "%s/%s/fake.txt", folder, name);
    snprintf(orders, sizeof(orders), "%s 1.0.0 %s\n", name, defect);
    tree_write(tree, file, orders);
}

uct_plugin_registry_t *tree_scan(const tree_t *tree)
{
    uct_search_params_t params = {
        .env_path   = tree_path(tree, "env"),
        .admin_dir  = tree_path(tree, "admin"),
        .system_dir = tree_path(tree, "system"),
        .root       = tree_path(tree, "root"),
    };
    uct_plugin_registry_t *registry;

    ck_assert_int_eq(uct_plugin_registry_create(&params, UCT_PLUGIN_SCAN_QUIET,
                                                &registry),
                     UCS_OK);
    return registry;
}

static void host_log(int level, const char *file, int line, const char *format,
                     ...)
{
}

const ucx_host_t *tree_host(void)
{
    static int level       = 0;
    static ucx_host_t host = {
        .size      = sizeof(host),
        .abi       = UCX_PLUGIN_ABI_VERSION,
        .log_level = &level,
        .log       = host_log,
    };

    return &host;
}

uct_rejection_code_t tree_rejection(uct_plugin_registry_t *registry,
                                    const char *name,
                                    uct_rejection_t *rejection)
{
    uct_plugin_t *plugin = uct_plugin_find(registry, name);

    ck_assert_msg(plugin != NULL, "no plugin %s was found", name);
    uct_plugin_state(plugin, rejection);
    return rejection->code;
}

uct_rejection_code_t tree_load(uct_plugin_registry_t *registry,
                               const char *name, uct_rejection_t *rejection)
{
    uct_plugin_t *plugin           = uct_plugin_find(registry, name);
    const ucx_plugin_t *descriptor = NULL;
    ucs_status_t status;

    ck_assert_msg(plugin != NULL, "no plugin %s was found", name);
    rejection->code      = UCT_REJECT_NONE;
    rejection->reason[0] = '\0';
    status = uct_plugin_load(plugin, tree_host(), &descriptor, rejection);
    ck_assert_int_eq(status == UCS_OK, rejection->code == UCT_REJECT_NONE);
    if (status == UCS_OK) {
        ck_assert_ptr_nonnull(descriptor);
        uct_plugin_release(plugin);
    }
    return rejection->code;
}

int tree_is_mapped(const char *part)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    int found = 0;

    ck_assert_ptr_nonnull(file);
    while (!found && (fgets(line, sizeof(line), file) != NULL)) {
        found = strstr(line, part) != NULL;
    }
    fclose(file);
    return found;
}

void *tree_global_symbol(const char *name)
{
    void *self   = dlopen(NULL, RTLD_LAZY);
    void *symbol = dlsym(self, name);

    dlclose(self);
    return symbol;
}

int tree_entry_count(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    int *count, result;

    ck_assert_msg(handle != NULL, "%s is not loaded", library);
    count = dlsym(handle, "fake_entries");
    ck_assert_ptr_nonnull(count);
    result = *count;
    dlclose(handle);
    return result;
}

unsigned tree_open_files(void)
{
    DIR *stream    = opendir("/proc/self/fd");
    unsigned count = 0;

    ck_assert_ptr_nonnull(stream);
    while (readdir(stream) != NULL) {
        ++count;
    }
    closedir(stream);
    return count;
}
