/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program without address space randomization. The thread sanitizer of
 * some compilers ends a program before main() if the kernel has mapped memory
 * at unexpected addresses (vm.mmap_rnd_bits above 28), so a program cannot do
 * this itself.
 */
#include <stdio.h>
#include <sys/personality.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int old = personality(0xffffffff);

    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGUMENT]...\n", argv[0]);
        return 2;
    }
    /* Containers may forbid it: then run the program without the change */
    if (old != -1) {
        (void)personality((unsigned long)old | ADDR_NO_RANDOMIZE);
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 2;
}
