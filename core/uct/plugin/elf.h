/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the properties of a shared object that the plugin scan needs before
 * the object is loaded. The file is only read, not mapped or executed, and
 * every value in it is checked before it is used.
 */
#ifndef UCT_PLUGIN_ELF_H
#define UCT_PLUGIN_ELF_H

#include <stddef.h>

#include <ucs/type/status.h>

/* In bytes, including the final 0; a longer run path is cut off. */
#define UCT_ELF_RUNPATH_MAX 1024

typedef struct uct_elf {
    int bind_now; /* 1: linked with -z now; otherwise 0 */
    /* Folders of DT_RUNPATH or DT_RPATH, separated by colons, with $ORIGIN as
     * in the file; "" if the file has none */
    char runpath[UCT_ELF_RUNPATH_MAX];
} uct_elf_t;

/*
 * Reads the properties by pread() from the open file `fd`. Returns
 * UCS_ERR_UNSUPPORTED if the file is not a complete shared object for this
 * machine; `why` (of `why_size` bytes) then receives the reason.
 */
ucs_status_t uct_elf_read(int fd, uct_elf_t *elf, char *why, size_t why_size);

#endif
