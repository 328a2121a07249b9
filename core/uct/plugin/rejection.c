/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the codes by which plugins are rejected (rejection.h). Its texts
 * tell users what a code means and what to do; uct_reject() stores the details
 * of a particular rejection.
 */
#include "uct/plugin/rejection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "uct/plugin/text.h"

/* Values of uct_rejection_info_t::fault. */
#define FAULT  1
#define ABSENT 0

static const uct_rejection_info_t rejection_table[] = {
    {UCT_REJECT_NONE, "UCX-P000", "usable", "there is no reason to reject it",
     "nothing to do", ABSENT, UCS_OK},

    {UCT_REJECT_UNREADABLE, "UCX-P101", "unreadable",
     "the manifest cannot be opened or read",
     "make the file and its folder readable for the user who runs the program",
     FAULT, UCS_ERR_IO_ERROR},
    {UCT_REJECT_NOT_REGULAR, "UCX-P102", "not a file",
     "the manifest is not a regular file",
     "put a plain JSON file there, or remove the entry", FAULT,
     UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_TOO_LARGE, "UCX-P103", "too large",
     "the manifest is larger than 1 MiB",
     "shorten it; a manifest has a few kilobytes", FAULT,
     UCS_ERR_EXCEEDS_LIMIT},
    {UCT_REJECT_LINK_LOOP, "UCX-P104", "link loop",
     "the symbolic links form a loop", "point the link at the file itself",
     FAULT, UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_NOT_JSON, "UCX-P105", "not JSON",
     "the manifest is not well-formed JSON in UTF-8",
     "correct the file at the line given; `ucx-plugins validate FILE` checks "
     "it",
     FAULT, UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_TOO_DEEP, "UCX-P106", "too deep",
     "the manifest has too many nested levels", "flatten it", FAULT,
     UCS_ERR_EXCEEDS_LIMIT},
    {UCT_REJECT_SCHEMA, "UCX-P107", "schema",
     "the manifest does not follow the schema",
     "correct the member named; `ucx-plugins validate FILE` checks it", FAULT,
     UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_NAME, "UCX-P108", "name",
     "the plugin's name and the manifest's file name differ",
     "name the file NAME.json after the member \"name\"", FAULT,
     UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_OVERRIDE, "UCX-P109", "override",
     "an override lies outside the administrator's folder",
     "move it to the administrator's folder; `ucx-plugins path` names it",
     FAULT, UCS_ERR_INVALID_PARAM},

    {UCT_REJECT_OWNER, "UCX-P201", "owner",
     "the manifest, its library or a folder above belongs neither to root nor "
     "to the user",
     "chown it to root or to the user who runs the program", FAULT,
     UCS_ERR_REJECTED},
    {UCT_REJECT_WRITABLE, "UCX-P202", "writable",
     "others may write to the manifest, its library or a folder above",
     "remove the permission by the command in the details", FAULT,
     UCS_ERR_REJECTED},

    {UCT_REJECT_ABI_MAJOR, "UCX-P301", "ABI major",
     "the plugin was built for another major version of the plugin ABI",
     "install a build of the plugin for this core, or the core it was built "
     "for",
     FAULT, UCS_ERR_UNSUPPORTED},
    {UCT_REJECT_ABI_MIN, "UCX-P302", "core too old",
     "the plugin needs a newer core",
     "update the core, or install an older version of the plugin", FAULT,
     UCS_ERR_UNSUPPORTED},
    {UCT_REJECT_LIBRARY_MISSING, "UCX-P303", "no library",
     "the shared object that the manifest names does not exist",
     "reinstall the plugin's package, or correct the member \"library\"", FAULT,
     UCS_ERR_NO_ELEM},
    {UCT_REJECT_LIBRARY_ESCAPES, "UCX-P304", "escapes",
     "the shared object lies outside the manifest's folder",
     "put it beside the manifest and name it by a relative path", FAULT,
     UCS_ERR_REJECTED},
    {UCT_REJECT_LIBRARY_FORMAT, "UCX-P305", "format",
     "the library is not a shared object for this machine",
     "install the plugin's package for this architecture", FAULT,
     UCS_ERR_UNSUPPORTED},

    {UCT_REJECT_NEED_DEVICE, "UCX-P401", "needs device",
     "a device node that the plugin needs does not exist",
     "nothing to do where there is no such hardware; otherwise load its driver",
     ABSENT, UCS_ERR_NO_DEVICE},
    {UCT_REJECT_NEED_MODULE, "UCX-P402", "needs module",
     "a kernel module that the plugin needs is not loaded",
     "load it with modprobe", ABSENT, UCS_ERR_NO_DEVICE},
    {UCT_REJECT_NEED_LIBRARY, "UCX-P403", "needs library",
     "a shared library that the plugin needs is not installed",
     "install the package that has it", ABSENT, UCS_ERR_NO_ELEM},
    {UCT_REJECT_NEED_ANY_OF, "UCX-P404", "needs one of",
     "none of the alternatives that the plugin needs is available",
     "provide one of those listed", ABSENT, UCS_ERR_NO_ELEM},
    {UCT_REJECT_NOTHING, "UCX-P405", "nothing here",
     "the plugin found no device on this machine that it supports",
     "nothing to do where there is no such hardware", ABSENT,
     UCS_ERR_NO_DEVICE},

    {UCT_REJECT_SHADOWED, "UCX-P501", "shadowed",
     "a plugin of the same name comes earlier in the search order",
     "nothing to do, or remove the earlier one", ABSENT,
     UCS_ERR_ALREADY_EXISTS},
    {UCT_REJECT_REPLACED, "UCX-P502", "replaced",
     "another plugin declares that it replaces this one",
     "nothing to do, or disable the other one", ABSENT, UCS_ERR_ALREADY_EXISTS},
    {UCT_REJECT_CONFLICT, "UCX-P503", "conflict",
     "it must not be used together with a plugin that comes earlier",
     "disable one of the two in the administrator's folder", FAULT,
     UCS_ERR_ALREADY_EXISTS},
    {UCT_REJECT_DUPLICATE, "UCX-P504", "duplicate",
     "a plugin that comes earlier has a component of the same name",
     "disable one of the two in the administrator's folder", FAULT,
     UCS_ERR_ALREADY_EXISTS},
    {UCT_REJECT_DISABLED, "UCX-P505", "disabled",
     "the administrator has disabled it",
     "ask the administrator, or change the override file named", ABSENT,
     UCS_ERR_CANCELED},
    {UCT_REJECT_EXCLUDED, "UCX-P506", "excluded",
     "the configuration selects none of its transports",
     "add one of its transports to the selection", ABSENT, UCS_ERR_CANCELED},
    {UCT_REJECT_NOT_DEFAULT, "UCX-P507", "on request",
     "it is used only if it is selected by name",
     "name one of its transports in the selection", ABSENT, UCS_ERR_CANCELED},

    {UCT_REJECT_LOAD, "UCX-P601", "load failed",
     "the system could not load the shared object",
     "see the loader's message; often a library that it needs is missing",
     FAULT, UCS_ERR_IO_ERROR},
    {UCT_REJECT_SYMBOL, "UCX-P602", "symbol",
     "the shared object uses an undefined symbol",
     "install the version of the library that it was built against", FAULT,
     UCS_ERR_NO_ELEM},
    {UCT_REJECT_ENTRY, "UCX-P603", "no entry",
     "the shared object has no plugin entry point",
     "reinstall it, or correct the member \"library\"", FAULT, UCS_ERR_NO_ELEM},
    {UCT_REJECT_INIT, "UCX-P604", "init failed", "the plugin failed to start",
     "see the plugin's own reason", FAULT, UCS_ERR_REJECTED},
    {UCT_REJECT_DESCRIPTOR, "UCX-P605", "descriptor",
     "the plugin's descriptor is invalid",
     "report it to the vendor; ucx-plugin-check shows the same", FAULT,
     UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_UNDECLARED, "UCX-P606", "undeclared",
     "the code offers what its manifest does not declare",
     "install manifest and library of the same version", FAULT,
     UCS_ERR_INVALID_PARAM},
    {UCT_REJECT_RECURSION, "UCX-P607", "recursion",
     "the plugin was requested again while it was being loaded",
     "report it to the vendor", FAULT, UCS_ERR_BUSY},
    {UCT_REJECT_RESOURCES, "UCX-P608", "resources",
     "memory or descriptors ran out", "free some and try again", FAULT,
     UCS_ERR_NO_MEMORY},
};

