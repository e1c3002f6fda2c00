dnl BPF_WINDOW_CHECK_NCURSES
dnl The wide-character ncurses draws `bpf-window watch`.
AC_DEFUN([BPF_WINDOW_CHECK_NCURSES], [
  PKG_CHECK_MODULES([NCURSESW], [ncursesw >= 6.0], [],
    [AC_MSG_ERROR([ncursesw not found (Debian: apt-get install libncurses-dev)])])
])
