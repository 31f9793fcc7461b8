#!/bin/sh
# Makes a Rust toolchain from Debian's packages (rustc-web and its kin, libllvmNN for the LLVM it links), without root.
#
#   debian-toolchain.sh VERSION FOLDER        VERSION is a row of compilers.txt
#                                             FOLDER is where rustup looks for it: .../toolchains/VERSION-HOST
#
# It is put together beside FOLDER's parent and renamed into place when it runs, so that FOLDER is whole or not there, and a
# part left by an interrupted run is thrown away by the next. The compiler finds its sysroot from the place of
# librustc_driver, hence that file's move to lib/. No file has a path to libraries in it: rustup's proxies, and whoever calls
# the compiler by hand, set LD_LIBRARY_PATH to FOLDER/lib.
# Wrong where the archive has moved on to another version: then the packages are not found, and this says so.
set -eu

version=$1
toolchain=$2
toolchains=${toolchain%/*}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
table=$here/compilers.txt
partial=${toolchains%/*}/latch-$version.partial
usr=$partial/usr
libraries=$usr/lib/$(uname -m)-linux-gnu
oldest_cargo=85 # 1.85 is the first that reads edition 2024

fetch() {
    sh "$here/debian-packages.sh" "$table" "$partial" "$@"
}

# What the table says of this compiler.
fact() {
    sed -n "s/^$version $1 //p" "$table"
}

# An installed cargo, stable before others: it carries its libraries in itself. Nothing where there is none.
installed_cargo() {
    for cargo in "$toolchains"/stable-*/bin/cargo "$toolchains"/*/bin/cargo; do
        minor=$("$cargo" -V 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
        if [ "${minor:-0}" -ge $oldest_cargo ]; then
            printf '%s\n' "$cargo"
            return
        fi
    done
}

# The shared libraries that the toolchain needs and neither it nor the system has.
missing_libraries() {
    LD_LIBRARY_PATH=$usr/lib ldd "$usr/bin/cargo" "$usr/bin/rustc" "$usr"/lib/*.so* 2>/dev/null |
        sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u
}

# Adds those libraries from the packages that Debian 12 has them in, and says which are still missing after that.
add_missing_libraries() {
    command -v ldd >/dev/null && [ -n "$(missing_libraries)" ] || return 0
    fetch libedit2 libbsd0 libmd0 libz3-4 libxml2 libicu72 libffi8 libzstd1 libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 \
        libmbedtls14 libmbedx509-1 libssh2-1 libpcre2-8-0 libsqlite3-0 libcurl4 libnghttp2-14 libidn2-0 librtmp1 libpsl5 \
        libldap-2.5-0 libsasl2-2 libbrotli1 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libkeyutils1 || return 0
    # A library that was added may need another.
    for _ in 1 2 3 4 5; do
        for name in $(missing_libraries); do
            for found in "$libraries/$name" "$partial/lib/${libraries##*/}/$name"; do
                [ ! -e "$found" ] || cp -L "$found" "$usr/lib/$name"
            done
        done
    done
    left=$(missing_libraries | tr '\n' ' ')
    [ -z "$left" ] || printf 'the toolchain needs libraries that this system lacks: %s\n' "$left" >&2
}

rm -rf "$partial"
mkdir -p "$partial" "$toolchains"
cargo=$(installed_cargo)
fetch "rustc-web=$version*" "libstd-rust-web-${version%.*}=$version*" "libstd-rust-web-dev=$version*" \
    "rust-web-src=$version*" "rustfmt-web=$version*" "rust-web-clippy=$version*" "libllvm$(fact llvm)" \
    $([ -n "$cargo" ] || echo "cargo-web=$version*")
[ -z "$cargo" ] || cp "$cargo" "$usr/bin/cargo"

mv "$libraries"/librustc_driver-*.so "$libraries/$(fact debian-llvm)" "$usr/lib/"
ln -s "$(fact debian-llvm)" "$usr/lib/libLLVM-$(fact llvm).so"
add_missing_libraries
rm -rf "$libraries" "$usr/share"

if ! LD_LIBRARY_PATH=$usr/lib "$usr/bin/rustc" -V >/dev/null || ! LD_LIBRARY_PATH=$usr/lib "$usr/bin/cargo" -V >/dev/null; then
    printf 'the compiler from the packages does not run here\n' >&2
    exit 1
fi
echo "Rust $version from Debian's packages, put together by Latch. Safe to remove: ./latch makes it anew." >"$usr/.made-by-latch"
mv "$usr" "$toolchain"
rm -rf "$partial"
