#!/bin/bash
# Runs the tests on other kernels, in virtual machines.
#
#   run.sh [--short] [--preempt MODE] [--timeout S] [KERNEL...]
#     Runs the suites of the table below and prints their results as TAP. --short: the
#     second table, and races of a few seconds; for the run that has all other suites, too.
#   run.sh --command 'CMD' KERNEL [-- BOOT-OPTION...]
#     Runs one command in a guest: its output is the output here, its exit
#     status the exit status here (124: out of time, 125: the kernel
#     complained, 126: the emulator failed, try again or with --take-turns). The options
#     are those of boot.sh, such as --icount, --smp 2,maxcpus=255, --memory 2G,
#     --cmdline 'lsm=lockdown', --timeout 60.
#   run.sh --shell KERNEL [-- BOOT-OPTION...]
#     Gives a shell in a guest; leave it with "exit", or Ctrl-A X.
#
# Environment: BUILD_DIR, a finished build; SOURCE_DIR, by default the tree
# that this file is in. Both are in the guest, at the same paths. Kernels are
# those of the table in kernels.sh.
#
# Exit status with suites: 0 unless there is a "not ok"; 77 if all was skipped.

set -eu -o pipefail

here=$(dirname "$(realpath "$0")")
# shellcheck source=SCRIPTDIR/common.sh
. "$here/common.sh"

default_kernels=(5.10 6.1 6.12 6.18 newest 6.18+cpus)
short_kernels=(newest 6.1 6.12 5.10)

# The table of suites: what runs on which kernel. Behind a + stands another
# machine than the usual one.
suites_of() {
    case $1 in
    # Too old for the project: all there is to see is that it says so.
    5.10) echo refusal ;;
    *+cpus) echo bpf windows faults ;;
    *) echo bpf windows collectd policy faults ;;
    esac
}

# The programs in BPF and the policy depend on the kernel most, the rest is seen
# on the oldest and on the newest.
short_suites_of() {
    case $1 in
    5.10) echo refusal ;;
    6.1) echo bpf policy collectd ;;
    newest) echo bpf policy windows faults ;;
    *) echo bpf policy ;;
    esac
}

# Options of boot.sh for it.
machine_of() {
    case $1 in
    *+cpus) echo "--smp 16 --cmdline maxcpus=2" ;; # 16 are possible, two run
    *+*) return 1 ;;
    *) echo ;;
    esac
}

# Two guests at a time keep two cores busy; more only make each one slower.
guests_at_a_time=2

# Under emulation, and with another guest beside it.
suite_limit=1500

# How often a guest that the emulator failed (boot.sh, status 126) is started: at last
# in the way in which it cannot fail like that.
tries=3

# Why no guest can run on this machine, or nothing.
obstacle() {
    local tool
    if [ "$(uname -m)" != x86_64 ]; then
        echo "the virtual machines are for x86-64 only"
    fi
    for tool in qemu-system-x86_64 busybox cpio xz flock pgrep; do
        command -v "$tool" >/dev/null || echo "$tool is not installed"
    done
    # The guest's first program has no libraries yet.
    if command -v busybox >/dev/null && ldd "$(command -v busybox)" >/dev/null 2>&1; then
        echo "busybox is not linked statically (Debian: busybox-static)"
    fi
}

suite_job() {
    local suite
    if [ -n "$preempt" ]; then
        # Without this check a kernel that ignores the word would pass for one
        # that was tested with it.
        cat <<JOB
if ! grep -qs '($preempt)' /sys/kernel/debug/sched/preempt; then
    echo 'ok - vm: preempt=$preempt # SKIP this kernel has no such mode'
    exit 77
fi
JOB
    fi
    [ -z "$short" ] || echo 'export RACE_SECONDS=1 RACE_COPIES=100000 STRESS_SECONDS=3'
    echo 'set -o pipefail'
    # shellcheck disable=SC2016 # for the guest to expand
    printf '"$SOURCE_DIR"/tests/run.sh --no-build --tap'
    for suite; do
        printf ' %q' "$suite"
    done
    # In the log, results then stand among the kernel's messages.
    echo ' | tee /dev/console'
}

