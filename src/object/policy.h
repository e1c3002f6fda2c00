/* SPDX-License-Identifier: MIT */
/*
 * policy.h - the rules of a file policy: read, checked, and put in force.
 *
 * A rule gives a path a verdict. "/a/b" is that path alone; "/a/b/" is the
 * folder and everything below it. Of the rules that match a path the longest
 * decides; a rule for the path itself is longer than any folder's. Paths are
 * absolute, as seen from the root of the mount namespace in which a file is
 * opened, without symbolic links.
 *
 * Where a rule stands ("file:line") goes with it, for messages.
 */
#ifndef BPF_WINDOW_OBJECT_POLICY_H
#define BPF_WINDOW_OBJECT_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file_policy.h"
#include "window/failure.h"

/* The maps of an object that applies a file policy. */
#define POLICY_MAP "file_policy"
#define POLICY_STATE_MAP "file_policy_state"

struct policy;

int policy_new(struct policy **policy);
void policy_free(struct policy **policy);

/*
 * Adds a rule. -EINVAL: the path is relative, empty, longer than 255 bytes, or
 * has
 * "//", "." or ".." in it. -EEXIST: the same path has another verdict already.
 * A failure leaves the policy as it was. The same rule twice is one rule.
 */
int policy_add(struct policy *policy, enum file_verdict verdict,
               const char *path, const char *place, struct failure *failure);

/*
 * Adds the rules of a file, one a line: `allow PATH`, `deny PATH` or `none
 * PATH`. A path with spaces or '#' stands in double quotes, in which \" and
 * \\ are the two characters; '#' begins a comment. Stops at the first error,
 * which names file and line; the rules in front of it are added then.
 */
int policy_read_file(struct policy *policy, const char *path,
                     struct failure *failure);

struct policy_rule {
  enum file_verdict verdict;
  const char *path; /* a folder's ends with '/' */
  const char *place;
};

/* The rules in the order in which they were added; NULL behind the last. */
const struct policy_rule *policy_rule(const struct policy *policy,
                                      size_t index);

/* The rule of exactly this path, or NULL; "/a" and "/a/" are two paths. */
const struct policy_rule *policy_find(const struct policy *policy,
                                      const char *path);

/*
 * What the rules say of an absolute path, and, if place is not NULL, where the
 * rule stands that decided (NULL: none did). Written apart from the trie that
 * programs look up, so that the one can be held against the other.
 */
enum file_verdict policy_match(const struct policy *policy, const char *path,
                               const char **place);

/* The rule that decides on an absolute path, or NULL. */
const struct policy_rule *policy_deciding(const struct policy *policy,
                                          const char *path);

/* Whether two policies say the same of every path. */
bool policy_same(const struct policy *a, const struct policy *b);

/*
 * -EPERM if the rules, enforced, would lock this program out of what it needs:
 * the root folder, the files it has mapped (itself, its libraries and plugins),
 * and those of needed[], a list that ends with NULL.
 */
int policy_check_safe(const struct policy *policy, const char *const *needed,
                      struct failure *failure);

/* The same for one file, by this path and by the one that it leads to. */
int policy_check_needed(const struct policy *policy, const char *path,
                        struct failure *failure);

/* How rules are applied. */
struct policy_terms {
  bool enforce;       /* denied opens fail; else they are counted only */
  uint32_t namespace; /* number of the mount namespace for whose files the rules
                         are, as stat gives it; 0: for those of all */
};

/*
 * Puts the rules in force for the programs of the maps `file_policy` and
 * `file_policy_state`: at once for each program's run, in full, and with no
 * verdict of the rules before beside them. policy may be NULL: no rules. A
 * failure's text says what is in force then.
 */
int policy_install(const struct policy *policy, int policy_fd, int state_fd,
                   const struct policy_terms *terms, struct failure *failure);

/* The words that Scope takes, "host" and "all". -EINVAL: another one. */
#define POLICY_SCOPE_NEEDS "needs \"host\" or \"all\""
int policy_read_scope(const char *word, bool *host_only);

/*
 * The number of the host's mount namespace: that of process 1. Errors: -ENOTSUP
 * in a PID namespace of one's own, where process 1 is another; -EACCES without
 * CAP_SYS_PTRACE, unless this process is known to be in it.
 */
int policy_host_namespace(uint32_t *number, struct failure *failure);

/* The number of the caller's own. */
int policy_own_namespace(uint32_t *number);

/* Whether processes have the same numbers here as for programs. */
bool policy_in_first_pid_namespace(void);

/* Rules as they are in the kernel; the policy is the caller's to free. */
struct policy_in_force {
  struct policy *policy; /* no places */
  uint64_t generation;
  struct policy_terms terms;
};

/*
 * Reads the rules in force from the pins of an object's maps, and changes
 * nothing. Errors: -ENOENT if there is no such pin, -EPERM, -EAGAIN if they
 * were being changed each time, for half a second.
 */
int policy_read_pinned(const char *policy_pin, const char *state_pin,
                       struct policy_in_force *in_force,
                       struct failure *failure);

/* Whether the object whose map `file_policy_state` is pinned at the path denies
 * opens; false if there is no such pin. */
bool policy_is_enforced(const char *state_pin);

/*
 * Denies the files that exist in denied folders by whatever path they are
 * reached (hard links, bind mounts), by opening each, which the programs refuse.
 * Call it with programs attached that deny, behind each policy_install that
 * enforces; marks of the policy before are void then, and not before. Errors
 * but of reading and writing the state say that some files have no mark:
 * -ENOSPC, there are more than can be marked; -EACCES, this process may not
 * open them; -ENOTSUP, none has, in a PID namespace of one's own. Several
 * threads may do it, for different objects.
 */
int policy_mark(const struct policy *policy, int state_fd,
                struct failure *failure);

#endif
