dnl BPF_WINDOW_CHECK_LIBRRD
dnl librrd draws the graphs; without it `bpf-window graph` is left out.
AC_DEFUN([BPF_WINDOW_CHECK_LIBRRD], [
  AC_ARG_WITH([librrd],
    [AS_HELP_STRING([--without-librrd], [leave out what draws graphs])],
    [], [with_librrd=yes])
  have_librrd=no
  AS_IF([test "$with_librrd" != no],
    [PKG_CHECK_MODULES([LIBRRD], [librrd >= 1.5], [have_librrd=yes],
      [AC_MSG_ERROR([librrd not found (Debian: apt-get install librrd-dev; or --without-librrd to do without graphs)])])])
  AM_CONDITIONAL([HAVE_LIBRRD], [test "$have_librrd" = yes])
])
