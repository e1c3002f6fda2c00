#!/bin/bash
# Makes the initramfs of one guest.
#
#   initramfs.sh --modules DIR --job FILE --output FILE
#
# SOURCE_DIR and BUILD_DIR (environment) are put into it at the same absolute
# paths as here. The archive is a row of three: the machine's own programs
# (kept in the cache, made again when a package of the machine changes), the
# project, and the guest's init with the kernel's modules and the job. Nothing
# is compressed: to unpack it under emulation would take longer than to read it.

set -eu

here=$(dirname "$(realpath "$0")")
# shellcheck source=SCRIPTDIR/common.sh
. "$here/common.sh"

# Debian packages whose commands the guest has. Busybox fills in the rest, but
# the tests are written for the same tools as on the host.
packages=(
    bash dash coreutils diffutils findutils grep sed mawk gzip
    util-linux util-linux-extra mount procps e2fsprogs libcap2-bin
    bpftool jq rrdtool collectd-core collectd-utils
)

# collectd has some 150 plugins with libraries of their own; these are the ones
# that a test may load.
collectd_plugins=(
    aggregation cpu csv exec interface load logfile match_regex memory network
    rrdtool syslog target_set threshold unixsock uptime
    write_graphite write_http write_log write_prometheus
)

# Modules that tests need where the kernel has them not built in.
kernel_modules=(crc32c_generic ext4 loop overlay fuse)

data_files=(
    /usr/share/collectd/types.db /usr/lib/terminfo/l/linux /usr/lib/terminfo/v/vt220
    /etc/ld.so.cache
)

# Libraries that these programs need, and their loader. A plugin whose library
# is not installed names none for it: collectd would refuse it on the host too.
libraries_of() {
    # Scripts among the files make ldd complain: they need none.
    ldd "$@" 2>/dev/null | sed -nE 's,^.*[[:space:]](/[^ ]+) \(0x[0-9a-f]+\)$,\1,p' | sort -u || true
}

# Copies files into a new root. Their folders are resolved, so that no archive
# of the row has a folder where another one has a symbolic link (/lib).
add_files() {
    local root=$1 folder file target
    local -a members
    shift
    # One copy for each folder: one for each file takes half a minute.
    while IFS= read -r folder; do
        members=()
        for file; do
            if [ "${file%/*}" = "$folder" ]; then
                members+=("$file")
            fi
        done
        target=$root$(realpath "$folder")
        mkdir -p "$target"
        # A command may be a link to another place (alternatives): the guest
        # needs what it leads to.
        cp -L -t "$target" "${members[@]}"
    done < <(printf '%s\n' "${@%/*}" | sort -u)
}

# Packs a root into an archive of the kind that the kernel unpacks.
pack() {
    (cd "$1" && find . -mindepth 1 | sort | cpio --quiet --reproducible -R 0:0 -o -H newc)
}

commands_of_packages() {
    local package
    for package in "${packages[@]}"; do
        # A package that is not installed leaves its tests to skip themselves.
        dpkg -L "$package" 2>/dev/null || true
    done | grep -E '^(/usr)?/s?bin/[^/]+$' | sort -u
}

make_skeleton() {
    local root=$1
    mkdir -p "$root"/{dev,etc,proc,sys,tmp,run,root,mnt,var/{lib,log,run,tmp},usr/{bin,sbin,lib,lib64}} \
        "$root"/vm/{root,modules,busybox}
    ln -s usr/bin "$root/bin"
    ln -s usr/sbin "$root/sbin"
    ln -s usr/lib "$root/lib"
    ln -s usr/lib64 "$root/lib64"
    chmod 1777 "$root/tmp" "$root/var/tmp"
    echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
    echo 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin' >>"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    printf '127.0.0.1 localhost guest\n::1 localhost\n' >"$root/etc/hosts"
    ln -s /proc/self/mounts "$root/etc/mtab"
    # The links lead to the path that busybox has on this machine.
    busybox --install -s "$root/vm/busybox"
}

make_base() {
    local root=$1 plugin file
    local -a wanted libraries files=()
    mapfile -t wanted < <(commands_of_packages)
    wanted+=("$(readlink -f "$(command -v busybox)")")
    for plugin in "${collectd_plugins[@]}"; do
        wanted+=("/usr/lib/collectd/$plugin.so")
    done
    for file in "${wanted[@]}" "${data_files[@]}"; do
        if [ -f "$file" ]; then
            files+=("$file")
        fi
    done
    mapfile -t libraries < <(libraries_of "${files[@]}")
    make_skeleton "$root"
    add_files "$root" "${files[@]}" "${libraries[@]}"
    # /bin/sh and awk are links that no package lists as files of its own.
    ln -sfn dash "$root/usr/bin/sh"
    ln -sfn mawk "$root/usr/bin/awk"
}

