#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clients: a program builds against the installed library, by pkg-config and by
# CMake, with the package names of the reference (the distribution's UCX). It runs,
# and it needs libraries only by the reference's sonames, so that it runs on either
# library. MPI programs run over the installation with LD_LIBRARY_PATH only: the
# installed library finds its own plugins.
#   installed.sh SOURCE-ROOT BUILD-ROOT
set -euo pipefail
here=$1/tests/clients/build build_root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

# Runs a command quietly; shows its output only if it fails.
quietly()
{
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

# runs PROGRAM: checks that it runs over the installed library
runs()
{
    LD_LIBRARY_PATH=$libdir "$1" | grep -q '^1\.20\.0: ' ||
        fail "$1 does not run on the installed library"
}

# check PROGRAM: it runs, and needs only sonames and symbols of the reference
check()
{
    runs "$1"
    if readelf -d "$1" | grep -E 'NEEDED.*-core'; then
        fail "$1 asks for the core's own libraries"
    fi
    for name in ucp uct ucs ucm; do
        readelf -d "$1" | grep -q "NEEDED.*lib$name\.so\.0" ||
            fail "$1 does not ask for lib$name.so.0"
    done
    if nm -D --undefined-only "$1" | grep -E ' uc[mpst]_.*@'; then
        fail "$1 asks for versions that the reference has not"
    fi
}

DESTDIR=$work/root quietly meson install -C "$build_root" --no-rebuild
config=$(find "$work/root" -name ucx.pc)
[ -n "$config" ] || fail "no ucx.pc is installed"
libdir=$(dirname "$(dirname "$config")")
PKG_CONFIG_PATH=$(dirname "$config")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root UCX_TLS=self
UCX_PLUGIN_PATH=$libdir/ucx/plugins
export UCX_PLUGIN_PATH
unset LD_LIBRARY_PATH

for name in ucx ucx-ucp ucx-uct ucx-ucs; do
    [ "$(pkg-config --modversion "$name")" = 1.20.0 ] || fail "no $name.pc"
    pkg-config --cflags --libs "$name" >/dev/null
done
# shellcheck disable=SC2046 # several words
quietly cc -Wall -Werror $(pkg-config --cflags ucx) "$here/program.c" \
    -o "$work/program" $(pkg-config --libs ucx) "-Wl,-rpath-link,$libdir"
check "$work/program"

# A library that needs libucp.so.0, like that of an MPI. A program that links with
# it must get the libraries of LD_LIBRARY_PATH, even if the system has another UCX.
# shellcheck disable=SC2046 # several words
quietly cc -shared -fPIC -Dmain=between $(pkg-config --cflags ucx) \
    "$here/program.c" -o "$work/libbetween.so" $(pkg-config --libs ucx)
echo 'int between(void); int main(void) { return between(); }' >"$work/user.c"
LD_LIBRARY_PATH=$libdir cc -fuse-ld=bfd -Wl,--verbose "$work/user.c" \
    -o "$work/user" "-L$work" -lbetween "-Wl,-rpath,$work" >"$work/log" 2>&1 ||
    true # the check below shows which library was linked
for name in ucp uct ucs ucm; do
    grep -q "^found lib$name\.so\.0 at $libdir/" "$work/log" ||
        fail "the linker passes by lib$name.so.0 in LD_LIBRARY_PATH"
done
runs "$work/user"

if command -v cmake >/dev/null; then
    quietly cmake -S "$here" -B "$work/cmake" -DCMAKE_SKIP_RPATH=ON \
        -Ducx_DIR="$libdir/cmake/ucx" \
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath-link,$libdir"
    quietly cmake --build "$work/cmake"
    check "$work/cmake/program"
else
    echo "no cmake here: its files are not tested" >&2
fi
echo "what could be built runs"

[ -d "$libdir/ucx/plugins/shm" ] || exit 0
prefix=$(sed -n 's/^prefix=//p' "$config")
unset UCX_PLUGIN_PATH UCX_TLS
status=0
"$1/tests/clients/run" --prefix "$prefix" --staged "$work/root" --only hello ||
    status=$?
# 77: no MPI is installed, or there are no namespaces; the output states the reason
[ $status -eq 0 ] || [ $status -eq 77 ] || fail "not over the installation"
