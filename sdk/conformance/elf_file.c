/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads dynamic symbols. Each offset in the file is checked against the file's
 * size before use.
 */
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


#define FILE_MAX ((size_t)1 << 30)

/* The sections that are used. */
typedef struct elf_parts {
    const ElfW(Shdr) *symbols;
    const ElfW(Shdr) *strings;
    const ElfW(Shdr) *versions; /* version index of each symbol */
    const ElfW(Shdr) *defined;  /* version nodes of this file */
    const ElfW(Shdr) *dynamic;
} elf_parts_t;

static const void *at(const elf_file_t *file, uint64_t offset, uint64_t size)
{
    return ((offset <= file->size) && (size <= file->size - offset)) ?
               file->data + offset : NULL;
}

static const void *
section_data(const elf_file_t *file, const ElfW(Shdr) *section)
{
    return at(file, section->sh_offset, section->sh_size);
}

/* A name of the string table, or "" for an offset outside it. */
static const char *name_at(const elf_file_t *file, const elf_parts_t *parts,
                           uint64_t offset)
{
    const char *strings = section_data(file, parts->strings);
    uint64_t size       = parts->strings->sh_size;

    return ((strings != NULL) && (offset < size) &&
            (memchr(strings + offset, '\0', size - offset) != NULL)) ?
               strings + offset : "";
}

static const char *find_parts(const elf_file_t *file, elf_parts_t *parts)
{
    const ElfW(Ehdr) *header = at(file, 0, sizeof(*header));
    const ElfW(Shdr) *sections;
    unsigned i;

    if ((header == NULL) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
        (header->e_ident[EI_CLASS] !=
         ((sizeof(void *) == 8) ? ELFCLASS64 : ELFCLASS32)) ||
        (header->e_type != ET_DYN)) {
        return "it is no shared object for this kind of machine";
    }

    sections = at(file, header->e_shoff,
                  (uint64_t)header->e_shnum * sizeof(*sections));
    if ((sections == NULL) || (header->e_shnum == 0) ||
        (header->e_shoff % sizeof(uint32_t) != 0) ||
        (header->e_shentsize != sizeof(*sections))) {
        return "it has no section headers; check the file before it is "
               "stripped of them";
    }

    for (i = 0; i < header->e_shnum; ++i) {
        switch (sections[i].sh_type) {
        case SHT_DYNSYM:
            parts->symbols = &sections[i];
            if (sections[i].sh_link < header->e_shnum) {
                parts->strings = &sections[sections[i].sh_link];
            }
            break;
        case SHT_GNU_versym:
            parts->versions = &sections[i];
            break;
        case SHT_GNU_verdef:
            parts->defined = &sections[i];
            break;
        case SHT_DYNAMIC:
            parts->dynamic = &sections[i];
            break;
        }
    }

    if ((parts->symbols == NULL) || (parts->strings == NULL) ||
        (section_data(file, parts->symbols) == NULL)) {
        return "it has no dynamic symbols";
    }
    return NULL;
}

/* The name of the version node with this index, or "". */
static const char *version_name(const elf_file_t *file,
                                const elf_parts_t *parts, unsigned index)
{
    const ElfW(Verdaux) *name;
    const ElfW(Verdef) *node;
    uint64_t offset;

    if (parts->defined == NULL) {
        return "";
    }

    offset = parts->defined->sh_offset;
    while ((node = at(file, offset, sizeof(*node))) != NULL) {
        if (node->vd_ndx == index) {
            name = at(file, offset + node->vd_aux, sizeof(*name));
            return (name == NULL) ? "" : name_at(file, parts, name->vda_name);
        } else if (node->vd_next == 0) {
            break;
        }
        offset += node->vd_next;
    }
    return "";
}

static void read_symbol(elf_file_t *file, const elf_parts_t *parts,
                        const ElfW(Sym) *symbol, const ElfW(Half) *version)
{
    elf_symbol_t *entry = &file->symbols[file->num_symbols];
    unsigned bind       = ELF64_ST_BIND(symbol->st_info);

    if ((symbol->st_name == 0) ||
        ((bind != STB_GLOBAL) && (bind != STB_WEAK) &&
         (bind != STB_GNU_UNIQUE))) {
        return;
    }

    entry->name        = name_at(file, parts, symbol->st_name);
    entry->defined     = (symbol->st_shndx != SHN_UNDEF);
    entry->is_function = (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC);
    entry->version     = "";
    if (entry->defined && (version != NULL)) {
        entry->version = version_name(file, parts, *version & 0x7fff);
    }
    entry->is_version = (symbol->st_shndx == SHN_ABS) &&
                        !strcmp(entry->name, entry->version);
    ++file->num_symbols;
}

