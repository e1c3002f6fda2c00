/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * policy_match.bpf.h - the rules in force, and what they say of a path.
 *
 * The rules are a trie that user space fills before it puts it in place of the
 * one before it: a look-up sees all of the old rules or all of the new ones.
 * Who reads an even generation before matching matches the rules of it or, if
 * they are exchanged meanwhile, labels a new verdict with an old generation,
 * under which it is never used.
 */
#ifndef BPF_WINDOW_POLICY_MATCH_BPF_H
#define BPF_WINDOW_POLICY_MATCH_BPF_H

#include "file_policy.h"
#include "path_walk.bpf.h"

struct file_policy_rules {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(struct file_rule_key));
  __uint(value_size, sizeof(__u32));
};

/* Empty until user space installs rules: then no path has a policy. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32);
  __array(values, struct file_policy_rules);
} file_policy SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct file_policy_state);
} file_policy_state SEC(".maps");

static __always_inline struct file_policy_state *policy_state(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&file_policy_state, &zero);
}

/* The verdict on the path that walk_path left in the scratch. */
__noinline int match_path(__u32 number) {
  __u32 zero = 0;
  struct path_scratch *scratch = bpf_map_lookup_elem(&path_scratch, &number);
  void *rules = bpf_map_lookup_elem(&file_policy, &zero);
  if (!scratch || !rules)
    return FILE_NO_POLICY;

  __u64 start = scratch->start;
  BOUND(start, PATH_SIZE - 1);
  /* The path with its NUL, as far as a rule can look at it. */
  __u32 bytes = PATH_SIZE - start;
  if (bytes > FILE_RULE_SIZE)
    bytes = FILE_RULE_SIZE;
  struct file_rule_key *key = (void *)&scratch->text[start];
  key->bits = 8 * bytes;
  __u32 *verdict = bpf_map_lookup_elem(rules, key);
  return verdict ? *verdict : FILE_NO_POLICY;
}

#endif
