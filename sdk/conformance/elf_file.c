/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the dynamic symbols and the dynamic section by libelf, which checks
 * each offset in the file. */
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sections of the file that are used; NULL: the file has no section of that
 * type. */
typedef struct elf_parts {
    Elf_Data *symbols;
    Elf_Data *versions; /* Version index of each symbol */
    Elf_Data *defined;  /* Version nodes that this file defines */
    Elf_Data *dynamic;
    size_t strings; /* Index of the section with the names */
} elf_parts_t;

/* Returns the name at an offset of the string table, or "" if the offset is
 * outside of the table. */
static const char *name_at(const elf_file_t *file, const elf_parts_t *parts,
                           size_t offset)
{
    const char *name = elf_strptr(file->elf, parts->strings, offset);

    return (name == NULL) ? "" : name;
}

static const char *check_header(const elf_file_t *file)
{
    GElf_Ehdr header;

    if ((gelf_getehdr(file->elf, &header) == NULL) ||
        (header.e_ident[EI_CLASS] !=
         ((sizeof(void *) == 8) ? ELFCLASS64 : ELFCLASS32)) ||
        (header.e_type != ET_DYN)) {
        return "it is not a shared object for this kind of machine";
    }
    return NULL;
}

static const char *find_parts(const elf_file_t *file, elf_parts_t *parts)
{
    Elf_Scn *section = elf_nextscn(file->elf, NULL);
    GElf_Shdr header;

    if (section == NULL) {
        return "it has no section headers; check the file before it is "
               "stripped of them";
    }

    for (; section != NULL; section = elf_nextscn(file->elf, section)) {
        if (gelf_getshdr(section, &header) == NULL) {
            continue;
        }
        switch (header.sh_type) {
        case SHT_DYNSYM:
            parts->symbols = elf_getdata(section, NULL);
            parts->strings = header.sh_link;
            break;
        case SHT_GNU_versym:
            parts->versions = elf_getdata(section, NULL);
            break;
        case SHT_GNU_verdef:
            parts->defined = elf_getdata(section, NULL);
            break;
        case SHT_DYNAMIC:
            parts->dynamic = elf_getdata(section, NULL);
            break;
        }
    }
    return (parts->symbols == NULL) ? "it has no dynamic symbols" : NULL;
}

/* Returns the name of the version node with this index, or "". */
static const char *version_name(const elf_file_t *file,
                                const elf_parts_t *parts, unsigned index)
{
    GElf_Verdaux name;
    GElf_Verdef node;
    int offset = 0;

    while (gelf_getverdef(parts->defined, offset, &node) != NULL) {
        if (node.vd_ndx == index) {
            return (gelf_getverdaux(parts->defined, offset + (int)node.vd_aux,
                                    &name) == NULL) ?
                       "" :
                       name_at(file, parts, name.vda_name);
        } else if ((int)node.vd_next <= 0) {
            break; /* The last node, or a damaged file in which the nodes form a
                    * loop */
        }
        offset += (int)node.vd_next;
    }
    return "";
}

static void read_symbol(elf_file_t *file, const elf_parts_t *parts, int index)
{
    elf_symbol_t *entry = &file->symbols[file->num_symbols];
    GElf_Versym version;
    GElf_Sym symbol;
    unsigned bind;

    if (gelf_getsym(parts->symbols, index, &symbol) == NULL) {
        return;
    }

    bind = GELF_ST_BIND(symbol.st_info);
    if ((symbol.st_name == 0) || ((bind != STB_GLOBAL) && (bind != STB_WEAK) &&
                                  (bind != STB_GNU_UNIQUE))) {
        return;
    }

    entry->name        = name_at(file, parts, symbol.st_name);
    entry->defined     = (symbol.st_shndx != SHN_UNDEF);
    entry->is_function = (GELF_ST_TYPE(symbol.st_info) == STT_FUNC);
    entry->version     = "";
    if (entry->defined &&
        (gelf_getversym(parts->versions, index, &version) != NULL)) {
        entry->version = version_name(file, parts, version & 0x7fff);
    }
    entry->is_version = (symbol.st_shndx == SHN_ABS) &&
                        !strcmp(entry->name, entry->version);
    ++file->num_symbols;
}

static ucs_status_t read_symbols(elf_file_t *file, const elf_parts_t *parts)
{
    size_t count = parts->symbols->d_size /
                   gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t i;

    file->symbols = calloc(count + 1, sizeof(*file->symbols));
    if (file->symbols == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (i = 0; i < count; ++i) {
        read_symbol(file, parts, (int)i);
    }
    return UCS_OK;
}

static ucs_status_t read_dynamic(elf_file_t *file, const elf_parts_t *parts)
{
    size_t count;
    GElf_Dyn entry;
    int i;

    if (parts->dynamic == NULL) {
        return UCS_OK;
    }

    count = parts->dynamic->d_size /
            gelf_fsize(file->elf, ELF_T_DYN, 1, EV_CURRENT);
    file->needed = calloc(count + 1, sizeof(*file->needed));
    if (file->needed == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; gelf_getdyn(parts->dynamic, i, &entry) != NULL; ++i) {
        switch (entry.d_tag) {
        case DT_NEEDED:
            file->needed[file->num_needed++] = name_at(file, parts,
                                                       entry.d_un.d_val);
            break;
        case DT_BIND_NOW:
            file->bind_now = 1;
            break;
        case DT_FLAGS:
            file->bind_now |= !!(entry.d_un.d_val & DF_BIND_NOW);
            file->text_relocations |= !!(entry.d_un.d_val & DF_TEXTREL);
            break;
        case DT_FLAGS_1:
            file->bind_now |= !!(entry.d_un.d_val & DF_1_NOW);
            break;
        }
    }
    return UCS_OK;
}

/* Opens a regular file. O_NONBLOCK prevents open() from blocking if the path is
 * a FIFO. */
static ucs_status_t open_regular(const char *path, int *fd_p)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0) {
        return (errno == ENOENT) ? UCS_ERR_NO_ELEM : UCS_ERR_IO_ERROR;
    }
    if ((fstat(fd, &st) != 0) || !S_ISREG(st.st_mode)) {
        close(fd);
        return UCS_ERR_IO_ERROR;
    }
    *fd_p = fd;
    return UCS_OK;
}

ucs_status_t elf_file_open(const char *path, elf_file_t *file, char *why,
                           size_t why_size)
{
    elf_parts_t parts = {NULL, NULL, NULL, NULL, 0};
    const char *wrong;
    ucs_status_t status;

    memset(file, 0, sizeof(*file));
    status = open_regular(path, &file->fd);
    if (status != UCS_OK) {
        snprintf(why, why_size, "%s: %s", path, ucs_status_string(status));
        return status;
    }

    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    wrong     = check_header(file);
    if (wrong == NULL) {
        wrong = find_parts(file, &parts);
    }
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
    elf_end(file->elf);
    close(file->fd);
}
