#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All files of the kit compile with the installed headers alone, but those that
# includes.txt names.
#   installed.sh KIT BUILD-ROOT LIST COMPILER...
set -euo pipefail
kit=$1 build_root=$2 list=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/root meson install -C "$build_root" --no-rebuild --tags devel \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name ucx-plugin-sdk.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$work/root
read -ra flags < <(pkg-config --cflags ucx-plugin-sdk uct-core)

# The copies have nothing of this project above them.
cp "$kit"/*.[ch] "$work"
while IFS=: read -r file _; do
    case $file in
    *.c) rm -f "$work/$file" ;;
    *.h) echo "$file is a header: all files that include it need the core" >&2
         exit 1 ;;
    esac
done <"$list"
"$@" -std=gnu11 -D_GNU_SOURCE -Wall -Werror -fsyntax-only "${flags[@]}" \
    "$work"/*.c
echo "$(find "$work" -maxdepth 1 -name '*.c' | wc -l) files compile"
