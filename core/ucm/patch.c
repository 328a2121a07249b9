/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patches the first instructions of a function while other threads may run it
 * (x86-64; other machines change tables only, see reloc.c).
 *
 * A thread may be stopped between any two instructions. Therefore no byte is
 * changed at which a thread could continue, except the first byte of the
 * function:
 *
 *   whole   the first instruction has 5 bytes or more, and one store can change
 *           the first 5: they become "jmp hook"
 *   short   else, if it has 2 bytes or more: a "jmp hook" is written to padding
 *           that never runs, after a nearby function; then the first 2 bytes
 *           become a short jump to the padding, by one store
 *   alone   neither is possible, but there is no other thread
 *
 * The jump leads to a page that UCM maps within the reach of the jump, and from
 * there to the hook, which may be anywhere. A leading "endbr64" is kept.
 */
#include "ucm/internal.h"

#if defined(__x86_64__) && defined(__LP64__)

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JMP_LENGTH     5
#define SHORT_LENGTH   2
#define FUNCTION_ALIGN 16
#define NEAR_REACH     0x7ff00000l /* range of a 32-bit jump, minus a margin */
#define NEAR_STEP      0x100000l
#define NEAR_PAGES     4

#define MEMBARRIER_SYNC_CORE          32 /* private, expedited */
#define MEMBARRIER_REGISTER_SYNC_CORE 64

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Code "notrack jmp *1(%rip)", followed by a byte of padding; and the address
 * to which it jumps. */
typedef struct near_slot {
    uint8_t code[8];
    uint64_t target;
} near_slot_t;

_Static_assert(sizeof(near_slot_t) == 16, "slots follow each other");

static const uint8_t near_code[8] = {0x3e, 0xff, 0x25, 1, 0, 0, 0, 0xcc};
static near_slot_t *near_pages[NEAR_PAGES];

static int in_reach(const void *from, const void *to)
{
    intptr_t distance = (intptr_t)to - (intptr_t)from;

    return (distance < NEAR_REACH) && (distance > -NEAR_REACH);
}

static void *near_page_try(const void *entry, intptr_t step)
{
    const uintptr_t wish = ((uintptr_t)entry & ~(uintptr_t)(NEAR_STEP - 1)) +
                           (uintptr_t)step;
    void *page;

    page = ucm_orig_mmap((void *)wish, ucm_page_size(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                         0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    if (!in_reach(entry, page)) { /* an older kernel ignores
                                   * MAP_FIXED_NOREPLACE */
        ucm_orig_munmap(page, ucm_page_size());
        return NULL;
    }
    return page;
}

/* Maps a free page within reach of `entry`. Searches downwards first: the stack
 * may grow into addresses above. */
static void *near_page_map(const void *entry)
{
    void *page = NULL;
    intptr_t step;

    for (step = NEAR_STEP; (page == NULL) && (step < NEAR_REACH);
         step += NEAR_STEP) {
        page = near_page_try(entry, -step);
    }
    for (step = NEAR_STEP; (page == NULL) && (step < NEAR_REACH);
         step += NEAR_STEP) {
        page = near_page_try(entry, step);
    }
    return page;
}

/* Returns a page that contains jumps to all hooks and is within reach of
 * `entry`. */
static near_slot_t *near_slots(const void *entry, const char **reason)
{
    near_slot_t *slots = NULL;
    unsigned i, call;

    for (i = 0; (i < NEAR_PAGES) && (near_pages[i] != NULL); ++i) {
        if (in_reach(entry, near_pages[i])) {
            return near_pages[i];
        }
    }

    if (i < NEAR_PAGES) {
        slots = near_page_map(entry);
    }
    if (slots == NULL) {
        *reason = "no page is free within reach of a jump";
        return NULL;
    }

    for (call = 0; call < UCM_CALL_LAST; ++call) {
        memcpy(slots[call].code, near_code, sizeof(near_code));
        slots[call].target = (uint64_t)(uintptr_t)ucm_call_patched(call);
    }
    if (mprotect(slots, ucm_page_size(), PROT_READ | PROT_EXEC) != 0) {
        *reason = "the system forbids new code";
        ucm_orig_munmap(slots, ucm_page_size());
        return NULL;
    }

    near_pages[i] = slots;
    return slots;
}

/* --- Writing ------------------------------------------------------------- */

/* Returns whether one atomic store can change `length` bytes at `code`. */
static int fits_store(const uint8_t *code, size_t length)
{
    return (((uintptr_t)code & 7) + length) <= 8;
}

/* Makes earlier stores visible to other threads, also as instructions. If the
 * kernel does not support membarrier(), this does nothing: the caller has just
 * changed the protection of the page, which has the same effect. */
static void sync_cores(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_REGISTER_SYNC_CORE, 0, 0) == 0) {
        (void)syscall(SYS_membarrier, MEMBARRIER_SYNC_CORE, 0, 0);
    }
}

