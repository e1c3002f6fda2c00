/* SPDX-License-Identifier: MIT */
/* policy.h - what the verb `policy` and its two actions share. */
#ifndef BPF_WINDOW_CLI_POLICY_H
#define BPF_WINDOW_CLI_POLICY_H

#include <stdint.h>

#include "conf_policy.h"

struct policy_options {
  const char *config;  /* NULL: not given */
  const char *file;    /* likewise */
  const char *pin_dir; /* likewise */
  int64_t timeout_ns;
};

/* `policy test PATH [OBJECT]`, `policy reload [OBJECT]`: object may be NULL. */
int policy_test(const struct policy_options *options, const char *path,
                const char *object);
int policy_reload(const struct policy_options *options, const char *object);

/* Calls visit for each <Object> of a configuration with a <Policy>, by that
 * name only if it is not NULL. Stops at the first non-zero return and passes it
 * on.
 */
int policy_for_each(const struct conf *conf, const char *object,
                    int (*visit)(const char *object,
                                 const struct conf_item *policy, void *context),
                    void *context);

/* The rules of a <Policy> block, its files read now. */
int policy_of_block(const struct conf_item *block, struct policy **policy,
                    struct failure *failure);

/* The rules in force for a pinned object. */
int policy_of_pins(const char *pin_dir, const char *object,
                   struct policy_in_force *in_force, struct failure *failure);

#endif
