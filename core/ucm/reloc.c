/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes the tables through which loaded objects call each other. This works
 * on all machines whose relocation types are defined below and for every kind
 * of code, but does not see calls inside one object, such as free() -> munmap()
 * in the C library (see heap.c). dlopen() is among the changed names, so that
 * objects loaded later are changed as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ucm/internal.h"

#if defined(__x86_64__)
#define RELOC_SLOT   R_X86_64_JUMP_SLOT
#define RELOC_GLOBAL R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define RELOC_SLOT   R_AARCH64_JUMP_SLOT
#define RELOC_GLOBAL R_AARCH64_GLOB_DAT
#elif defined(__powerpc64__)
#define RELOC_SLOT   R_PPC64_JMP_SLOT
#define RELOC_GLOBAL R_PPC64_GLOB_DAT
#elif defined(__riscv)
#define RELOC_SLOT   R_RISCV_JUMP_SLOT
#define RELOC_GLOBAL R_RISCV_64
#else
#define RELOC_SLOT   0
#define RELOC_GLOBAL 0
#endif

#if __SIZEOF_POINTER__ == 8
#define RELOC_TYPE(_info)   ELF64_R_TYPE(_info)
#define RELOC_SYMBOL(_info) ELF64_R_SYM(_info)
#else
#define RELOC_TYPE(_info)   ELF32_R_TYPE(_info)
#define RELOC_SYMBOL(_info) ELF32_R_SYM(_info)
#endif

#define RELOC_NAMES_MAX 16

static pthread_mutex_t reloc_lock = PTHREAD_MUTEX_INITIALIZER;
static ucm_reloc_t reloc_names[RELOC_NAMES_MAX];
static atomic_uint reloc_count; /* names are added, never removed */

typedef void *(*reloc_dlopen_t)(const char *, int);
static _Atomic(reloc_dlopen_t) reloc_real_dlopen;

ucs_status_t ucm_reloc_add(const ucm_reloc_t *reloc)
{
    ucs_status_t status = UCS_OK;
    unsigned i;

    pthread_mutex_lock(&reloc_lock);
    for (i = 0;
         (i < reloc_count) && (strcmp(reloc_names[i].name, reloc->name) != 0);
         ++i) {
    }
    if (i < RELOC_NAMES_MAX) {
        reloc_names[i] = *reloc;
        reloc_count    = (i == reloc_count) ? i + 1 : reloc_count;
    } else {
        status = UCS_ERR_EXCEEDS_LIMIT;
    }
    pthread_mutex_unlock(&reloc_lock);
    return status;
}

/* --- One slot ------------------------------------------------------------ */

/* Returns whether the dynamic linker write-protects the slot after
 * relocation. */
static int reloc_is_relro(const ucm_elf_t *elf, const void *slot)
{
    unsigned i;

    for (i = 0; i < elf->num_phdrs; ++i) {
        const ElfW(Phdr) *phdr = &elf->phdrs[i];

        if ((phdr->p_type == PT_GNU_RELRO) &&
            ((uintptr_t)slot - (elf->base + phdr->p_vaddr) < phdr->p_memsz)) {
            return 1;
        }
    }
    return 0;
}

/*
 * Stores the value in the slot, with write access to the page if necessary. A
 * page that is already writable keeps its protection: it may belong to an
 * object that another thread is loading.
 */
static int reloc_store(const ucm_elf_t *elf, void *slot, void *value)
{
    void *page  = (void *)((uintptr_t)slot & ~(uintptr_t)(ucm_page_size() - 1));
    int protect = 0;
    int prot;

    if (__atomic_load_n((void **)slot, __ATOMIC_RELAXED) == value) {
        return 1;
    }

    if (reloc_is_relro(elf, slot)) {
        prot = ucm_maps_prot(slot);
        if ((prot < 0) || !(prot & PROT_WRITE)) {
            if (mprotect(page, ucm_page_size(), PROT_READ | PROT_WRITE) != 0) {
                return 0;
            }
            protect = 1;
        }
    }

    __atomic_store_n((void **)slot, value, __ATOMIC_SEQ_CST);
    if (protect) {
        (void)mprotect(page, ucm_page_size(), PROT_READ);
    }
    return 1;
}

/* --- One object ---------------------------------------------------------- */

typedef struct reloc_walk {
    unsigned failures;
} reloc_walk_t;

