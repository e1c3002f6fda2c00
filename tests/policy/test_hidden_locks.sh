#!/bin/bash
# The pitfalls again where the kernel hides the addresses of its locks, so that the
# programs' own sequences have to do (name_sequences.bpf.h). That is a setting of the whole
# machine: in a virtual machine only.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"

[ -n "${IN_VM:-}" ] || skip_all "changes kernel.kptr_restrict: in a virtual machine only"

setting=/proc/sys/kernel/kptr_restrict
before=$(cat $setting)
trap 'echo "$before" >$setting' EXIT
echo 2 >$setting
if grep -q '^0*[1-9a-f][0-9a-f]* . rename_lock$' /proc/kallsyms; then
  skip_all "kptr_restrict does not hide the locks from root on this kernel"
fi
status=0
for front in fentry syscall; do
  "$BUILD_DIR/tests/policy/test_pitfalls" $front tmpfs | sed -E '/^1\.\./d; s/^((not )?ok [0-9]+ - )/\1hidden locks: /' || status=1
done
exit "$status"
