/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_elf_read(): reads from the ELF headers and the dynamic section whether a
 * file is a shared object for this machine, whether it is linked with -z now,
 * and its run path. The file may contain any offsets: all reads use pread(),
 * which fails or returns less beyond the end of the file.
 */
#include "uct/plugin/elf.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PHNUM_MAX   256  /* a file with more program headers is rejected */
#define DYNAMIC_MAX 1024 /* further entries of a dynamic section are ignored */

/* The machine for which this file is compiled: shared objects for others are
 * rejected. On a machine that is not in this list, this is not checked. */
#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define NATIVE_MACHINE EM_PPC64
#elif defined(__riscv)
#define NATIVE_MACHINE EM_RISCV
#elif defined(__s390x__)
#define NATIVE_MACHINE EM_S390
#elif defined(__i386__)
#define NATIVE_MACHINE EM_386
#elif defined(__arm__)
#define NATIVE_MACHINE EM_ARM
#elif defined(__loongarch__)
#define NATIVE_MACHINE 258
#endif

#define NATIVE_CLASS ((__ELF_NATIVE_CLASS == 64) ? ELFCLASS64 : ELFCLASS32)
#define NATIVE_DATA \
    ((__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? ELFDATA2LSB : ELFDATA2MSB)

typedef struct elf_file {
    int fd;
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[PHNUM_MAX]; /* header.e_phnum of them are valid */
} elf_file_t;

/* Returns nonzero if all `size` bytes could be read. */
static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
    return (offset <= INT64_MAX) &&
           (pread(fd, buffer, size, (off_t)offset) == (ssize_t)size);
}

/* Reads the ELF header and the program headers. Returns NULL, or why the file
 * is not a shared object for this machine. */
static const char *read_header(elf_file_t *file)
{
    ElfW(Ehdr) *header = &file->header;

    if (!read_at(file->fd, header, sizeof(*header), 0) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG)) {
        return "it is not an ELF file";
    } else if ((header->e_ident[EI_CLASS] != NATIVE_CLASS) ||
               (header->e_ident[EI_DATA] != NATIVE_DATA)) {
        return "it is for another word size or byte order";
    } else if (header->e_type != ET_DYN) {
        return "it is not a shared object";
#ifdef NATIVE_MACHINE
    } else if (header->e_machine != NATIVE_MACHINE) {
        return "it is for another kind of processor";
#endif
    } else if ((header->e_phentsize != sizeof(ElfW(Phdr))) ||
               (header->e_phnum == 0) || (header->e_phnum > PHNUM_MAX) ||
               !read_at(file->fd, file->segments,
                        header->e_phnum * sizeof(ElfW(Phdr)),
                        header->e_phoff)) {
        return "its program headers are damaged or cut off";
    }
    return NULL;
}

/* Returns whether the file contains all segments. A truncated file must not be
 * loaded: an access to the missing part of a mapping raises SIGBUS. */
static int is_complete(const elf_file_t *file)
{
    const ElfW(Phdr) * segment;
    struct stat st;
    unsigned i;

    if (fstat(file->fd, &st) != 0) {
        return 0;
    }
    for (i = 0; i < file->header.e_phnum; ++i) {
        segment = &file->segments[i];
        if ((segment->p_offset > (uint64_t)st.st_size) ||
            (segment->p_filesz > (uint64_t)st.st_size - segment->p_offset)) {
            return 0;
        }
    }
    return 1;
}

/* Returns the first segment of the type, or NULL. */
static const ElfW(Phdr) * find_segment(const elf_file_t *file, uint32_t type)
{
    unsigned i;

    for (i = 0; i < file->header.e_phnum; ++i) {
        if (file->segments[i].p_type == type) {
            return &file->segments[i];
        }
    }
    return NULL;
}

/* Returns the offset in the file of the byte at the virtual address `address`
 * (as in the program headers), or 0 if no loadable segment contains it. */
static uint64_t file_offset(const elf_file_t *file, uint64_t address)
{
    const ElfW(Phdr) * segment;
    unsigned i;

    for (i = 0; i < file->header.e_phnum; ++i) {
        segment = &file->segments[i];
        if ((segment->p_type == PT_LOAD) && (address >= segment->p_vaddr) &&
            (address - segment->p_vaddr < segment->p_filesz)) {
            return segment->p_offset + (address - segment->p_vaddr);
        }
    }
    return 0;
}

/* Reads the run path. `strings` is the virtual address of the string table, and
 * `index` the position of the run path in it. elf->runpath remains "" if it
 * cannot be read, and is cut off if it is too long. */
static void read_runpath(const elf_file_t *file, uint64_t strings,
                         uint64_t index, uct_elf_t *elf)
{
    uint64_t offset = file_offset(file, strings);
    ssize_t length;

    if ((offset == 0) || (offset > INT64_MAX - index)) {
        return;
    }
    length = pread(file->fd, elf->runpath, sizeof(elf->runpath) - 1,
                   (off_t)(offset + index));
    elf->runpath[(length > 0) ? length : 0] = '\0';
}

/* Reads binding mode and run path from the dynamic section, which is in
 * `segment`. Both remain unset if it cannot be read. */
static void read_dynamic(const elf_file_t *file, const ElfW(Phdr) * segment,
                         uct_elf_t *elf)
{
    uint64_t strings = 0, runpath = 0;
    ElfW(Dyn) entries[DYNAMIC_MAX], entry;
    int has_runpath = 0;
    uint64_t size   = segment->p_filesz;
    unsigned i;

    size = (size < sizeof(entries)) ? size : sizeof(entries);
    size -= size % sizeof(entry);
    if (!read_at(file->fd, entries, size, segment->p_offset)) {
        return;
    }

    for (i = 0; i < size / sizeof(entry); ++i) {
        entry = entries[i];
        if (entry.d_tag == DT_NULL) {
            break;
        }
        switch (entry.d_tag) {
        case DT_STRTAB:
            strings = entry.d_un.d_ptr;
            break;
        case DT_RPATH:
        case DT_RUNPATH:
            runpath     = entry.d_un.d_val;
            has_runpath = 1;
            break;
        case DT_BIND_NOW:
            elf->bind_now = 1;
            break;
        case DT_FLAGS:
            elf->bind_now |= !!(entry.d_un.d_val & DF_BIND_NOW);
            break;
        case DT_FLAGS_1:
            elf->bind_now |= !!(entry.d_un.d_val & DF_1_NOW);
            break;
        }
    }

    if (has_runpath) {
        read_runpath(file, strings, runpath, elf);
    }
}

ucs_status_t uct_elf_read(int fd, uct_elf_t *elf, char *why, size_t why_size)
{
    elf_file_t file = {.fd = fd};
    const ElfW(Phdr) * dynamic;
    const char *wrong;

    memset(elf, 0, sizeof(*elf));
    wrong = read_header(&file);
    if (wrong == NULL) {
        dynamic = find_segment(&file, PT_DYNAMIC);
        if (!is_complete(&file)) {
            wrong = "it is cut off";
        } else if (dynamic == NULL) {
            wrong = "it has no dynamic section";
        } else {
            read_dynamic(&file, dynamic, elf);
        }
    }

    if (wrong != NULL) {
        snprintf(why, why_size, "%s", wrong);
        return UCS_ERR_UNSUPPORTED;
    }
    return UCS_OK;
}
