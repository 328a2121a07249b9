/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and unloads a plugin's code by libltdl, and calls the plugin's entry
 * point and fini function.
 *
 * libltdl requests lazy binding, with which a missing function is noticed only
 * when it is called. Therefore dlopen() with RTLD_NOW opens the library first:
 * it binds all symbols, or fails with the name of the missing one. Then libltdl
 * opens the library, which is in memory already, and gets a reference to it.
 */
#include "uct/plugin/loader.h"

#include <dlfcn.h>
#include <locale.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uct/plugin/descriptor.h"

struct uct_loaded {
    lt_dlhandle module;             /* libltdl's reference to the library */
    const ucx_plugin_t *descriptor; /* result of the entry point */
};

/* libltdl has one list of modules for the process and no lock, so this lock
 * protects all calls of it. It is recursive because it is held while an entry
 * point runs, which may load another plugin. */
static pthread_mutex_t ltdl_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int ltdl_held; /* 1: hold_ltdl() has initialized libltdl */

/* Initializes libltdl when this library is loaded. lt_dlinit() and lt_dlexit()
 * count references, so libltdl then stays initialized until release_ltdl(), and
 * other calls of the two only change the count. Otherwise libltdl might have to
 * be initialized again after lt_dlinit() has failed for lack of memory; it then
 * adds its loaders to its list again, and crashes in the last lt_dlexit(). */
__attribute__((constructor)) static void hold_ltdl(void)
{
    if (lt_dlinit() != 0) {
        lt_dlexit();
        return;
    }
    ltdl_held = 1;
}

__attribute__((destructor)) static void release_ltdl(void)
{
    if (ltdl_held) {
        lt_dlexit();
    }
}

/* Writes the dynamic loader's last message to `buffer`, in English, so that the
 * functions below can search it for known phrases. */
static void last_dlerror(char *buffer, size_t size)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old      = (locale_t)0;
    const char *text;

    if (c_locale != (locale_t)0) {
        old = uselocale(c_locale);
    }
    text = dlerror();
    snprintf(buffer, size, "%s", (text == NULL) ? "unknown error" : text);
    if (c_locale != (locale_t)0) {
        uselocale(old);
        freelocale(c_locale);
    }
}

/* Returns whether the dynamic loader's message `text` means that memory or
 * descriptors ran out. Then the library is not the cause, and a retry may
 * succeed. */
static int is_shortage(const char *text)
{
    static const char no_reason[] = "cannot open shared object file";
    size_t length                 = strlen(text);

    /* After this phrase, the loader adds the error's description, unless it has
     * no memory for the complete message. */
    if ((length >= sizeof(no_reason) - 1) &&
        (strcmp(text + length - (sizeof(no_reason) - 1), no_reason) == 0)) {
        return 1;
    }
    return (strstr(text, "annot allocate memory") != NULL) ||
           (strstr(text, "out of memory") != NULL) ||
           (strstr(text, "cannot create") != NULL) ||
           (strstr(text, "cannot map") != NULL) ||
           (strstr(text, "failed to map") != NULL) ||
           (strstr(text, "Too many open files") != NULL);
}

/* Returns whether the dynamic loader's message `text` says that it cannot open
 * `library`, although the file can be opened. The loader reports this, with the
 * errno of an earlier call, if it has no memory for the path. */
static int is_openable(const char *text, const char *library)
{
    static const char cannot_open[] = ": cannot open shared object file";
    size_t length                   = strlen(library);

    return (strncmp(text, library, length) == 0) &&
           (strncmp(text + length, cannot_open, sizeof(cannot_open) - 1) ==
            0) &&
           (access(library, R_OK) == 0);
}

/* Rejects the plugin after dlopen() has failed. The loader's message decides
 * the code: a missing symbol, a lack of memory or descriptors, or, for any
 * other message, a failed load. */
static ucs_status_t reject_dlerror(const char *library,
                                   uct_rejection_t *rejection)
{
    char text[UCT_REJECT_REASON_MAX];
    uct_rejection_code_t code = UCT_REJECT_LOAD;

    last_dlerror(text, sizeof(text));
    if ((strstr(text, "undefined symbol") != NULL) ||
        (strstr(text, "not defined in file") != NULL) ||
        ((strstr(text, "version `") != NULL) &&
         (strstr(text, "not found") != NULL))) {
        code = UCT_REJECT_SYMBOL;
    } else if (is_shortage(text) || is_openable(text, library)) {
        code = UCT_REJECT_RESOURCES;
    }
    return uct_reject(rejection, code, "%s", text);
}

/* Opens the library by libltdl, without making its symbols available to other
 * libraries. Returns NULL on failure. */
static lt_dlhandle open_module(const char *library)
{
    lt_dlhandle module = NULL;
    lt_dladvise advise;

    if (lt_dladvise_init(&advise) != 0) {
        return NULL;
    }
    if (lt_dladvise_local(&advise) == 0) {
        module = lt_dlopenadvise(library, advise);
    }
    lt_dladvise_destroy(&advise);
    return module;
}

/* Opens the library with all symbols bound. On success, libltdl holds one more
 * reference of lt_dlinit(), which the caller releases by lt_dlexit(). */
static ucs_status_t open_bound(const char *library, lt_dlhandle *module_p,
                               uct_rejection_t *rejection)
{
    ucs_status_t status = UCS_OK;
    void *bound;

    if (lt_dlinit() != 0) {
        status = uct_reject(rejection, UCT_REJECT_RESOURCES, "libltdl: %s",
                            lt_dlerror());
        lt_dlexit(); /* libltdl counts the failed initialization; without this
                      * call, a later lt_dlinit() would seem to succeed */
        return status;
    }

    bound = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (bound == NULL) {
        status = reject_dlerror(library, rejection);
        goto err;
    }

    *module_p = open_module(library);
    dlclose(bound);
    if (*module_p == NULL) {
        /* The library is not the cause, because dlopen() has just opened it */
        status = uct_reject(rejection, UCT_REJECT_RESOURCES, "libltdl: %s",
                            lt_dlerror());
        goto err;
    }
    return UCS_OK;

err:
    lt_dlexit();
    return status;
}

