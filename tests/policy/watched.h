/* SPDX-License-Identifier: MIT */
/* What a test's build of the inode cache tells of the opens that it saw. */
#ifndef TESTS_POLICY_WATCHED_H
#define TESTS_POLICY_WATCHED_H

#include <linux/types.h>

#define WATCHED_EVENTS 64
#define WATCHED_PATH 256

enum watched_kind { WATCHED_HIT = 1, WATCHED_MISS, WATCHED_SKIPPED };

struct watched_event {
  __u32 kind;
  __u32 verdict; /* enum file_verdict */
  __u32 unkept;  /* enum unkept; misses only */
  __u32 reserved;
  char path[WATCHED_PATH]; /* of misses whose walk came to its end, cut off */
};

/* The one entry of the map `watch`. */
struct watch {
  __u32 process; /* whose events are recorded */
  __u32 events;  /* recorded so far; the newest WATCHED_EVENTS are kept */
  __u64 checked; /* hits, of all processes, compared with a fresh walk */
  __u64 wrong;   /* that had another verdict than the walk */
  __u32 wrong_cached, wrong_fresh; /* of the last wrong one */
  char wrong_path[WATCHED_PATH];
};

#endif
