# SPDX-License-Identifier: BSD-3-Clause
# Shell functions of sdk/quickstart and tests/run (bash): what must be on the
# machine, and how to get it. Sourced, never run. Says nothing and touches no
# network when nothing is missing.

missing_packages=()

# have_header NAME: can the compiler find it?
have_header()
{
    printf '#include <%s>\n' "$1" | cc -E -x c - >/dev/null 2>&1
}

# have_library FILE: can the loader find it?
have_library()
{
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep "^[[:space:]]*$1 " >/dev/null
}

# need PACKAGE WHY TEST...: notes the package unless the test succeeds
need()
{
    local package=$1 why=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing_packages+=("$package")
        printf 'missing: %-20s %s\n' "$package" "$why"
    fi
}

# have_program NAME: is it there, for root perhaps?
have_program()
{
    PATH=$PATH:/sbin:/usr/sbin command -v "$1"
}

need_to_build()
{
    need gcc             "the C compiler"              command -v cc
    need libc6-dev       "the C library's headers"     have_header stdio.h
    need meson           "configures the build"        command -v meson
    need ninja-build     "runs the build"              command -v ninja
    need pkg-config      "finds libraries"             command -v pkg-config
    need libjansson-dev  "reads plugin manifests"      have_header jansson.h
    need libelf-dev      "reads plugin libraries"      have_header gelf.h
    need libltdl-dev     "loads plugins"               have_header ltdl.h
}

need_to_test()
{
    need check           "runs the unit tests"         have_header check.h
    need clang           "second compiler of the ABI test, and the fuzzers" \
                                                       command -v clang
    need strace          "shows which plugins are loaded" command -v strace
    need iproute2        "joins network namespaces"    command -v ip
    need abigail-tools   "compares the plugin ABI"     command -v abidiff
    need clang-format-14 "checks the layout"       command -v clang-format-14
    need clang-tidy-14   "checks for faults"       command -v clang-tidy-14
    need codespell       "checks the spelling"         command -v codespell
    need doxygen         "builds the API reference"    command -v doxygen
    need gnuplot-nox     "draws the benchmarks' results" command -v gnuplot
    need python3         "some test programs"          command -v python3
    need openmpi-bin     "runs MPI programs"           command -v mpirun.openmpi
    need libopenmpi-dev  "builds MPI programs"         command -v oshcc
    need mpich           "runs MPI programs"           command -v mpirun.mpich
    need libmpich-dev    "builds MPI programs"         command -v mpicc.mpich
    need ucx-utils       "has io_demo, a program to run" command -v io_demo
    need libucx-dev      "has example programs, to compile" \
        test -e /usr/share/doc/libucx-dev/examples/ucp_hello_world.c
    need g++             "compiles the headers as C++" command -v g++
    need cmake           "builds against the package"  command -v cmake
    # RDMA, and a virtual machine that has it in software
    need libibverbs-dev    "builds the ib plugin"  have_header infiniband/verbs.h
    need librdmacm-dev     "builds rdmacm of the ib plugin" \
                                                   have_header rdma/rdma_cma.h
    need ibverbs-providers "drivers of RDMA devices" \
                                           have_library libmlx5.so.1
    need libfabric-dev     "builds the ugni plugin" have_header rdma/fabric.h
    need libze-dev         "builds the ze plugin" have_header level_zero/ze_api.h
    need qemu-system-x86   "runs a virtual machine" \
                                           command -v qemu-system-x86_64
    need busybox-static    "starts the virtual machine" command -v busybox
    need cpio              "packs its first files" command -v cpio
    need kmod              "orders its modules"    have_program modprobe
    need debhelper         "builds the Debian packages" command -v dh
    need dpkg-dev          "builds the Debian packages" command -v dpkg-buildpackage
    need lintian           "checks the Debian packages" command -v lintian
    need rpm               "reads the RPM spec file" command -v rpmspec
    # heaps that programs put in the place of the C library's
    need libjemalloc2    "a heap to watch"       have_library libjemalloc.so.2
    need libmimalloc2.0  "a heap to watch"       have_library libmimalloc.so.2
    need libtcmalloc-minimal4 "a heap to watch" \
                                           have_library libtcmalloc_minimal.so.4
    need libgoogle-perftools4 "a heap to watch"  have_library libtcmalloc.so.4
}

# install_missing: installs what need() noted, or says what a person must do
install_missing()
{
    local as_root=() log

    if [ ${#missing_packages[@]} -eq 0 ]; then
        return 0
    fi
    if ! command -v apt-get >/dev/null; then
        echo "This is no Debian: install the equivalents of the packages above," \
             "then start again." >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "As root, run: apt-get install ${missing_packages[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    log=$(mktemp)
    echo "installing: ${missing_packages[*]}"
    if ! "${as_root[@]}" apt-get update >"$log" 2>&1 ||
       ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${missing_packages[@]}" >>"$log" 2>&1 \
            </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        echo "Could not install them. Without a network, install by hand:" \
             "${missing_packages[*]}" >&2
        return 1
    fi
    rm -f "$log"
    missing_packages=()
}