/* Returns whether the address `symbol` is in the file `library`. Otherwise it
 * is in a library that the plugin is linked with and that defines a symbol of
 * the same name. */
static int is_own_symbol(void *symbol, const char *library)
{
    struct stat expected, found;
    Dl_info info;

    return (dladdr(symbol, &info) != 0) && (info.dli_fname != NULL) &&
           (stat(library, &expected) == 0) &&
           (stat(info.dli_fname, &found) == 0) &&
           (expected.st_dev == found.st_dev) &&
           (expected.st_ino == found.st_ino);
}

/* Calls the plugin's entry point. If it fails, the rejection contains the
 * reason that it has written. UCS_ERR_NO_DEVICE means that the plugin finds
 * nothing to use, which is not a fault. */
static ucs_status_t ask_entry(ucx_plugin_entry_t entry, const char *folder,
                              const ucx_host_t *host,
                              const ucx_plugin_t **descriptor_p,
                              uct_rejection_t *rejection)
{
    char reason[512]       = "";
    ucx_plugin_args_t args = {
        .size        = sizeof(args),
        .abi_min     = UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 0),
        .abi_max     = UCX_PLUGIN_ABI_VERSION,
        .host        = host,
        .directory   = folder,
        .reason      = reason,
        .reason_size = sizeof(reason) - 1,
    };
    ucs_status_t status;

    *descriptor_p              = NULL;
    status                     = entry(&args, descriptor_p);
    reason[sizeof(reason) - 1] = '\0';

    if (status == UCS_OK) {
        return UCS_OK;
    } else if (status == UCS_ERR_NO_DEVICE) {
        return uct_reject(rejection, UCT_REJECT_NOTHING, "%s",
                          (reason[0] == '\0') ? "it gives no reason" : reason);
    }
    return uct_reject(rejection,
                      (status == UCS_ERR_NO_MEMORY) ? UCT_REJECT_RESOURCES :
                                                      UCT_REJECT_INIT,
                      "%s (status %d)",
                      (reason[0] == '\0') ? "it gives no reason" : reason,
                      (int)status);
}

/* Finds and calls the entry point of the loaded library, and checks the
 * descriptor that it returns. */
static ucs_status_t start(uct_loaded_t *loaded, const uct_manifest_t *manifest,
                          const char *library, const char *folder,
                          const ucx_host_t *host, uct_rejection_t *rejection)
{
    const ucx_plugin_t *descriptor;
    ucs_status_t status;
    void *symbol;

    symbol = lt_dlsym(loaded->module, UCX_PLUGIN_ENTRY_SYMBOL);
    if ((symbol == NULL) || !is_own_symbol(symbol, library)) {
        return uct_reject(rejection, UCT_REJECT_ENTRY,
                          "%s does not export " UCX_PLUGIN_ENTRY_SYMBOL,
                          library);
    }

    status = ask_entry((ucx_plugin_entry_t)symbol, folder, host, &descriptor,
                       rejection);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_descriptor_check(descriptor, manifest, rejection);
    if (status != UCS_OK) {
        /* With UCT_REJECT_UNDECLARED, the descriptor is only different from the
         * manifest, so the plugin can release its resources. With other codes
         * the descriptor is damaged, so its fini pointer cannot be trusted. */
        if ((descriptor != NULL) && UCX_TABLE_HAS(descriptor, fini) &&
            (rejection->code == UCT_REJECT_UNDECLARED) &&
            (descriptor->fini != NULL)) {
            descriptor->fini();
        }
        return status;
    }
    loaded->descriptor = descriptor;
    return UCS_OK;
}

ucs_status_t uct_loader_open(const uct_manifest_t *manifest,
                             const char *library, const char *folder,
                             const ucx_host_t *host, uct_loaded_t **loaded_p,
                             uct_rejection_t *rejection)
{
    uct_loaded_t *loaded;
    ucs_status_t status;

    loaded = calloc(1, sizeof(*loaded));
    if (loaded == NULL) {
        return uct_reject(rejection, UCT_REJECT_RESOURCES, "out of memory");
    }

    pthread_mutex_lock(&ltdl_lock);
    status = open_bound(library, &loaded->module, rejection);
    if (status != UCS_OK) {
        goto err_unlock;
    }
    status = start(loaded, manifest, library, folder, host, rejection);
    if (status != UCS_OK) {
        goto err_close;
    }
    pthread_mutex_unlock(&ltdl_lock);

    *loaded_p = loaded;
    return UCS_OK;

err_close:
    lt_dlclose(loaded->module);
    lt_dlexit();
err_unlock:
    pthread_mutex_unlock(&ltdl_lock);
    free(loaded);
    return status;
}

const ucx_plugin_t *uct_loader_descriptor(const uct_loaded_t *loaded)
{
    return loaded->descriptor;
}

void uct_loader_close(uct_loaded_t *loaded)
{
    const ucx_plugin_t *descriptor = loaded->descriptor;

    if (UCX_TABLE_HAS(descriptor, fini) && (descriptor->fini != NULL)) {
        descriptor->fini();
    }
    pthread_mutex_lock(&ltdl_lock);
    lt_dlclose(loaded->module);
    lt_dlexit();
    pthread_mutex_unlock(&ltdl_lock);
    free(loaded);
}
