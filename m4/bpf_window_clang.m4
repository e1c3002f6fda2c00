dnl BPF_WINDOW_PROG_CLANG_BPF
dnl Finds a clang that compiles for BPF (BPF_CC) and the flags with which it finds
dnl the kernel's UAPI headers (BPF_CPPFLAGS) and the target (BPF_CFLAGS).
AC_DEFUN([BPF_WINDOW_PROG_CLANG_BPF], [
  AC_REQUIRE([AC_CANONICAL_HOST])
  AC_ARG_VAR([BPF_CC], [clang with the bpf target])
  AC_PATH_PROGS([BPF_CC], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])
  AS_IF([test -z "$BPF_CC"],
    [AC_MSG_ERROR([clang not found; it compiles the BPF programs (Debian: apt-get install clang)])])
  AC_SUBST([BPF_CC])
  BPF_CC_VERSION=$("$BPF_CC" --version | sed -n '1s/.*version \([[0-9.]]*\).*/\1/p')

  AS_CASE([$host_cpu],
    [x86_64|i?86], [bpf_window_arch=x86],
    [aarch64], [bpf_window_arch=arm64],
    [arm*], [bpf_window_arch=arm],
    [powerpc*], [bpf_window_arch=powerpc],
    [riscv64], [bpf_window_arch=riscv],
    [bpf_window_arch=$host_cpu])
  dnl The bpf target does not search the multiarch folder that holds <asm/types.h>.
  bpf_window_multiarch=$($CC -print-multiarch 2>/dev/null)
  AS_IF([test -n "$bpf_window_multiarch" && test -d "/usr/include/$bpf_window_multiarch"],
    [BPF_CPPFLAGS="-D__TARGET_ARCH_$bpf_window_arch -idirafter /usr/include/$bpf_window_multiarch"],
    [BPF_CPPFLAGS="-D__TARGET_ARCH_$bpf_window_arch"])
  dnl v3: value-returning atomics. BPF_PROG gives every program parameters it may not use.
  BPF_CFLAGS="-target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Wno-unused-parameter"
  AC_SUBST([BPF_CPPFLAGS])
  AC_SUBST([BPF_CFLAGS])

  AC_MSG_CHECKING([whether $BPF_CC compiles for BPF with value-returning atomics])
  cat > conftest.c <<EOF
#include <linux/types.h>
__u64 cursor;
__u64 f(void) { return __sync_val_compare_and_swap(&cursor, 1, 2); }
EOF
  AS_IF([$BPF_CC $BPF_CFLAGS $BPF_CPPFLAGS -c conftest.c -o conftest.o 2>conftest.err],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     cat conftest.err >&AS_MESSAGE_LOG_FD
     AC_MSG_ERROR([$BPF_CC cannot compile for BPF (see config.log); install clang 12 or newer with the bpf target, and linux-libc-dev])])
  rm -f conftest.c conftest.o conftest.err
])
