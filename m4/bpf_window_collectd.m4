dnl BPF_WINDOW_CHECK_COLLECTD
dnl Finds collectd's headers (COLLECTD_CPPFLAGS) and where it loads plugins from
dnl (collectdplugindir).
AC_DEFUN([BPF_WINDOW_CHECK_COLLECTD], [
  AC_ARG_WITH([collectd-includedir],
    [AS_HELP_STRING([--with-collectd-includedir=DIR],
      [folder that holds collectd/core/daemon/plugin.h [/usr/include]])],
    [collectd_includedir=$withval], [collectd_includedir=/usr/include])
  AC_ARG_WITH([collectd-plugindir],
    [AS_HELP_STRING([--with-collectd-plugindir=DIR],
      [folder from which collectd loads plugins [LIBDIR/collectd]])],
    [collectdplugindir=$withval], [collectdplugindir='${libdir}/collectd'])
  AC_SUBST([collectdplugindir])
  COLLECTD_CPPFLAGS="-DHAVE_CONFIG_H -D_GNU_SOURCE"
  for dir in core/daemon core .; do
    COLLECTD_CPPFLAGS="$COLLECTD_CPPFLAGS -isystem $collectd_includedir/collectd/$dir"
  done
  AC_SUBST([COLLECTD_CPPFLAGS])
  AC_MSG_CHECKING([for collectd's headers])
  AS_IF([test -f "$collectd_includedir/collectd/core/daemon/plugin.h"],
    [AC_MSG_RESULT([$collectd_includedir/collectd])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([collectd/core/daemon/plugin.h not found below $collectd_includedir (Debian: apt-get install collectd-dev; elsewhere: --with-collectd-includedir=DIR)])])
])
