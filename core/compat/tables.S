/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of an earlier size. A program that reads a table has a copy of it
 * (copy relocation), with the size that the table had when the program was
 * linked; the dynamic linker warns if the table is larger now. Therefore a
 * program that requests no symbol version gets this table, whose size is that
 * of the OpenUCX release in distributions (1.13). Other programs get the table
 * of core/ucs/type/names.c (see compat.map).
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
        .globl  early_memory_type_names
        .type   early_memory_type_names, %object
        .symver early_memory_type_names, ucs_memory_type_names@UCX_1.13, remove
early_memory_type_names:
        .quad   host, cuda, cuda_managed, rocm, rocm_managed, unknown, 0
        .size   early_memory_type_names, . - early_memory_type_names
        .quad   0, 0, 0, 0

        .section .note.GNU-stack, "", %progbits
