/* SPDX-License-Identifier: MIT */
/* The cases, by what they are about; each list ends with a name NULL. */
#ifndef TESTS_POLICY_CASES_H
#define TESTS_POLICY_CASES_H

#include "tap.h"

extern const struct tap_case name_cases[];  /* renames, links, removals */
extern const struct tap_case mount_cases[]; /* mounts, roots, namespaces */
extern const struct tap_case file_cases[];  /* odd files and odd ways to open */
extern const struct tap_case limit_cases[]; /* long paths, policy reload */
extern const struct tap_case scope_cases[]; /* rules for one mount namespace */
extern const struct tap_case enforce_cases[]; /* what must fail; in a VM only */
extern const struct tap_case scope_enforced_cases[]; /* likewise */

/* Whether the machine is a test's own, to be denied opens and to lose its
 * caches. */
bool in_vm(void);
void drop_dentries(void);

/* For cases in which the kernel uses memory again: keeps the calling process on
 * its CPU; waits until what was removed before is given back. */
void stay_on_a_cpu(void);
void wait_for_memory(void);

/* Opens a file through io_uring, by a worker or at once. Returns a descriptor
 * or -errno; skips the case where there is no io_uring. */
int uring_open(const char *path, bool by_worker);

/* Makes a 32-bit system call of one or two strings in a child, which is
 * watched; skips the case where the kernel has none. */
void compat_call(long number, const char *first, const char *second);

#endif
