/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties of a shared object that are needed before it is loaded, read
 * from the file. Nothing is mapped for execution, and no content is trusted.
 */
#ifndef UCT_PLUGIN_ELF_H
#define UCT_PLUGIN_ELF_H

#include <stddef.h>

#include <ucs/type/status.h>

#define UCT_ELF_RUNPATH_MAX 1024

typedef struct uct_elf {
    int bind_now;                      /* linked with -z now */
    char runpath[UCT_ELF_RUNPATH_MAX]; /* "" if none */
} uct_elf_t;

/*
 * Reads the properties by pread() from `fd`. UCS_ERR_UNSUPPORTED if the file is
 * not a shared object for this machine; `why` receives the reason.
 */
ucs_status_t uct_elf_read(int fd, uct_elf_t *elf, char *why, size_t why_size);

#endif