static const uct_rejection_info_t rejection_unknown = {
    UCT_REJECT_NONE,
    "UCX-P???",
    "unknown",
    "a code of no known meaning",
    "report it",
    FAULT,
    UCS_ERR_INVALID_PARAM,
};

const uct_rejection_info_t *uct_rejection_table(unsigned *count_p)
{
    *count_p = sizeof(rejection_table) / sizeof(rejection_table[0]);
    return rejection_table;
}

const uct_rejection_info_t *uct_rejection_info(uct_rejection_code_t code)
{
    unsigned count, i;

    uct_rejection_table(&count);
    for (i = 0; i < count; ++i) {
        if (rejection_table[i].code == code) {
            return &rejection_table[i];
        }
    }
    return &rejection_unknown;
}

uct_rejection_code_t uct_rejection_of_errno(int error,
                                            uct_rejection_code_t otherwise)
{
    return ((error == ENOMEM) || (error == EMFILE) || (error == ENFILE)) ?
               UCT_REJECT_RESOURCES :
               otherwise;
}

ucs_status_t uct_reject(uct_rejection_t *rejection, uct_rejection_code_t code,
                        const char *format, ...)
{
    va_list ap;

    if (rejection != NULL) {
        rejection->code = code;
        va_start(ap, format);
        vsnprintf(rejection->reason, sizeof(rejection->reason), format, ap);
        va_end(ap);
        uct_text_clean(rejection->reason);
    }
    return uct_rejection_info(code)->status;
}