# Prints the path of the archive with the machine's own programs.
base_archive() {
    local cache key archive root
    cache=$(cache_dir)/base
    mkdir -p "$cache"
    key=$({ cat "$here/initramfs.sh"; dpkg-query -W; } | sha256sum | cut -c 1-16)
    archive=$cache/$key.cpio
    # Two guests that start together must not both make it.
    exec 8>"$cache/lock"
    flock 8
    if [ ! -e "$archive" ]; then
        progress "collecting the guest's programs"
        root=$work/base
        make_base "$root"
        pack "$root" >"$archive.new"
        # Another run may still be reading the one of a moment ago.
        find "$cache" -name '*.cpio' -mmin +10 -delete
        mv "$archive.new" "$archive"
    fi
    exec 8>&-
    printf '%s\n' "$archive"
}

# The path and every folder above it: the kernel makes no parents.
with_parents() {
    local path=$1
    while [ "$path" != / ]; do
        printf '%s\n' "$path"
        path=$(dirname "$path")
    done
}

# Files of a source or build tree that can matter when tests run.
tree_files() {
    find "$1" \
        \( -name .git -o -name .deps -o -name autom4te.cache -o -path "$BUILD_DIR/tests/vm" \) -prune -o \
        \( -name '*.o' ! -name '*.bpf.o' \) -o -name '*.lo' -o -name '*.a' -o \
        -name '*.gcno' -o -name '*.gcda' -o -print
}

project_archive() {
    local -a programs libraries=()
    mapfile -t programs < <(tree_files "$BUILD_DIR" | while IFS= read -r file; do
        if [ -f "$file" ] && { [ -x "$file" ] || [[ $file == *.so ]]; }; then
            printf '%s\n' "$file"
        fi
    done)
    if [ ${#programs[@]} -gt 0 ]; then
        mapfile -t libraries < <(libraries_of "${programs[@]}")
    fi
    {
        with_parents "$SOURCE_DIR"
        with_parents "$BUILD_DIR"
        tree_files "$SOURCE_DIR"
        tree_files "$BUILD_DIR"
    } | sort -u | sed 's,^/,,' |
        (cd / && cpio --quiet --reproducible -R 0:0 -o -H newc)
    if [ ${#libraries[@]} -gt 0 ]; then
        add_files "$work/libraries" "${libraries[@]}"
        pack "$work/libraries"
    fi
}

# What a module needs, from the information in the module itself: the package
# leaves modules.dep to the machine that it is installed on.
needs_of() {
    tr '\0' '\n' <"$1" | sed -nE 's/^.*\bdepends=([a-z0-9_,-]+)$/\1/p' | tr ',' '\n'
}

# Adds a module after those that it needs. One that is built in has no file.
add_module() {
    local name=$1 file target need
    case " $modules_done " in
    *" $name "*) return ;;
    esac
    modules_done="$modules_done $name"
    # File names have - where the list of needs may have _.
    file=$(find "$modules/kernel" -name "${name//_/[-_]}.ko*" -print -quit)
    [ -n "$file" ] || return 0
    target=$work/module-$name.ko
    # The guest's insmod takes plain modules only.
    case $file in
    *.xz) xz -dc "$file" >"$target" ;;
    *.zst) zstd -qdc "$file" >"$target" ;;
    *) cp "$file" "$target" ;;
    esac
    for need in $(needs_of "$target"); do
        add_module "$need"
    done
    modules_count=$((modules_count + 1))
    mv "$target" "$work/guest/vm/modules/$(printf '%02d' "$modules_count")-$name.ko"
}

guest_archive() {
    local name
    mkdir -p "$work/guest/vm/modules"
    modules_done=
    modules_count=0
    for name in "${kernel_modules[@]}"; do
        add_module "$name"
    done
    install -m 755 "$here/guest-init" "$work/guest/init"
    install -m 755 "$job" "$work/guest/vm/job"
    pack "$work/guest"
}

modules=
job=
output=
while [ $# -gt 0 ]; do
    case $1 in
    --modules) modules=$2 ;;
    --job) job=$2 ;;
    --output) output=$2 ;;
    --help) help ;;
    *) die "usage: initramfs.sh --modules DIR --job FILE --output FILE" ;;
    esac
    shift 2
done
if [ -z "$modules" ] || [ -z "$job" ] || [ -z "$output" ]; then
    die "initramfs.sh needs --modules, --job and --output"
fi
SOURCE_DIR=$(realpath "${SOURCE_DIR:?}")
BUILD_DIR=$(realpath "${BUILD_DIR:?}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=$(base_archive)
{
    cat "$base"
    project_archive
    guest_archive
} >"$output"