/* Excluded from the thread sanitizer, which has no shadow memory for code. */
__attribute__((no_sanitize("thread"))) static void
store_bytes(uint8_t *code, const uint8_t *bytes, size_t length)
{
    uint64_t *word = (uint64_t *)((uintptr_t)code & ~(uintptr_t)7);
    union {
        uint64_t word;
        uint8_t bytes[8];
    } value;
    size_t i;

    if (!fits_store(code, length)) {
        for (i = 0; i < length; ++i) {
            ((volatile uint8_t *)code)[i] = bytes[i];
        }
        return;
    }

    value.word = *word;
    for (i = 0; i < length; ++i) {
        value.bytes[((uintptr_t)code & 7) + i] = bytes[i];
    }
    __atomic_store_n(word, value.word, __ATOMIC_SEQ_CST);
}

static int write_code(uint8_t *code, const uint8_t *bytes, size_t length,
                      const char **reason)
{
    const uintptr_t mask  = ucm_page_size() - 1;
    const uintptr_t start = (uintptr_t)code & ~mask;
    const size_t size     = (((uintptr_t)code + length + mask) & ~mask) - start;
    int prot              = ucm_maps_prot(code);

    prot = (prot < 0) ? (PROT_READ | PROT_EXEC) : prot;
    if (mprotect((void *)start, size, PROT_READ | PROT_WRITE | PROT_EXEC) !=
        0) {
        *reason = "the system forbids to change code";
        return 0;
    }

    store_bytes(code, bytes, length);
    (void)mprotect((void *)start, size, prot);
    sync_cores();
    return 1;
}

static void make_jmp(uint8_t *bytes, const uint8_t *from, const void *to)
{
    int32_t distance = (int32_t)((intptr_t)to - (intptr_t)(from + JMP_LENGTH));

    bytes[0] = 0xe9;
    memcpy(bytes + 1, &distance, sizeof(distance));
}

/* --- A place for a jump in padding --------------------------------------- */

typedef struct filler_search {
    const uint8_t *entry; /* function that needs the jump */
    uint8_t *filler;
} filler_search_t;

/* Returns whether all bytes up to `end` are padding. */
static int is_filler(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *op = p;
        unsigned length   = ucm_x86_length(p);

        while ((*op == 0x66) || (*op == 0x2e)) {
            ++op;
        }
        if ((length == 0) || (p + length > end) ||
            !((*op == 0x90) || (*op == 0xcc) ||
              ((op[0] == 0x0f) && (op[1] == 0x1f)))) {
            return 0;
        }
        p += length;
    }
    return 1;
}

static int filler_try_symbol(filler_search_t *search, uint8_t *end)
{
    const uintptr_t mask = FUNCTION_ALIGN - 1;
    uint8_t *next        = (uint8_t *)(((uintptr_t)end + mask) & ~mask);
    intptr_t distance    = end - (search->entry + SHORT_LENGTH);

    if ((next - end < JMP_LENGTH) || (distance < -128) || (distance > 127) ||
        !is_filler(end, next)) {
        return 0;
    }
    search->filler = end;
    return 1;
}

/* Searches padding after an exported function of the same object, up to the
 * next address at which a function may begin. */
static int filler_search_one(const ucm_elf_t *elf, void *arg)
{
    filler_search_t *search = arg;
    size_t i;

    if (!ucm_elf_has(elf, search->entry)) {
        return 0;
    }

    for (i = 0; i < elf->num_symbols; ++i) {
        const ElfW(Sym) *symbol = &elf->symbols[i];
        uintptr_t end = elf->base + symbol->st_value + symbol->st_size;

        if ((ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) &&
            (symbol->st_shndx != SHN_UNDEF) && (symbol->st_size > 0) &&
            (end - (uintptr_t)search->entry + 256 < 512) &&
            filler_try_symbol(search, (uint8_t *)end)) {
            return 1;
        }
    }
    return 1;
}