# Boots a kernel with a job (shell text) in an initramfs of its own; the other
# arguments are boot.sh's.
run_job() {
    local kernel=$1 vmlinuz=$2 modules=$3 text=$4 job initrd status=0
    shift 4
    job=$(mktemp "$work/job.XXXXXX")
    initrd=$(mktemp "$work/initrd.XXXXXX")
    {
        printf 'export SOURCE_DIR=%q BUILD_DIR=%q IN_VM=1 KERNEL=%q\n' "$SOURCE_DIR" "$BUILD_DIR" "$kernel"
        printf '%s\n' "$text"
    } >"$job"
    SOURCE_DIR=$SOURCE_DIR BUILD_DIR=$BUILD_DIR \
        "$here/initramfs.sh" --modules "$modules" --job "$job" --output "$initrd" || return 125
    "$here/boot.sh" --kernel "$vmlinuz" --initrd "$initrd" "$@" || status=$?
    rm -f "$job" "$initrd"
    return "$status"
}

# One result line of a kernel; it gets its number later.
result() {
    printf '%s - [%s] %s\n' "$1" "$2" "$3"
}

# Results of a guest under the name of its kernel. Everything else that it
# prints is in the log.
relay() {
    local label=$1 line pattern='^(not ok|ok)( +[0-9]+)?( +-)?( +(.*))?$'
    while IFS= read -r line; do
        if [[ $line =~ $pattern ]]; then
            result "${BASH_REMATCH[1]}" "$label" "${BASH_REMATCH[5]}"
        elif [[ $line == '#'* && $line != '# ok'* && $line != '# not ok'* ]]; then
            printf '# [%s] %s\n' "$label" "${line#\# }"
        fi
    done
}

