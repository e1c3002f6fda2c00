#!/bin/bash
# Boots one kernel, to the end of its job.
#
#   boot.sh --kernel FILE --initrd FILE --log FILE [OPTION...]
#     --cmdline TEXT   more words for the kernel's command line; may be repeated
#     --memory SIZE    default 1G
#     --smp SPEC       as for qemu, default 2; for example 2,maxcpus=255
#     --icount         one instruction is one virtual ns: counts are repeatable
#     --take-turns     the CPUs take turns in one thread: slower, and without what
#                      status 126 stands for
#     --timeout S      seconds until a guest that still runs is ended
#     --interactive    the console is here, there is no time limit, no log
#
# Standard output is the standard output of the job. The console goes to the
# log. The exit status is that of the job; 124 if time ran out; 125 if the
# guest did not get to the end or its kernel complained; 126 if the emulator is
# at fault and another try is worth it. Why is the last line on standard error.

set -eu

here=$(dirname "$(realpath "$0")")
# shellcheck source=SCRIPTDIR/common.sh
. "$here/common.sh"

# Words by which a kernel says that something is broken, in a line with its
# time stamp, so that no text of a test is taken for one.
trouble='\[ *[0-9]+\.[0-9]+\].*(BUG:|WARNING:|Oops|Kernel panic|general protection fault|kernel BUG at|int3: 0000|rcu.*stall|blocked for more than|UBSAN:|Bad page|list_(add|del) corruption)'

# Taint bits 7 (died), 9 (warned) and 14 (soft lockup): they stay even if a
# test turned the console's log level down.
taint_mask=$((1 << 7 | 1 << 9 | 1 << 14))

kernel=
initrd=
log=
cmdline=
memory=1G
smp=2
icount=no
threads=multi
limit=600
interactive=no

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --icount) icount=yes threads=single; shift; continue ;; # it goes with no other
        --take-turns) threads=single; shift; continue ;;
        --interactive) interactive=yes; shift; continue ;;
        --help) help ;;
        esac
        [ $# -ge 2 ] || die "boot.sh: $1 needs a value"
        case $1 in
        --kernel) kernel=$2 ;;
        --initrd) initrd=$2 ;;
        --log) log=$2 ;;
        --cmdline) cmdline="$cmdline $2" ;;
        --memory) memory=$2 ;;
        --smp) smp=$2 ;;
        --timeout) limit=$2 ;;
        *) die "boot.sh: unknown option $1" ;;
        esac
        shift 2
    done
    if [ -z "$kernel" ] || [ -z "$initrd" ]; then
        die "boot.sh needs --kernel and --initrd"
    fi
    if [ -z "$log" ] && [ "$interactive" = no ]; then
        die "boot.sh needs --log"
    fi
}

kernel_words() {
    # Level 5 lets warnings through and leaves out the chatter of booting,
    # which costs seconds on an emulated serial port.
    local words="console=ttyS0 loglevel=5 printk.time=1"
    # An oops must not go on as if nothing had been; the reboot that follows a
    # panic ends qemu (-no-reboot).
    words="$words oops=panic panic=-1"
    # Under emulation on a busy machine a CPU may stand still for long.
    words="$words rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60"
    # And its two clocks look uneven. A kernel that gives up the TSC for that patches
    # the code that reads the time, which is where programs in BPF are all the time.
    words="$words tsc=reliable"
    printf '%s %s\n' "$words" "$cmdline"
}

run_qemu() {
    local -a arguments=(
        -nodefaults -no-user-config -display none -no-reboot
        -accel "tcg,thread=$threads" -cpu max -m "$memory" -smp "$smp"
        -kernel "$kernel" -initrd "$initrd" -append "$(kernel_words)"
    )
    if [ "$icount" = yes ]; then
        arguments+=(-icount shift=0)
    fi
    if [ "$interactive" = yes ]; then
        exec qemu-system-x86_64 "${arguments[@]}" -serial mon:stdio -serial null
    fi
    # In the foreground, so that an interrupt from the terminal ends it too.
    timeout --foreground -k 10 "$limit" qemu-system-x86_64 "${arguments[@]}" \
        -serial "file:$log" -chardev stdio,id=result,signal=off -serial chardev:result </dev/null
}

# Value of a key in the guest's last line on the console.
end_value() {
    sed -nE "s/^#@@ guest end .*\b$1=([0-9]+).*/\1/p" "$log" | tail -n 1
}

# Prints why the guest is not to be trusted, or nothing.
complaint() {
    local line
    line=$(grep -aEm 1 "$trouble" "$log" | tr -d '\r' || true)
    if [ -n "$line" ]; then
        echo "the kernel complained: $line"
    elif [ -z "$(end_value status)" ]; then
        echo "the guest stopped before its job ended"
    elif [ $(($(end_value taint) & taint_mask)) -ne 0 ]; then
        echo "the kernel is tainted by a warning ($(end_value taint))"
    fi
}

# With more than one CPU, qemu 7.2 now and then runs a breakpoint of the kernel's
# own code patching after the kernel has taken it out again (seen while trace
# events are switched, and while the clock is): one thread translates the code while
# another one changes it. Then the dump of the code shows no breakpoint (cc) before
# the instruction that it points at; code that really holds one does.
emulator_fault() {
    grep -aEm 1 "$trouble" "$log" | grep -q 'int3: 0000' || return 1
    ! grep -am 1 'Code: ' "$log" | grep -q ' cc <'
}

parse "$@"
status=0
if [ -n "$log" ]; then
    : >"$log"
fi
run_qemu || status=$?
why=$(complaint)
if emulator_fault; then
    echo "the emulator ran a breakpoint that was not there any more" >&2
    exit 126
fi
# 137: it had to be killed.
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "no end within $limit s${why:+; $why}" >&2
    exit 124
fi
if [ -n "$why" ]; then
    echo "$why" >&2
    exit 125
fi
exit "$(end_value status)"