/* --- The first instruction ----------------------------------------------- */

/* Returns the target if the code is a jump of another interceptor, else
 * NULL. */
static void *jump_target(const uint8_t *code)
{
    int32_t distance;
    void *target;

    if (code[0] == 0xe9) { /* jmp near */
        memcpy(&distance, code + 1, sizeof(distance));
        return (void *)(code + JMP_LENGTH + distance);
    }
    if ((code[0] == 0xff) && (code[1] == 0x25)) { /* jmp *(%rip) */
        memcpy(&distance, code + 2, sizeof(distance));
        memcpy(&target, code + 6 + distance, sizeof(target));
        return target;
    }
    if ((code[0] == 0x49) && (code[1] == 0xbb) && /* mov to %r11 */
        (code[10] == 0x41) && (code[11] == 0xff) && (code[12] == 0xe3)) {
        memcpy(&target, code + 2, sizeof(target)); /* jmp *%r11 */
        return target;
    }
    return NULL;
}

/* Returns whether the process has one thread: /proc/self/task has one folder
 * for each thread, and its link count is then 3. */
static int is_alone(void)
{
    struct stat st;

    return (stat("/proc/self/task", &st) == 0) && (st.st_nlink == 3);
}

static uint8_t *skip_fixed(uint8_t *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

    if (memcmp(code, endbr, sizeof(endbr)) == 0) {
        code += sizeof(endbr);
    }
    while (code[0] == 0xeb) { /* short jump to a long jump of an interceptor */
        code += SHORT_LENGTH + (int8_t)code[1];
    }
    return code;
}

static ucs_status_t patch_whole(uint8_t *code, const void *slot,
                                const char **reason)
{
    uint8_t bytes[JMP_LENGTH];

    make_jmp(bytes, code, slot);
    return write_code(code, bytes, JMP_LENGTH, reason) ? UCS_OK :
                                                         UCS_ERR_UNSUPPORTED;
}

static ucs_status_t patch_short(uint8_t *code, const void *slot,
                                const char **reason)
{
    filler_search_t search = {.entry = code, .filler = NULL};
    uint8_t bytes[JMP_LENGTH];

    (void)ucm_elf_each(filler_search_one, &search);
    if (search.filler == NULL) {
        *reason = "its first instruction is too short, and there is no room "
                  "near by";
        return UCS_ERR_UNSUPPORTED;
    }

    make_jmp(bytes, search.filler, slot);
    if (!write_code(search.filler, bytes, JMP_LENGTH, reason)) {
        return UCS_ERR_UNSUPPORTED;
    }

    bytes[0] = 0xeb;
    bytes[1] = (uint8_t)(search.filler - (code + SHORT_LENGTH));
    return write_code(code, bytes, SHORT_LENGTH, reason) ? UCS_OK :
                                                           UCS_ERR_UNSUPPORTED;
}

ucs_status_t ucm_patch(ucm_call_t call, void *entry,
                       ucm_patch_publish_t publish, const char **reason)
{
    uint8_t *code   = skip_fixed(entry);
    unsigned length = ucm_x86_length(code);
    near_slot_t *slots;
    ucs_status_t status;

    slots = near_slots(code, reason);
    if (slots == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }

    publish(call, jump_target(code));
    if ((length >= JMP_LENGTH) && fits_store(code, JMP_LENGTH)) {
        return patch_whole(code, &slots[call], reason);
    }
    if ((length >= SHORT_LENGTH) && fits_store(code, SHORT_LENGTH)) {
        status = patch_short(code, &slots[call], reason);
    } else {
        status  = UCS_ERR_UNSUPPORTED;
        *reason = "its first instruction is not known";
    }
    if ((status != UCS_OK) && is_alone()) {
        status = patch_whole(code, &slots[call], reason);
    }
    return status;
}

#else /* not x86-64 */

unsigned ucm_x86_length(const uint8_t *code)
{
    return 0;
}

ucs_status_t ucm_patch(ucm_call_t call, void *entry,
                       ucm_patch_publish_t publish, const char **reason)
{
    *reason = "this kind of machine is not known";
    return UCS_ERR_UNSUPPORTED;
}

#endif
