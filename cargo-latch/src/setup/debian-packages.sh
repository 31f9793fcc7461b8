#!/bin/sh
# Unpacks Debian packages into a folder, without root and without touching what the system has installed.
#
#   debian-packages.sh FOLDER PACKAGE...      PACKAGE is NAME or NAME=VERSION, where VERSION may end in a *
#
# The archive is the one that this machine's own apt sources name, main and security of its release. Package lists, status
# and downloads live in a folder of their own that is removed at the end, and apt checks every signature and hash as usual.
# Progress goes to stderr; on failure, the last line says in one sentence what was tried. FOLDER may be left half filled.
# Used by ./latch (host toolchain) and by `setup/rustc_dev` (LLVM's headers).
set -eu

folder=$1
shift

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

os_release() {
    # shellcheck disable=SC1091
    (. /etc/os-release && eval "printf '%s' \"\${$1-}\"") 2>/dev/null || true
}

command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
    fail "this is not a Debian system (no apt-get and dpkg), so Debian's packages cannot be used"
codename=$(os_release VERSION_CODENAME)
for keyring in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp ''; do
    [ -z "$keyring" ] || [ ! -f "$keyring" ] || break
done
[ -n "$keyring" ] && [ -n "$codename" ] ||
    fail "this is not a Debian system (no debian-archive-keyring or no release name), so Debian's packages cannot be used"

mkdir -p "$folder"
folder=$(CDPATH='' cd -- "$folder" && pwd -P)
work=$(mktemp -d "$folder/.apt-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
: >"$work/status"

# The system's sources, less everything that is not Debian's own main archive of this release.
apt-get -o Dir::State::lists="$work/lists" indextargets --no-release-info \
    --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
    while read -r kind uri release component; do
        case "$kind $release $component" in
        "Packages $codename main" | "Packages $codename-security main")
            printf 'deb [signed-by=%s] %s %s %s\n' "$keyring" "$uri" "$release" "$component"
            ;;
        esac
    done | sort -u >"$work/sources.list"
[ -s "$work/sources.list" ] ||
    fail "this machine's apt sources name no Debian archive for $codename, so Debian's packages cannot be used"

apt() {
    apt-get -q -o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" \
        -o Dir::Cache="$work/cache" -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@" >>"$work/log" 2>&1
}

because() {
    fail "$1: $(grep '^[EW]:' "$work/log" | tail -n 3 | tr '\n' ' ')(Debian $codename, main and security)"
}

printf 'reading the package lists of Debian %s\n' "$codename" >&2
# One unreachable or unsigned source need not matter: whether the packages are there decides.
apt update || true
printf 'downloading %s packages from Debian\n' "$#" >&2
(cd "$work/debs" && apt download "$@") || because "Debian's archive did not give the packages $*"
printf 'unpacking\n' >&2
for deb in "$work"/debs/*.deb; do
    dpkg -x "$deb" "$folder" 2>>"$work/log" || fail "cannot unpack ${deb##*/} into $folder: $(tail -n 1 "$work/log")"
done
