/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules 1 to 3 of sdk/ABI.md, checked in the file: the library exports one
 * versioned symbol, links nothing of the core, binds all symbols at load, and
 * has no text relocations.
 */
#include "check.h"
#include "elf_file.h"

#include <string.h>

#include <ucx/plugin.h>

#define VERSION_NODE "UCX_PLUGIN_1.0"

/* Prefixes of the core's functions, and of its libraries' names after "lib". */
static const char *const core_words[] = {"ucp", "uct", "ucs", "ucm"};

static void check_exports(run_t *run, const elf_file_t *file)
{
    const elf_symbol_t *symbol;
    int has_entry = 0;
    unsigned i;

    for (i = 0; i < file->num_symbols; ++i) {
        symbol = &file->symbols[i];
        if (!symbol->defined || symbol->is_version) {
            continue;
        } else if (strcmp(symbol->name, UCX_PLUGIN_ENTRY_SYMBOL)) {
            check_fail(run, 1,
                       "it exports %s; hide all but " UCX_PLUGIN_ENTRY_SYMBOL
                       " (-fvisibility=hidden and a "
                       "linker map)",
                       symbol->name);
            continue;
        }

        has_entry = 1;
        check_that(run, 1, symbol->is_function,
                   UCX_PLUGIN_ENTRY_SYMBOL " is not a function");
        check_that(run, 1, !strcmp(symbol->version, VERSION_NODE),
                   UCX_PLUGIN_ENTRY_SYMBOL " has the version node \"%s\"; it "
                                           "must be " VERSION_NODE
                                           " (linker map)",
                   symbol->version);
    }

    check_that(run, 1, has_entry,
               UCX_PLUGIN_ENTRY_SYMBOL
               " is not exported (UCX_PLUGIN_EXPORT and a linker map)");
}

static void check_imports(run_t *run, const elf_file_t *file)
{
    const char *name;
    unsigned i, j;

    for (i = 0; i < file->num_needed; ++i) {
        for (j = 0; j < ucs_static_array_size(core_words); ++j) {
            name = file->needed[i];
            check_that(run, 2,
                       strncmp(name, "lib", 3) ||
                           strncmp(name + 3, core_words[j], 3) ||
                           ((name[6] != '.') && (name[6] != '-')),
                       "it links %s; services of the core come in "
                       "ucx_plugin_args_t.host",
                       name);
        }
    }

    for (i = 0; i < file->num_symbols; ++i) {
        for (j = 0; j < ucs_static_array_size(core_words); ++j) {
            name = file->symbols[i].name;
            check_that(run, 2,
                       file->symbols[i].defined ||
                           strncmp(name, core_words[j], 3) || (name[3] != '_'),
                       "it calls %s of the core, which no host need have",
                       name);
        }
    }
}

void check_library(run_t *run)
{
    char why[CHECK_TEXT_MAX];
    elf_file_t file;

    check_doing(run, "reading %.300s", run->target->library);
    if (elf_file_open(run->target->library, &file, why, sizeof(why)) !=
        UCS_OK) {
        check_fail(run, 1, "%s", why);
        return;
    }

    check_exports(run, &file);
    check_imports(run, &file);
    check_that(run, 3, file.bind_now,
               "it is not linked with -z now: missing symbols would be found "
               "in the middle of the work");
    check_that(run, 3, !file.text_relocations,
               "its code has to be changed while it is loaded (text "
               "relocations); compile it with -fPIC");
    elf_file_close(&file);
}
