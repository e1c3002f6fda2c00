/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the rules of a <Policy> block: those in the configuration, and
 * those in files, which are read again when they change.
 */
#ifndef BPF_WINDOW_RULES_H
#define BPF_WINDOW_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "object/policy.h"

struct rules_file {
  char *path;
  char *place; /* of the option that names it */
  /* Of the file when it was read last; a change of any of them is a change. */
  long long modified_ns, size;
  unsigned long inode;
};

struct rules {
  struct policy *own; /* those of the configuration */
  struct rules_file *file;
  size_t files;
  bool enforce, force;
  bool host_only; /* Scope "host" */
};

int rules_new(struct rules **rules);
void rules_free(struct rules **rules);

int rules_add_file(struct rules *rules, const char *path, const char *place,
                   struct failure *failure);

/*
 * Makes one policy of all rules, reading the files now. Where the rules are
 * enforced without Force, -EPERM for rules that would lock collectd out of what
 * it needs: its files of rules, and those of needed[], a list that ends with
 * NULL. Several threads may do it, for different rules.
 */
int rules_read(struct rules *rules, const char *const *needed,
               struct policy **policy, struct failure *failure);

/* How the rules are to be applied now. Errors: of policy_host_namespace. */
int rules_terms(const struct rules *rules, struct policy_terms *terms,
                struct failure *failure);

/* Whether a file has changed since rules_read. One that cannot be seen now
 * (being replaced) has not. */
bool rules_changed(const struct rules *rules);

#endif