# All results of one kernel.
test_kernel() {
    local name=$1 vmlinuz=$2 modules=$3 label=$1 log tap errors suite status try started=$SECONDS
    local -a suites=() machine options=(--timeout "$suite_limit")
    local table=${short:+short_}suites_of
    if [ -n "$preempt" ]; then
        label="$name preempt=$preempt"
        options+=(--cmdline "preempt=$preempt")
    fi
    read -ra machine < <(machine_of "$name")
    options+=("${machine[@]}")
    if [ "$vmlinuz" = - ]; then
        result ok "$label" "vm: boot # SKIP $modules"
        return
    fi
    for suite in $("$table" "$name"); do
        if [ -d "$SOURCE_DIR/tests/$suite" ]; then
            suites+=("$suite")
        fi
    done
    if [ ${#suites[@]} -eq 0 ]; then
        result ok "$label" "vm: boot # SKIP the source tree has none of its suites: $("$table" "$name")"
        return
    fi
    log=$logs/${label// /-}.console
    tap=$logs/${label// /-}.tap
    errors=$logs/${label// /-}.errors
    for ((try = 1; try <= tries; try++)); do
        progress "[$label] runs ${suites[*]}"
        [ "$try" -lt "$tries" ] || options+=(--take-turns)
        status=0
        run_job "$name" "$vmlinuz" "$modules" "$(suite_job "${suites[@]}")" \
            --log "$log" "${options[@]}" 2>"$errors" |
            tee "$tap" | relay "$label" || status=$?
        [ "$status" -eq 126 ] || break
        # Its results so far hold; those of the next try come again from the start.
        printf '# [%s] vm: try %d: %s\n' "$label" "$try" "$(tail -n 1 "$errors")"
    done
    judge "$label" "$status" "$log" "$tap" "$errors"
    progress "[$label] took $((SECONDS - started)) s, $(begin_value uptime "$log") s of them to boot"
}

# Value of a key in the guest's first line on the console.
begin_value() {
    sed -nE "s/^#@@ guest begin .*\b$1=([^ ]+).*/\1/p" "$2" | tr -d '\r'
}

# Whether the guest as a whole did what it was to do.
judge() {
    local label=$1 status=$2 log=$3 tap=$4 errors=$5
    if [ "$status" -eq 77 ]; then
        return
    elif [ "$status" -ne 0 ]; then
        result "not ok" "$label" "vm: the run ended with status $status, see $log"
        sed 's/^/# /' "$errors"
    elif ! grep -qE '^(not )?ok\b' "$tap"; then
        result "not ok" "$label" "vm: the run has no result, see $log"
    else
        result ok "$label" "vm: ran to its end on $(begin_value kernel "$log"), no complaint from the kernel"
    fi
}

# Gives the results their numbers, counts them and makes the exit status.
number() {
    local line count=0 failed=0 skipped=0
    while IFS= read -r line; do
        case $line in
        'ok - '* | 'not ok - '*)
            count=$((count + 1))
            case $line in
            not*) failed=$((failed + 1)) ;;
            *'# SKIP'*) skipped=$((skipped + 1)) ;;
            esac
            printf '%sok %d - %s\n' "${line%%ok - *}" "$count" "${line#*ok - }"
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
    echo "1..$count"
    if [ "$failed" -gt 0 ]; then
        return 1
    elif [ "$skipped" -eq "$count" ]; then
        return 77
    fi
}

run_suites() {
    local name vmlinuz modules pid
    local -A names=()
    for name; do
        # The kernel's name; the harness' one is put in its place.
        "$here/kernels.sh" "${name%+*}" | sed "s/^[^\t]*/$name/"
    done >"$work/kernels"
    while IFS=$'\t' read -r name vmlinuz modules; do
        while [ "$(jobs -rp | wc -l)" -ge "$guests_at_a_time" ]; do
            wait -n || true
        done
        test_kernel "$name" "$vmlinuz" "$modules" </dev/null &
        names[$!]=$name
    done <"$work/kernels"
    for pid in "${!names[@]}"; do
        # A kernel without results must not pass for one without failures.
        wait "$pid" || result "not ok" "${names[$pid]}" "vm: the harness failed"
    done
}

# --command and --shell: one kernel, which must be there.
run_one() {
    local text=$1 name=$2 vmlinuz modules
    shift 2
    if [ "${1:-}" = -- ]; then
        shift
    fi
    IFS=$'\t' read -r name vmlinuz modules < <("$here/kernels.sh" "$name")
    [ "$vmlinuz" != - ] || die "kernel $name: $modules"
    run_job "$name" "$vmlinuz" "$modules" "$text" "$@"
}

# What the command and the kernel wrote to the console is shown at the end.
run_command() {
    local log=$work/console status=0
    run_one "$@" --log "$log" || status=$?
    tr -d '\r' <"$log" | sed '1,/^#@@ guest begin/d; /^#@@ guest end/,$d; /^$/d' >&2
    return "$status"
}

run_shell() {
    # The job has no terminal; the console is one.
    run_one 'exec setsid cttyhack bash -i </dev/ttyS0 >/dev/ttyS0 2>&1' "$@" --interactive
}

mode=suites
command=
preempt=
short=
while [ $# -gt 0 ]; do
    case $1 in
    --short) short=yes; shift; continue ;;
    --preempt) preempt=${2:?--preempt needs a mode} ;;
    --timeout) suite_limit=${2:?--timeout needs seconds} ;;
    --command) mode=command command=${2:?--command needs a command} ;;
    --shell) mode=shell; shift; continue ;;
    --help) help ;;
    -*) die "unknown option $1 (see $here/run.sh --help)" ;;
    *) break ;;
    esac
    shift 2
done

SOURCE_DIR=$(realpath "${SOURCE_DIR:-$here/../..}")
BUILD_DIR=$(realpath "${BUILD_DIR:?the folder of a finished build}")
logs=$BUILD_DIR/tests/vm/logs
mkdir -p "$logs"

why=$(obstacle)
if [ -n "$why" ]; then
    echo "# ${why//$'\n'/; }"
    exit 77
fi

work=$(mktemp -d "$BUILD_DIR/tests/vm/work.XXXXXX")
# A guest must not go on when its results go nowhere.
end_children() {
    local child
    for child in $(pgrep -P "$1"); do
        end_children "$child"
        kill "$child" 2>/dev/null || true
    done
}
trap 'end_children $$; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ "$mode" = suites ] || [ $# -gt 0 ] || die "--$mode needs a kernel"
# The shell takes a signal at once only while it waits.
case $mode in
suites)
    if [ $# -eq 0 ]; then
        [ -z "$short" ] || default_kernels=("${short_kernels[@]}")
        set -- "${default_kernels[@]}"
    fi
    for name; do
        machine_of "$name" >/dev/null || die "$name: no machine of this name in run.sh"
    done
    run_suites "$@" | number &
    wait $!
    ;;
command)
    run_command "$command" "$@" &
    wait $!
    ;;
shell) run_shell "$@" ;;
esac
