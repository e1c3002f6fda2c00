#!/bin/bash
# Finds or fetches kernels to boot.
#
#   kernels.sh [--refresh] NAME...
#
# Prints one line for each name, fields separated by tabs:
#   NAME  path of vmlinuz  folder of its modules
#   NAME  -  why this kernel cannot be had
# A kernel that is in the cache is used as it is; --refresh looks for a newer
# one of the same name.
#
# The kernels are Debian's for cloud machines: they have BTF and the BPF LSM,
# and are small. They are fetched by apt with a state of its own, so the
# machine's package lists stay as they are.

set -eu

here=$(dirname "$(realpath "$0")")
# shellcheck source=SCRIPTDIR/common.sh
. "$here/common.sh"

cache=$(cache_dir)

# The table of kernels: version (a prefix), then the archive's suites that
# have it. "any" takes the highest version there is.
kernel_source() {
    case $1 in
    5.10) echo "5.10 bullseye" ;;
    6.1) echo "6.1 bookworm bookworm-security" ;;
    6.12) echo "6.12 trixie trixie-security" ;;
    6.18) echo "6.18 trixie-backports" ;;
    newest) echo "any trixie-backports" ;;
    *) return 1 ;;
    esac
}

# The archive's address is the one that this machine uses already.
archive_uri() {
    local label=Debian
    case $1 in
    *-security) label=Debian-Security ;;
    esac
    # awk reads to the end: leaving early would break the pipe for apt-get.
    # shellcheck disable=SC2016 # $(…) is apt's own syntax here
    apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -F '|' -v label="$label" '$1 == label && !uri { uri = $2 } END { print uri }'
}

# apt with a private state for one kernel name. The machine's pinning must not
# choose between the versions, nor its list of installed packages.
private_apt() {
    local state=$1 tool=$2
    shift 2
    "$tool" -q \
        -oDir::State="$state" -oDir::State::status="$state/status" \
        -oDir::Cache="$state/cache" \
        -oDir::Etc::sourcelist="$state/sources.list" -oDir::Etc::sourceparts=/dev/null \
        -oDir::Etc::preferences=/dev/null -oDir::Etc::preferencesparts=/dev/null \
        -oAPT::Sandbox::User=root -oAcquire::Retries=2 -oAcquire::http::Timeout=60 "$@"
}

# Writes the sources of the given suites and reads their package lists.
update_lists() {
    local state=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg option='' suite uri
    shift
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    : >"$state/sources.list"
    if [ -e "$keyring" ]; then
        option="[signed-by=$keyring] "
    fi
    for suite; do
        uri=$(archive_uri "$suite")
        if [ -n "$uri" ]; then
            echo "deb $option$uri $suite main" >>"$state/sources.list"
        fi
    done
    if [ ! -s "$state/sources.list" ]; then
        why="no package list of Debian's archive on this machine (apt-get update may help)"
        return 1
    fi
    # One suite of two may be gone; whether the kernel is there shows later.
    private_apt "$state" apt-get update >"$state/log" 2>&1 || true
}

# Releases of this version that the lists have an image of, newest first.
releases() {
    local state=$1 version=$2 pattern
    case $version in
    any) pattern='[0-9.]+' ;;
    *) pattern="${version//./\\.}(\\.[0-9]+)*" ;;
    esac
    # pkgnames would also list packages that others only mention. The part
    # after the version leaves out the package that depends on the newest one.
    private_apt "$state" apt-cache dumpavail |
        sed -nE "s/^Package: linux-image-(${pattern}[-+](deb)?[0-9]+-cloud-amd64)\$/\1/p" |
        sort -Vru | head -n 5
}

# Packages that make up one kernel: the image holds all of it, or is split
# (from about 6.19 on).
parts_of() {
    local state=$1 release=$2
    private_apt "$state" apt-cache dumpavail |
        sed -nE "s/^Package: (linux-(image|binary|modules)-${release//[.+]/[&]})\$/\1/p" | sort -u
}

# Unpacks the packages in $1/deb to $1/kernel: vmlinuz and modules/, wherever
# the packages have them.
unpack() {
    local work=$1 release=$2 deb file
    mkdir "$work/kernel"
    for deb in "$work"/deb/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
    done
    for file in "$work"/root/{,usr/}lib/modules/"$release"; do
        if [ -d "$file" ]; then
            mv "$file" "$work/kernel/modules"
        fi
    done
    for file in "$work/root/boot/vmlinuz-$release" "$work/kernel/modules/vmlinuz"; do
        if [ -e "$file" ]; then
            mv "$file" "$work/kernel/vmlinuz"
        fi
    done
    [ -e "$work/kernel/vmlinuz" ] && [ -d "$work/kernel/modules/kernel" ]
}

# Downloads one release into kernels/RELEASE; it appears there whole or not at
# all.
fetch() {
    local state=$1 release=$2 work=$cache/kernels/.new packages
    if [ -d "$cache/kernels/$release" ]; then
        return 0
    fi
    rm -rf "$work"
    mkdir -p "$work/deb" "$work/root"
    mapfile -t packages < <(parts_of "$state" "$release")
    progress "downloading ${packages[*]}"
    if ! (cd "$work/deb" && private_apt "$state" apt-get download "${packages[@]}") >>"$state/log" 2>&1; then
        why="${packages[*]} could not be downloaded, see $state/log"
        return 1
    fi
    if ! unpack "$work" "$release"; then
        why="${packages[*]}: no kernel image or no modules in there"
        return 1
    fi
    mv "$work/kernel" "$cache/kernels/$release"
    rm -rf "$work"
}

# Makes the kernel of this name available and notes its release in names/NAME;
# sets $why if that fails.
provide() {
    local name=$1 state source release
    state=$cache/apt/$name
    read -ra source < <(kernel_source "$name")
    mkdir -p "$cache/kernels" "$cache/names"
    progress "looking for kernel $name in ${source[*]:1}"
    update_lists "$state" "${source[@]:1}" || return 1
    why="no cloud kernel of version ${source[0]} in ${source[*]:1}, see $state/log"
    for release in $(releases "$state" "${source[0]}"); do
        if fetch "$state" "$release"; then
            echo "$release" >"$cache/names/$name"
            return 0
        fi
    done
    return 1
}

report() {
    local name=$1 kernel
    if ! kernel_source "$name" >/dev/null; then
        printf '%s\t-\t%s\n' "$name" "no kernel of this name in kernels.sh"
        return
    fi
    if [ "$refresh" = yes ] || [ ! -e "$cache/names/$name" ]; then
        # Offline, an older kernel in the cache is better than none.
        if ! provide "$name" && [ ! -e "$cache/names/$name" ]; then
            printf '%s\t-\t%s\n' "$name" "$why"
            return
        fi
    fi
    kernel=$cache/kernels/$(cat "$cache/names/$name")
    printf '%s\t%s\t%s\n' "$name" "$kernel/vmlinuz" "$kernel/modules"
}

[ "${1:-}" != --help ] || help
refresh=no
why=
if [ "${1:-}" = --refresh ]; then
    refresh=yes
    shift
fi
[ $# -gt 0 ] || die "usage: kernels.sh [--refresh] NAME... (see --help)"

mkdir -p "$cache"
# Two runs at a time must not fetch the same kernel into each other's folders.
exec 9>"$cache/lock"
flock 9
for name; do
    report "$name"
done
