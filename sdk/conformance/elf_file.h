/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols, versions and dependencies of a shared object, read from its section
 * headers. Nothing is loaded; a damaged file is an error.
 */
#ifndef CONFORMANCE_ELF_FILE_H
#define CONFORMANCE_ELF_FILE_H

#include <stddef.h>

#include <ucs/type/status.h>

typedef struct elf_symbol {
    const char *name;
    const char *version; /* "" if there is none */
    int defined;         /* 0: imported from another library */
    int is_function;
    int is_version; /* The symbol only names a version of the linker map */
} elf_symbol_t;

typedef struct elf_file {
    int fd;
    struct Elf *elf;       /* Object of libelf; the names point into it */
    elf_symbol_t *symbols; /* Global and weak symbols that the loader uses */
    unsigned num_symbols;
    const char **needed; /* Names of the libraries that it links */
    unsigned num_needed;
    int bind_now;         /* The loader binds all symbols at load */
    int text_relocations; /* The loader has to write to the code of the
                           * library */
} elf_file_t;

/* Opens the file; on failure `why` receives the reason. */
ucs_status_t elf_file_open(const char *path, elf_file_t *file, char *why,
                           size_t why_size);
void elf_file_close(elf_file_t *file);

#endif
