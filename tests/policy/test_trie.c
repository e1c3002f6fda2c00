/* SPDX-License-Identifier: MIT */
/*
 * test_trie.c - the trie that programs look paths up in gives the verdicts of
 * policy_match, for random rules and paths.
 *
 *   test_trie [SEED]
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "object/policy.h"
#include "tap.h"

#define POLICIES 300
#define RULES 40
#define PATHS 400
#define LONGEST 400

static const __u32 zero = 0;
static int policy_fd = -1, state_fd = -1;
static const struct policy_terms counted = {.enforce = false};
static const struct policy_terms enforced = {true, 4711};

/* As bpf/policy_match.bpf.h declares them. */
static bool make_maps(void) {
  LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_NO_PREALLOC);
  int trie =
      bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "rules",
                     sizeof(struct file_rule_key), sizeof(__u32), 1, &inner);
  LIBBPF_OPTS(bpf_map_create_opts, outer, .inner_map_fd = trie);
  policy_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "policy",
                             sizeof(__u32), sizeof(__u32), 1, &outer);
  state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", sizeof(__u32),
                            sizeof(struct file_policy_state), 1, NULL);
  if (trie >= 0)
    close(trie);
  return policy_fd >= 0 && state_fd >= 0;
}

/* A path of few different names, so that many are prefixes of others; now and
 * then a long one. */
static void random_path(char path[LONGEST], size_t limit) {
  static const char *const names[] = {"a", "b", "ab", "aa", ".a", "a b"};
  size_t length = 0, names_left = rand() % 5;
  do {
    const char *name = names[rand() % 6];
    if (rand() % 200 == 0) {
      static char longer[251];
      memset(longer, 'a', rand() % (sizeof(longer) - 1));
      name = longer[0] ? longer : name;
    }
    if (length + 2 + strlen(name) > limit)
      break;
    length += sprintf(path + length, "/%s", name);
  } while (names_left-- > 0);
  if (length == 0 || rand() % 50 == 0)
    strcpy(path, "/");
}

static struct policy *random_policy(void) {
  struct policy *policy;
  char path[LONGEST];
  if (policy_new(&policy) != 0)
    fail("out of memory");
  for (int i = rand() % RULES; i > 0; i--) {
    random_path(path, FILE_RULE_SIZE - 2);
    if (rand() % 2 && path[1])
      strcat(path, "/");
    int status = policy_add(policy, rand() % 3, path, "test", NULL);
    if (status != 0 && status != -EEXIST)
      fail("%s is refused", path);
  }
  return policy;
}

/* The key that the programs make of a path. */
static __u32 look_up(int trie_fd, const char *path) {
  struct file_rule_key key = {0};
  __u32 verdict = FILE_NO_POLICY;
  size_t bytes = strlen(path) + 1;
  if (bytes > FILE_RULE_SIZE)
    bytes = FILE_RULE_SIZE;
  key.bits = 8 * bytes;
  memcpy(key.path, path, bytes);
  bpf_map_lookup_elem(trie_fd, &key, &verdict);
  return verdict;
}

static int installed_trie(void) {
  __u32 id;
  if (bpf_map_lookup_elem(policy_fd, &zero, &id))
    fail("no rules are installed: %m");
  return must(bpf_map_get_fd_by_id(id));
}

static void compare(const struct policy *policy) {
  struct failure failure;
  char path[LONGEST];
  if (policy_install(policy, policy_fd, state_fd, &counted, &failure) != 0)
    fail("%s", failure.text);
  int trie_fd = installed_trie();
  for (int i = 0; i < PATHS; i++) {
    random_path(path, LONGEST);
    __u32 found = look_up(trie_fd, path);
    __u32 expected = policy_match(policy, path, NULL);
    if (found != expected) {
      const struct policy_rule *rule;
      for (size_t r = 0; (rule = policy_rule(policy, r)); r++)
        tap_note("%d %s", rule->verdict, rule->path);
      fail("%s is %u in the trie, should be %u", path, found, expected);
    }
  }
  close(trie_fd);
}

static void trie_equals_model(void) {
  for (int i = 0; i < POLICIES; i++) {
    struct policy *policy = random_policy();
    compare(policy);
    policy_free(&policy);
  }
}

static struct file_policy_state state_now(void) {
  struct file_policy_state state;
  must(bpf_map_lookup_elem(state_fd, &zero, &state));
  return state;
}

