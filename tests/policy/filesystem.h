/* SPDX-License-Identifier: MIT */
/* filesystem.h - file systems of a test's own, mounted at BASE in its own
 * namespace */
#ifndef TESTS_POLICY_FILESYSTEM_H
#define TESTS_POLICY_FILESYSTEM_H

/* A mount namespace for this process, so that nothing it mounts outlives it.
 * Returns NULL, or why not. */
const char *filesystem_enter(void);

/* Mounts a new "tmpfs" or "ext4" at BASE. Returns NULL, or why not. */
const char *filesystem_mount(const char *type);
void filesystem_unmount(void);

/* Empties it, makes secret/, ok/ and plain/, and goes there. */
void filesystem_reset(void);

#endif
