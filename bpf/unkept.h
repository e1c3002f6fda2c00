/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* unkept.h - why a verdict was not kept in the cache, for programs and their
 * tests. */
#ifndef BPF_WINDOW_UNKEPT_H
#define BPF_WINDOW_UNKEPT_H

/* One reason per verdict: the first that holds. */
enum unkept {
  KEPT = 0,
  UNKEPT_NO_ROOM,     /* no scratch to walk with, no memory to store in */
  UNKEPT_NO_SEQUENCE, /* enforcing needs the kernel's own sequences */
  UNKEPT_RACED,       /* a path or the rules were being changed */
  UNKEPT_TOO_DEEP,    /* see WALK_TOO_DEEP: there is no verdict */
  UNKEPT_UNREACHABLE, /* see WALK_UNREACHABLE: there is no verdict */
  UNKEPT_UNHASHED,    /* the name is gone: unlinked, or O_TMPFILE */
  UNKEPT_HARDLINKED,  /* the file has other names */
};

#endif