static void reloc_entry(const ucm_elf_t *elf, const ElfW(Rel) * entry,
                        reloc_walk_t *walk)
{
    const unsigned long type = RELOC_TYPE(entry->r_info);
    const char *name;
    unsigned i;

    if ((type != RELOC_SLOT) && (type != RELOC_GLOBAL)) {
        return;
    }

    name = elf->strings + elf->symbols[RELOC_SYMBOL(entry->r_info)].st_name;
    for (i = 0; i < reloc_count; ++i) {
        if ((strcmp(name, reloc_names[i].name) == 0) &&
            !ucm_elf_has(elf, reloc_names[i].keep) &&
            !reloc_store(elf, (void *)(elf->base + entry->r_offset),
                         reloc_names[i].value)) {
            ++walk->failures;
        }
    }
}

static void reloc_table(const ucm_elf_t *elf, const void *table, size_t size,
                        reloc_walk_t *walk)
{
    const char *p   = table;
    const char *end = p + size;

    if ((table == NULL) || (elf->reloc_size == 0)) {
        return;
    }
    for (; p < end; p += elf->reloc_size) {
        /* ElfW(Rela) begins with the members of ElfW(Rel) */
        reloc_entry(elf, (const ElfW(Rel) *)(const void *)p, walk);
    }
}

static int reloc_object(const ucm_elf_t *elf, void *arg)
{
    reloc_table(elf, elf->plt_relocs, elf->plt_size, arg);
    reloc_table(elf, elf->relocs, elf->relocs_size, arg);
    return 0;
}

ucs_status_t ucm_reloc_apply(void)
{
    reloc_walk_t walk = {.failures = 0};

    if (RELOC_SLOT == 0) {
        return UCS_ERR_UNSUPPORTED;
    }

    pthread_mutex_lock(&reloc_lock);
    (void)ucm_elf_each(reloc_object, &walk);
    pthread_mutex_unlock(&reloc_lock);
    return (walk.failures == 0) ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

/* --- Objects that are loaded later --------------------------------------- */

static reloc_dlopen_t reloc_dlopen_real(void)
{
    reloc_dlopen_t real = atomic_load(&reloc_real_dlopen);

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_DEFAULT, "dlopen");
        atomic_store(&reloc_real_dlopen, real);
    }
    return real;
}

/*
 * dlopen() depends on its caller: a name without a folder is searched in the
 * run path of the calling object. If UCM calls dlopen(), it searches the run
 * path of UCM instead, so this function searches the folders of the caller's
 * run path first. The list of these folders also contains the default folders,
 * in the order of dlopen().
 */
static void *reloc_dlopen_at(reloc_dlopen_t real, const char *filename,
                             int flag, const void *caller)
{
    void *result = NULL, *object;
    Dl_info info;
    Dl_serinfo size, *list;
    char *path;
    unsigned i;

    if ((dladdr(caller, &info) == 0) || (info.dli_fname == NULL)) {
        return NULL;
    }
    object = real(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL) {
        object = real(NULL, RTLD_LAZY); /* the program itself */
    }
    if ((object == NULL) || (dlinfo(object, RTLD_DI_SERINFOSIZE, &size) != 0)) {
        goto out_close;
    }

    list = malloc(size.dls_size);
    if (list == NULL) {
        goto out_close;
    }
    list->dls_size = size.dls_size;
    list->dls_cnt  = size.dls_cnt;
    if (dlinfo(object, RTLD_DI_SERINFO, list) != 0) {
        goto out_free;
    }

    for (i = 0; (i < list->dls_cnt) && (result == NULL); ++i) {
        if (asprintf(&path, "%s/%s", list->dls_serpath[i].dls_name, filename) <
            0) {
            break;
        }
        if (access(path, R_OK) == 0) {
            result = real(path, flag);
        }
        free(path);
    }

out_free:
    free(list);
out_close:
    if (object != NULL) {
        dlclose(object);
    }
    return result;
}

void *ucm_reloc_dlopen(const char *filename, int flag, const void *caller)
{
    reloc_dlopen_t real = reloc_dlopen_real();
    void *result        = NULL;

    if (real == NULL) {
        return NULL;
    }

    if ((filename != NULL) && (strchr(filename, '/') == NULL) &&
        (filename[0] != '\0') && ucm_opts()->dlopen_process_rpath) {
        result = real(filename, flag | RTLD_NOLOAD); /* already loaded */
        if ((result == NULL) && !(flag & RTLD_NOLOAD)) {
            result = reloc_dlopen_at(real, filename, flag, caller);
        }
    }
    if (result == NULL) {
        result = real(filename, flag);
    }
    if ((result != NULL) && (reloc_count > 0)) {
        (void)ucm_reloc_apply();
    }
    return result;
}

void *ucm_dlopen(const char *filename, int flag)
{
    return ucm_reloc_dlopen(filename, flag, __builtin_return_address(0));
}
