#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# sdk: plugins build alone. Installs this build into an empty folder. Builds
# plugins/tcp, the plugins cuda, rocm and ze (which need the SDK's static library)
# and the installed template against that SDK with pkg-config only. The installed
# ucx-plugins lists and probes those that need no driver. The documents for plugin
# authors are installed, and their links lead to installed files. A plugin with
# its own prefix installs nothing outside of it.
#   standalone_plugins.sh SOURCE-ROOT BUILD-ROOT
set -euo pipefail
source_root=$1 build_root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }

# Runs a command quietly; shows its output only if it fails.
quietly()
{
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }
}

DESTDIR=$work/root quietly meson install -C "$build_root" --no-rebuild
pkgconfig=$(dirname "$(find "$work/root" -name ucx-plugin-sdk.pc)")
for name in ucx-plugin-sdk ucs-core uct-core ucp-core; do
    [ -f "$pkgconfig/$name.pc" ] || fail "no $name.pc is installed"
done
libdir=$(dirname "$pkgconfig")
export PKG_CONFIG_PATH=$pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
export LD_LIBRARY_PATH=$libdir
unset UCX_TLS

# Build copies outside of the source tree: no folder above belongs to this project.
cp -r "$source_root"/plugins/{cuda,rocm,tcp,ze} "$work"
cp -r "$work/root$(pkg-config --variable=templatedir ucx-plugin-sdk |
    sed "s|^$work/root||")" "$work/template"
for name in cuda rocm tcp ze template; do
    quietly meson setup "$work/$name/build" "$work/$name"
    quietly ninja -C "$work/$name/build"
    DESTDIR=$work/plugins quietly meson install -C "$work/$name/build" \
        --no-rebuild
    library=$(find "$work/plugins" -name "libucx-$name.so")
    if readelf -d "$library" | grep -E 'NEEDED.*(ucs|uct|ucp)-core'; then
        fail "$library links the core"
    fi
done

quietly meson setup "$work/template/elsewhere" "$work/template" \
    --prefix=/opt/vendor
DESTDIR=$work/vendor quietly meson install -C "$work/template/elsewhere"
# pkg-config may put the folder of DESTDIR in front of the paths, hence `*`.
outside=$(cd "$work/vendor" && find . -type f ! -path '*/opt/vendor/*')
[ -z "$outside" ] || fail "installed outside of --prefix: $outside"
(cd "$work/vendor" && find . -path '*/ucx/plugins/template/*.so') |
    grep -q . || fail "nothing was installed below --prefix"

# Links of the documents, relative to each.
documents=$(dirname "$(find "$work/root" -name ABI.md)")/..
for document in sdk/README.md sdk/ABI.md sdk/CODES.md sdk/conformance/README.md \
                sdk/template/README.md sdk/examples/README.md \
                sdk/examples/{opaque,procvm,udp}/README.md docs/GLOSSARY.md; do
    [ -f "$documents/$document" ] || fail "$document is not installed"
    while read -r link; do
        [ -e "$(dirname "$documents/$document")/$link" ] ||
            fail "$document: $link is not installed"
    done < <(grep -o '](\([^):#]*\)' "$documents/$document" | cut -c3-)
done

tool=$(find "$work/root" -name ucx-plugins -type f -perm /111)
[ -n "$tool" ] || fail "ucx-plugins is not installed"
UCX_PLUGIN_PATH=$(dirname "$(dirname "$library")")
export UCX_PLUGIN_PATH
"$tool" list | tee "$work/list"
for name in tcp template; do
    grep -q "^$name .*available.*$UCX_PLUGIN_PATH/$name" "$work/list" ||
        fail "$name, built alone, is not available"
    "$tool" probe "$name"
done

kit=$(find "$work/root" -name ucx-plugin-check -type f -perm /111)
if [ -n "$kit" ]; then
    quietly "$kit" "$UCX_PLUGIN_PATH/template/template.json"
fi

# A client program builds against the installed library as README.md describes.
# shellcheck disable=SC2046 # several flags
quietly cc -D_GNU_SOURCE "$source_root/sdk/examples/hello.c" \
    "$source_root/sdk/examples/exchange.c" \
    $(pkg-config --cflags --libs ucp-core) -o "$work/hello"
echo "hello, built with pkg-config ucp-core:"
mkfifo "$work/said"
timeout 30 "$work/hello" - 0 >"$work/said" &
waiting=$!
exec 3<"$work/said"
read -r line <&3
timeout 30 "$work/hello" 127.0.0.1 "${line##* }"
cat <&3
wait "$waiting"