static void generation_rises(void) {
  struct failure failure;
  struct policy *policy = random_policy();
  __u64 before = state_now().generation;
  if (policy_install(policy, policy_fd, state_fd, &enforced, &failure) != 0)
    fail("%s", failure.text);
  if (state_now().generation != before + 2 || !state_now().enforce ||
      state_now().namespace != enforced.namespace)
    fail("the state does not tell of the new policy");
  if (policy_install(NULL, policy_fd, state_fd, &counted, &failure) != 0)
    fail("%s", failure.text);
  if (state_now().generation != before + 4 || state_now().enforce ||
      state_now().namespace != 0)
    fail("the state does not tell of the end of the policy");
  __u32 id;
  if (bpf_map_lookup_elem(policy_fd, &zero, &id) == 0)
    fail("there are rules without a policy");
}

static void set_state(const struct file_policy_state *state) {
  must(bpf_map_update_elem(state_fd, &zero, state, BPF_ANY));
}

/* Somebody was stopped while changing, and marking. */
static void an_odd_generation_is_gone_on_from(void) {
  struct failure failure;
  struct policy *policy = random_policy();
  struct file_policy_state state = {.generation = 41, .marker = 1};
  set_state(&state);
  if (policy_install(policy, policy_fd, state_fd, &enforced, &failure) != 0)
    fail("%s", failure.text);
  state = state_now();
  if (state.generation != 42 || state.marker != 0 || !state.enforce)
    fail("behind 41 the generation is %llu, the marker %u",
         (unsigned long long)state.generation, state.marker);
}

/* Rules that cannot be exchanged: those before hold, and are remembered. */
static void a_failure_leaves_the_rules(void) {
  struct failure failure = {""};
  struct policy *policy = random_policy();
  struct file_policy_state state = {.generation = 42};
  set_state(&state);
  if (policy_install(policy, -1, state_fd, &enforced, &failure) == 0)
    fail("installed into a map that is no policy");
  if (state_now().generation != 44 || state_now().enforce)
    fail("generation %llu, enforce %u",
         (unsigned long long)state_now().generation, state_now().enforce);
  if (!strstr(failure.text, "the rules in force stay"))
    fail("%s", failure.text);
  state.generation = 43; /* whose terms nobody knows */
  set_state(&state);
  if (policy_install(policy, -1, state_fd, &enforced, &failure) == 0 ||
      state_now().generation != 43)
    fail("the generation is %llu", (unsigned long long)state_now().generation);
}

/* Rules and state can be read while nobody changes them only. */
static void rules_being_changed_are_not_read(void) {
  static const char rules_pin[] = "/sys/fs/bpf/bpf_window_test_rules",
                    state_pin[] = "/sys/fs/bpf/bpf_window_test_state";
  struct policy_in_force read;
  struct failure failure = {""};
  struct policy *policy = random_policy();
  if (policy_install(policy, policy_fd, state_fd, &counted, &failure) != 0)
    fail("%s", failure.text);
  unlink(rules_pin);
  unlink(state_pin);
  if (bpf_obj_pin(policy_fd, rules_pin) || bpf_obj_pin(state_fd, state_pin))
    skip("no BPF file system: %m");
  int whole = policy_read_pinned(rules_pin, state_pin, &read, &failure);
  struct file_policy_state state = state_now();
  state.generation++;
  set_state(&state);
  int changing = policy_read_pinned(rules_pin, state_pin, &read, &failure);
  unlink(rules_pin);
  unlink(state_pin);
  if (whole != 0 || changing != -EAGAIN)
    fail("%d whole, %d while they are changed: %s", whole, changing,
         failure.text);
}

static void rules_are_frozen(void) {
  struct policy *policy = random_policy();
  compare(policy);
  struct file_rule_key key = {.bits = 8, .path = "/"};
  __u32 verdict = FILE_DENY;
  if (bpf_map_update_elem(installed_trie(), &key, &verdict, BPF_ANY) == 0)
    fail("rules in force can be changed");
}

int main(int count, char **arguments) {
  static const struct tap_case cases[] = {
      {"equals the model for random rules and paths", trie_equals_model},
      {"raises the generation", generation_rises},
      {"goes on from a change that was stopped",
       an_odd_generation_is_gone_on_from},
      {"stays if it cannot be exchanged", a_failure_leaves_the_rules},
      {"is not read while it is changed", rules_being_changed_are_not_read},
      {"cannot be changed once in force", rules_are_frozen},
  };
  unsigned seed = count > 1 ? atoi(arguments[1]) : time(NULL);
  if (!make_maps()) {
    printf("# needs CAP_BPF: %m\n");
    return 77;
  }
  srand(seed);
  tap_note("seed %u, %d comparisons", seed, POLICIES * PATHS);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    tap_run("trie", &cases[i]);
  return tap_end();
}