static ucs_status_t read_symbols(elf_file_t *file, const elf_parts_t *parts)
{
    const ElfW(Sym) *symbols   = section_data(file, parts->symbols);
    const ElfW(Half) *versions = NULL;
    size_t count               = parts->symbols->sh_size / sizeof(*symbols);
    size_t i;

    if ((parts->versions != NULL) &&
        (parts->versions->sh_size / sizeof(*versions) >= count)) {
        versions = section_data(file, parts->versions);
    }

    file->symbols = calloc(count + 1, sizeof(*file->symbols));
    if (file->symbols == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (i = 0; i < count; ++i) {
        read_symbol(file, parts, &symbols[i],
                    (versions == NULL) ? NULL : &versions[i]);
    }
    return UCS_OK;
}

static ucs_status_t read_dynamic(elf_file_t *file, const elf_parts_t *parts)
{
    const ElfW(Dyn) *entry;
    size_t count, i;

    if (parts->dynamic == NULL) {
        return UCS_OK;
    }
    entry = section_data(file, parts->dynamic);
    count = parts->dynamic->sh_size / sizeof(*entry);

    file->needed = calloc(count + 1, sizeof(*file->needed));
    if (file->needed == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; (entry != NULL) && (i < count); ++i) {
        switch (entry[i].d_tag) {
        case DT_NEEDED:
            file->needed[file->num_needed++] =
                name_at(file, parts, entry[i].d_un.d_val);
            break;
        case DT_BIND_NOW:
            file->bind_now = 1;
            break;
        case DT_FLAGS:
            file->bind_now |= !!(entry[i].d_un.d_val & DF_BIND_NOW);
            file->text_relocations |= !!(entry[i].d_un.d_val & DF_TEXTREL);
            break;
        case DT_FLAGS_1:
            file->bind_now |= !!(entry[i].d_un.d_val & DF_1_NOW);
            break;
        }
    }
    return UCS_OK;
}

/* A fifo must not block. */
static ucs_status_t read_file(const char *path, elf_file_t *file)
{
    int fd              = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ucs_status_t status = UCS_ERR_IO_ERROR;
    struct stat st;

    if (fd < 0) {
        return (errno == ENOENT) ? UCS_ERR_NO_ELEM : UCS_ERR_IO_ERROR;
    }
    if ((fstat(fd, &st) == 0) && S_ISREG(st.st_mode)) {
        status = ((size_t)st.st_size > FILE_MAX) ? UCS_ERR_EXCEEDS_LIMIT :
                                                   UCS_OK;
    }
    if (status == UCS_OK) {
        file->size = (size_t)st.st_size;
        file->data = malloc(file->size + 1);
        status     = (file->data == NULL) ? UCS_ERR_NO_MEMORY :
                     (pread(fd, file->data, file->size, 0) != st.st_size) ?
                                            UCS_ERR_IO_ERROR : UCS_OK;
    }
    if (status != UCS_OK) {
        free(file->data);
        file->data = NULL;
    }
    close(fd);
    return status;
}

ucs_status_t elf_file_open(const char *path, elf_file_t *file, char *why,
                           size_t why_size)
{
    elf_parts_t parts = {NULL, NULL, NULL, NULL, NULL};
    const char *wrong;
    ucs_status_t status;

    memset(file, 0, sizeof(*file));
    status = read_file(path, file);
    if (status != UCS_OK) {
        snprintf(why, why_size, "%s: %s", path, ucs_status_string(status));
        return status;
    }

    wrong = find_parts(file, &parts);
    if (wrong != NULL) {
        snprintf(why, why_size, "%s: %s", path, wrong);
        elf_file_close(file);
        return UCS_ERR_INVALID_PARAM;
    }

    status = read_symbols(file, &parts);
    if (status == UCS_OK) {
        status = read_dynamic(file, &parts);
    }
    if (status != UCS_OK) {
        snprintf(why, why_size, "%s", ucs_status_string(status));
        elf_file_close(file);
    }
    return status;
}

void elf_file_close(elf_file_t *file)
{
    free(file->needed);
    free(file->symbols);
    free(file->data);
}
