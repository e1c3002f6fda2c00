/* SPDX-License-Identifier: MIT */
/*
 * world.h - the inode cache, loaded with one of its fronts, and a look at what
 * it does.
 *
 * There is one at a time. Cases run in children of the process that opened it.
 */
#ifndef TESTS_POLICY_WORLD_H
#define TESTS_POLICY_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "object/policy.h"
#include "unkept.h"
#include "watched.h"

/* ---- The object ---- */

/* Loads and attaches OBJECT (a name below BUILD_DIR, without .bpf.o) with one
 * front. Returns NULL, or why that cannot be. */
const char *world_open(const char *object, const char *front);
void world_close(void);

const char *world_front(void);
bool front_is(const char *front);

/* Counters of a window since it was loaded, by name. */
uint64_t world_count(const char *window, const char *counter);

/* Puts a policy in force; prints and ends the case or program if that fails. */
void world_policy(const struct policy *policy, bool enforce);
/* The same for the files of one mount namespace. */
void world_scope(const struct policy *policy, bool enforce, uint32_t namespace);

/* The two halves of it, between which others may open. A failure ends the case
 * or program, but one of mark, which is returned. */
void world_install(const struct policy *policy, bool enforce);
int world_mark(const struct policy *policy, struct failure *failure);

/* Marks that there is room for in the world, since 65,536 files take long. */
#define WORLD_MARKS 256

/* The policy's state, read and written behind the back of all. */
struct file_policy_state world_state(void);
void world_set_state(const struct file_policy_state *state);

/* Whose opens are recorded: the calling process. Forgets those before. */
void watch_me(void);
struct watch watch_state(void);
/* The n-th recorded event since watch_me; n < events. */
struct watched_event watch_event(unsigned n);

#endif
