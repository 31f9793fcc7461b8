#!/bin/sh
# Unpacks Debian packages into a folder, without root and without touching what the system has installed.
#
#   debian-packages.sh TABLE FOLDER PACKAGE...      PACKAGE is NAME or NAME=VERSION, where VERSION may end in a *
#
# The archive is the one that this machine's own apt sources name, main and security of its release. Package lists, status
# and downloads live in a folder of their own that is removed at the end, and apt checks every signature and hash as usual.
# A package of a version that TABLE (compilers.txt) knows must have the hash that stands there, or nothing is unpacked. Of one
# that it does not know, since the archive has moved on or has it under another release, apt's check is all there is: those are
# named on stderr.
# Progress goes to stderr; on failure, the last line says in one sentence what was tried. FOLDER may be left half filled.
# Used by ./latch (host toolchain) and by `setup/rustc_dev` (LLVM's headers).
set -eu

table=$1
folder=$2
shift 2

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

# The hash that the table has for a package of a version and an architecture; nothing where it has none.
pinned() {
    while read -r _ fact package version architecture hash; do
        if [ "$fact $package $version $architecture" = "deb $1 $2 $3" ]; then
            printf '%s\n' "$hash"
            return
        fi
    done <"$table"
}

# Holds a file NAME_VERSION_ARCHITECTURE.deb, as apt names it, to its pinned hash.
check() {
    file=${1##*/}
    name=${file%%_*}
    version=$(printf '%s\n' "${file#*_}" | sed 's/_[^_]*$//; s/%3a/:/')
    architecture=${file##*_}
    wanted=$(pinned "$name" "$version" "${architecture%.deb}")
    if [ -z "$wanted" ]; then
        unknown="$unknown $name=$version"
        return
    fi
    found=$(sha256sum <"$1") || fail "cannot hash $file: sha256sum does not run"
    [ "${found%% *}" = "$wanted" ] ||
        fail "$file is not to be trusted: its SHA-256 is ${found%% *}, and it should be $wanted; nothing was unpacked:" \
            "see which archive this machine's apt sources name"
}

printf 'reading the package lists of Debian %s\n' "$codename" >&2
# One unreachable or unsigned source need not matter: whether the packages are there decides.
apt update || true
printf 'downloading %s packages from Debian\n' "$#" >&2
(cd "$work/debs" && apt download "$@") || because "Debian's archive did not give the packages $*"
unknown=
for deb in "$work"/debs/*.deb; do
    check "$deb"
done
[ -z "$unknown" ] ||
    printf 'not known to Latch by their hash, so held to the signature of Debian alone, by apt:%s\n' "$unknown" >&2
printf 'unpacking\n' >&2
for deb in "$work"/debs/*.deb; do
    dpkg -x "$deb" "$folder" 2>>"$work/log" || fail "cannot unpack ${deb##*/} into $folder: $(tail -n 1 "$work/log")"
done
