/* SPDX-License-Identifier: MIT */
/*
 * expect.h - opens, and what the cache must make of them. All end the case if
 * it does not. Paths are relative to the case's folder, which has the folders
 *
 *   secret/  denied      ok/  allowed      plain/  without a rule
 */
#ifndef TESTS_POLICY_EXPECT_H
#define TESTS_POLICY_EXPECT_H

#include <stddef.h>

#include "world.h"

#define BASE "/run/bpf_window_policy"

/* The rules above; whose they are. */
const struct policy *expect_rules(void);

/* Opens a file, RDONLY, whose verdict must be this, found in the cache or not. */
void expect(const char *path, enum file_verdict verdict);

/* The same for an open by whatever means, which must be the only one since
 * watch_me. The path that was walked, if it was, must be that of the
 * descriptor, if it is one. */
void expect_event(const char *what, int fd, enum file_verdict verdict);

/* Opens until the verdict is found in the cache. Without this a case would
 * prove nothing: what is not cached cannot be stale. */
void warm(const char *path, enum file_verdict verdict);

/* Opens twice; neither verdict may be found in the cache or kept, for this
 * reason. */
void expect_unkept(const char *path, enum file_verdict verdict,
                   enum unkept reason);

/* Only skipped events, and at least so many, since watch_me. */
void expect_skipped(const char *what, unsigned least);

/* Whether there was an event that was no skip since watch_me. */
bool was_seen(void);

void make_file(const char *path);
void make_folder(const char *path);
/* formats into one of several static buffers */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
