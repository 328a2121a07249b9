/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that programs hold a copy of: the dynamic linker moves them into the
 * program, by the size that they had when it was linked. So the size told here is
 * that of the release that distributions have, whose programs want them; a larger
 * one makes the dynamic linker complain. Newer programs that look behind it find
 * no name.
 */
        .section .rodata.str, "aMS", %progbits, 1
host:         .string "host"
cuda:         .string "cuda"
cuda_managed: .string "cuda-managed"
rocm:         .string "rocm"
rocm_managed: .string "rocm-managed"
unknown:      .string "unknown"

        .section .data.rel.ro, "aw", %progbits
        .p2align 3
        .globl  ucs_memory_type_names
        .type   ucs_memory_type_names, %object
ucs_memory_type_names:
        .quad   host, cuda, cuda_managed, rocm, rocm_managed, unknown, 0
        .size   ucs_memory_type_names, . - ucs_memory_type_names
        .quad   0, 0, 0, 0

        .section .note.GNU-stack, "", %progbits
