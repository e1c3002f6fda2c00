# What the scripts in this folder share; sourced, not run.
# shellcheck shell=bash

# Kernels and the part of the initramfs that does not depend on the project
# outlive a build tree, so they are kept outside of it.
cache_dir() {
    printf '%s\n' "${BPF_WINDOW_VM_CACHE:-${XDG_CACHE_HOME:-/var/cache}/bpf_window-vm}"
}

# Progress goes to standard error: standard output carries results.
progress() {
    printf '# vm: %s\n' "$*" >&2
}

# The usage: the head of the script.
help() {
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
    exit 0
}

die() {
    printf 'vm: %s\n' "$*" >&2
    exit 2
}
