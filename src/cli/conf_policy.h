/* SPDX-License-Identifier: MIT */
/* conf_policy.h - the rules of a <Policy> block in a configuration. */
#ifndef BPF_WINDOW_CONF_POLICY_H
#define BPF_WINDOW_CONF_POLICY_H

#include "conf.h"
#include "object/policy.h"

/* Adds what an option of the block says: a rule, or those of a file. 0 also for
 * an option that is about something else. */
int conf_policy_add(struct policy *policy, const struct conf_item *option,
                    struct failure *failure);

/* What the block says besides rules; all false where it says nothing. */
struct conf_policy_terms {
  bool enforce;   /* Enforce */
  bool force;     /* Force */
  bool host_only; /* Scope */
};

/* Of a block whose options were added without an error. */
struct conf_policy_terms conf_policy_terms(const struct conf_item *block);

#endif
