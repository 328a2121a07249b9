/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded objects: their symbols and relocations. Walks the dynamic linker's
 * list under the lock of the list only. dladdr() and dlsym() are not used: they
 * take the lock that the linker holds while constructors run, and a constructor
 * may be waiting for a lock of UCM.
 */
#include <string.h>
#include <sys/auxv.h>

#include "ucm/internal.h"

typedef struct ucm_elf_walk {
    ucm_elf_cb_t cb;
    void *arg;
} ucm_elf_walk_t;

/* Returns the absolute address for an entry of a dynamic section. The dynamic
 * linkers of most systems have made the address in the entry absolute; some
 * have not. */
static const void *ucm_elf_pointer(uintptr_t base, uintptr_t value)
{
    return (const void *)((value < base) ? base + value : value);
}

/* Returns the number of symbols. The GNU hash table does not state it: it is
 * one more than the index of the last symbol of the last chain. */
static size_t ucm_elf_gnu_count(const uint32_t *table)
{
    const uint32_t num_buckets = table[0], first = table[1], bloom = table[2];
    const uint32_t *buckets = table + 4 +
                              bloom * (sizeof(ElfW(Addr)) / sizeof(*table));
    const uint32_t *chains = buckets + num_buckets;
    uint32_t last          = 0;
    uint32_t i;

    for (i = 0; i < num_buckets; ++i) {
        last = (buckets[i] > last) ? buckets[i] : last;
    }
    if (last < first) {
        return first;
    }
    while (!(chains[last - first] & 1)) {
        ++last;
    }
    return (size_t)last + 1;
}

static void ucm_elf_dynamic(ucm_elf_t *elf, const ElfW(Dyn) * dyn)
{
    for (; dyn->d_tag != DT_NULL; ++dyn) {
        const void *pointer = ucm_elf_pointer(elf->base, dyn->d_un.d_ptr);

        switch (dyn->d_tag) {
        case DT_SYMTAB:
            elf->symbols = pointer;
            break;
        case DT_STRTAB:
            elf->strings = pointer;
            break;
        case DT_HASH:
            elf->num_symbols = ((const uint32_t *)pointer)[1];
            break;
        case DT_GNU_HASH:
            if (elf->num_symbols == 0) {
                elf->num_symbols = ucm_elf_gnu_count(pointer);
            }
            break;
        case DT_JMPREL:
            elf->plt_relocs = pointer;
            break;
        case DT_PLTRELSZ:
            elf->plt_size = dyn->d_un.d_val;
            break;
        case DT_PLTREL:
            elf->reloc_size = (dyn->d_un.d_val == DT_RELA) ?
                                  sizeof(ElfW(Rela)) :
                                  sizeof(ElfW(Rel));
            break;
        case DT_RELA:
        case DT_REL:
            elf->relocs = pointer;
            break;
        case DT_RELASZ:
        case DT_RELSZ:
            elf->relocs_size = dyn->d_un.d_val;
            break;
        case DT_RELAENT:
        case DT_RELENT:
            elf->reloc_size = dyn->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static int ucm_elf_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    const ucm_elf_walk_t *walk = arg;
    const ElfW(Dyn) *dynamic   = NULL;
    ucm_elf_t elf;
    unsigned i;

    (void)size;
    memset(&elf, 0, sizeof(elf));
    elf.name      = (info->dlpi_name != NULL) ? info->dlpi_name : "";
    elf.base      = info->dlpi_addr;
    elf.phdrs     = info->dlpi_phdr;
    elf.num_phdrs = info->dlpi_phnum;
    for (i = 0; i < elf.num_phdrs; ++i) {
        if (elf.phdrs[i].p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)(elf.base + elf.phdrs[i].p_vaddr);
        }
    }

    /* skip the kernel's own object (vDSO), which must not be changed */
    if ((dynamic == NULL) ||
        ucm_elf_has(&elf, (const void *)getauxval(AT_SYSINFO_EHDR))) {
        return 0;
    }

    ucm_elf_dynamic(&elf, dynamic);
    if ((elf.symbols == NULL) || (elf.strings == NULL)) {
        return 0;
    }
    return walk->cb(&elf, walk->arg);
}

int ucm_elf_each(ucm_elf_cb_t cb, void *arg)
{
    ucm_elf_walk_t walk = {.cb = cb, .arg = arg};

    return dl_iterate_phdr(ucm_elf_one, &walk);
}

int ucm_elf_has(const ucm_elf_t *elf, const void *address)
{
    unsigned i;

    for (i = 0; i < elf->num_phdrs; ++i) {
        const ElfW(Phdr) *phdr = &elf->phdrs[i];

        if ((phdr->p_type == PT_LOAD) &&
            ((uintptr_t)address - (elf->base + phdr->p_vaddr) <
             phdr->p_memsz)) {
            return 1;
        }
    }
    return 0;
}
