/* SPDX-License-Identifier: MIT */
/* test_policy.c - the rules of a file policy: what is refused, what matches */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/policy.h"

static int set_up(void **state) { return policy_new((struct policy **)state); }

static int tear_down(void **state) {
  policy_free((struct policy **)state);
  return 0;
}

static void add(struct policy *policy, enum file_verdict verdict,
                const char *path) {
  struct failure failure = {""};
  if (policy_add(policy, verdict, path, "test", &failure) != 0)
    fail_msg("%s: %s", path, failure.text);
}

static void assert_refused(struct policy *policy, const char *path,
                           const char *why) {
  struct failure failure = {""};
  assert_int_equal(policy_add(policy, FILE_DENY, path, "here:7", &failure),
                   -EINVAL);
  if (!strstr(failure.text, why) || strncmp(failure.text, "here:7: ", 8) != 0)
    fail_msg("\"%s\" does not begin with its place or say \"%s\"", failure.text,
             why);
}

#define assert_verdict(policy, path, verdict)                                  \
  assert_int_equal(policy_match(policy, path, NULL), verdict)

static void path_of(char *path, size_t length, bool folder) {
  memset(path, 'x', length);
  path[0] = '/';
  path[length / 2] = '/';
  if (folder)
    path[length - 1] = '/';
  path[length] = '\0';
}

/* ---- What is refused ---- */

static void add_refuses_what_is_no_path(void **state) {
  struct policy *policy = *state;
  assert_refused(policy, "", "not absolute");
  assert_refused(policy, "etc/passwd", "not absolute");
  assert_refused(policy, "//etc", "//");
  assert_refused(policy, "/etc//passwd", "//");
  assert_refused(policy, "/etc//", "//");
  assert_refused(policy, "/.", ". or ..");
  assert_refused(policy, "/./etc", ". or ..");
  assert_refused(policy, "/etc/..", ". or ..");
  assert_refused(policy, "/etc/../root/", ". or ..");
  assert_null(policy_rule(policy, 0));
}

static void add_takes_names_with_dots(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_DENY, "/.git/");
  add(policy, FILE_DENY, "/...");
  add(policy, FILE_DENY, "/..a/b.");
  assert_verdict(policy, "/...", FILE_DENY);
}

static void add_refuses_paths_over_255_bytes(void **state) {
  struct policy *policy = *state;
  char path[300];
  path_of(path, 255, false);
  add(policy, FILE_DENY, path);
  assert_verdict(policy, path, FILE_DENY);
  path_of(path, 255, true);
  add(policy, FILE_ALLOW, path);
  strcat(path, "below");
  assert_verdict(policy, path, FILE_ALLOW);
  path_of(path, 256, false);
  assert_refused(policy, path, "longer than 255");
  path_of(path, 256, true);
  assert_refused(policy, path, "longer than 255");
}

static void add_refuses_a_second_verdict(void **state) {
  struct policy *policy = *state;
  struct failure failure;
  assert_int_equal(policy_add(policy, FILE_DENY, "/a/", "f:1", NULL), 0);
  assert_int_equal(policy_add(policy, FILE_DENY, "/a/", "f:2", NULL), 0);
  assert_int_equal(policy_add(policy, FILE_ALLOW, "/a/", "f:3", &failure),
                   -EEXIST);
  assert_string_equal(failure.text,
                      "f:3: /a/ has another verdict already, given at f:1");
  assert_null(policy_rule(policy, 1));
  assert_verdict(policy, "/a/b", FILE_DENY);
}

/* ---- What matches ---- */

static void no_rule_is_no_policy(void **state) {
  const char *place = "unchanged";
  assert_int_equal(policy_match(*state, "/etc/passwd", &place), FILE_NO_POLICY);
  assert_null(place);
}

static void exact_rule_is_for_the_path_alone(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_DENY, "/a/b");
  assert_verdict(policy, "/a/b", FILE_DENY);
  assert_verdict(policy, "/a/bc", FILE_NO_POLICY);
  assert_verdict(policy, "/a/b/c", FILE_NO_POLICY);
  assert_verdict(policy, "/a", FILE_NO_POLICY);
  assert_verdict(policy, "/x/a/b", FILE_NO_POLICY);
}

static void folder_rule_is_for_the_folder_and_all_below(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_DENY, "/a/b/");
  assert_verdict(policy, "/a/b", FILE_DENY);
  assert_verdict(policy, "/a/b/c", FILE_DENY);
  assert_verdict(policy, "/a/b/c/d", FILE_DENY);
  assert_verdict(policy, "/a/bc", FILE_NO_POLICY);
  assert_verdict(policy, "/a", FILE_NO_POLICY);
}

static void longest_folder_wins(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_DENY, "/a/b/c/");
  add(policy, FILE_ALLOW, "/a/");
  add(policy, FILE_NO_POLICY, "/a/b/");
  assert_verdict(policy, "/a/x", FILE_ALLOW);
  assert_verdict(policy, "/a/b", FILE_NO_POLICY);
  assert_verdict(policy, "/a/b/x", FILE_NO_POLICY);
  assert_verdict(policy, "/a/b/c", FILE_DENY);
  assert_verdict(policy, "/a/b/c/x", FILE_DENY);
}

static void exact_rule_beats_the_folder_of_its_path(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_DENY, "/a/");
  add(policy, FILE_ALLOW, "/a");
  assert_verdict(policy, "/a", FILE_ALLOW);
  assert_verdict(policy, "/a/b", FILE_DENY);
}

static void root_folder_is_for_everything(void **state) {
  struct policy *policy = *state;
  add(policy, FILE_ALLOW, "/");
  add(policy, FILE_DENY, "/a");
  assert_verdict(policy, "/", FILE_ALLOW);
  assert_verdict(policy, "/x/y", FILE_ALLOW);
  assert_verdict(policy, "/a", FILE_DENY);
  assert_verdict(policy, "/a/b", FILE_ALLOW);
}

static void match_says_where_the_rule_stands(void **state) {
  struct policy *policy = *state;
  const char *place;
  policy_add(policy, FILE_DENY, "/a/", "f:1", NULL);
  policy_add(policy, FILE_ALLOW, "/a/b", "g:2", NULL);
  policy_match(policy, "/a/b", &place);
  assert_string_equal(place, "g:2");
  policy_match(policy, "/a/c", &place);
  assert_string_equal(place, "f:1");
}

/* ---- The file ---- */

static char file_name[] = "/tmp/test_policy.XXXXXX";

static int make_file(void **state) {
  int fd = mkstemp(file_name);
  if (fd < 0)
    return -1;
  close(fd);
  return set_up(state);
}

static int remove_file(void **state) {
  unlink(file_name);
  strcpy(file_name + strlen(file_name) - 6, "XXXXXX");
  return tear_down(state);
}

static int read_text(struct policy *policy, const char *text, size_t length,
                     struct failure *failure) {
  FILE *file = fopen(file_name, "w");
  assert_non_null(file);
  fwrite(text, 1, length, file);
  fclose(file);
  return policy_read_file(policy, file_name, failure);
}

static void file_gives_verdicts_to_paths(void **state) {
  struct policy *policy = *state;
  struct failure failure = {""};
  const char text[] = "# rules\n"
                      "\n"
                      "  allow /srv/www/   # the site\n"
                      "deny\t\"/srv/my secrets/\"\r\n"
                      "none \"/srv/a \\\"b\\\" \\\\ #c\"\n"
                      "deny /no/newline";
  if (read_text(policy, text, strlen(text), &failure) != 0)
    fail_msg("%s", failure.text);
  assert_verdict(policy, "/srv/www/index.html", FILE_ALLOW);
  assert_verdict(policy, "/srv/my secrets/x", FILE_DENY);
  assert_verdict(policy, "/no/newline", FILE_DENY);
  assert_string_equal(policy_rule(policy, 2)->path, "/srv/a \"b\" \\ #c");
  assert_int_equal(policy_rule(policy, 2)->verdict, FILE_NO_POLICY);

  char place[64];
  snprintf(place, sizeof(place), "%s:6", file_name);
  assert_string_equal(policy_rule(policy, 3)->place, place);
  assert_null(policy_rule(policy, 4));
}

static void assert_file_refused(struct policy *policy, const char *text,
                                size_t length, int line, const char *why) {
  struct failure failure = {""};
  char place[64];
  snprintf(place, sizeof(place), "%s:%d: ", file_name, line);
  assert_int_equal(read_text(policy, text, length, &failure), -EINVAL);
  if (strncmp(failure.text, place, strlen(place)) != 0 ||
      !strstr(failure.text, why))
    fail_msg("\"%s\" does not begin with \"%s\" or say \"%s\"", failure.text,
             place, why);
}

static void file_names_the_line_of_an_error(void **state) {
  static const struct {
    const char *text;
    int line;
    const char *why;
  } cases[] = {
      {"deny /a\nforbid /b\n", 2, "\"forbid\" is not allow, deny or none"},
      {"DENY /a\n", 1, "\"DENY\" is not"},
      {"\n\nallow\n", 3, "expected a path"},
      {"allow # /a\n", 1, "expected a path"},
      {"allow \"/a b\n", 1, "expected a path"},
      {"allow \"/a\"b\n", 1, "expected a path"},
      {"allow /a b\n", 1, "\"b\" stands behind the path"},
      {"allow /a /b\n", 1, "\"/b\" stands behind the path"},
      {"allow a\n", 1, "not absolute"},
      {"allow \"\"\n", 1, "not absolute"},
      {"# 1\n# 2\ndeny /a/../b\n", 3, ". or .."},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    assert_file_refused(*state, cases[i].text, strlen(cases[i].text),
                        cases[i].line, cases[i].why);
  assert_file_refused(*state, "deny /x\0/y\n", 11, 1, "NUL");
}

static void file_names_both_places_of_a_contradiction(void **state) {
  struct failure failure = {""};
  const char text[] = "deny /a\n\nallow /a\n";
  char expected[256];
  snprintf(expected, sizeof(expected),
           "%s:3: /a has another verdict already, given at %s:1", file_name,
           file_name);
  assert_int_equal(read_text(*state, text, strlen(text), &failure), -EEXIST);
  assert_string_equal(failure.text, expected);
}

static void missing_file_is_named(void **state) {
  struct failure failure = {""};
  assert_int_equal(policy_read_file(*state, "/nowhere/rules", &failure),
                   -ENOENT);
  assert_non_null(strstr(failure.text, "/nowhere/rules"));
}

/* ---- Safety ---- */

static void safe_refuses_to_deny_the_root(void **state) {
  struct failure failure = {""};
  policy_add(*state, FILE_DENY, "/", "f:1", NULL);
  assert_int_equal(policy_check_safe(*state, NULL, &failure), -EPERM);
  assert_non_null(strstr(failure.text, "f:1: "));
}

static void safe_refuses_to_deny_the_program_or_its_libraries(void **state) {
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  assert_true(length > 0);
  self[length] = '\0';
  struct failure failure = {""};
  add(*state, FILE_DENY, self);
  assert_int_equal(policy_check_safe(*state, NULL, &failure), -EPERM);
  assert_non_null(strstr(failure.text, self));

  tear_down(state);
  set_up(state);
  add(*state, FILE_DENY, "/usr/lib/");
  add(*state, FILE_DENY, "/lib/");
  assert_int_equal(policy_check_safe(*state, NULL, &failure), -EPERM);
}

static void safe_refuses_to_deny_what_is_needed(void **state) {
  const char *const needed[] = {"/etc/collectd/collectd.conf", "/opt/x", NULL};
  struct failure failure = {""};
  add(*state, FILE_DENY, "/opt/");
  assert_int_equal(policy_check_safe(*state, needed, &failure), -EPERM);
  assert_non_null(strstr(failure.text, "/opt/x"));
  add(*state, FILE_ALLOW, "/opt/x");
  assert_int_equal(policy_check_safe(*state, needed, &failure), 0);
}

/* A rule of where a symbolic link leads locks out as well. */
static void safe_follows_links(void **state) {
  char target[] = "/tmp/bpf_window_safe.XXXXXX", link[64];
  struct failure failure = {""};
  int fd = mkstemp(target);
  assert_true(fd >= 0);
  close(fd);
  snprintf(link, sizeof(link), "%s.link", target);
  assert_int_equal(symlink(target, link), 0);
  add(*state, FILE_DENY, target);
  int by_link = policy_check_needed(*state, link, &failure);
  unlink(link);
  unlink(target);
  assert_int_equal(by_link, -EPERM);
  assert_non_null(strstr(failure.text, target));
  assert_int_equal(policy_check_needed(*state, link, &failure), 0);
}

static void scope_is_one_of_two_words(void **state) {
  static const char *const wrong[] = {"", "Host", "hosts", "all ", "none"};
  bool host_only = true;
  (void)state;
  assert_int_equal(policy_read_scope("all", &host_only), 0);
  assert_false(host_only);
  assert_int_equal(policy_read_scope("host", &host_only), 0);
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
    assert_int_equal(policy_read_scope(wrong[i], &host_only), -EINVAL);
  assert_true(host_only);
}

#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define test_of_file(name)                                                     \
  cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void) {
  const struct CMUnitTest tests[] = {
      test(add_refuses_what_is_no_path),
      test(add_takes_names_with_dots),
      test(add_refuses_paths_over_255_bytes),
      test(add_refuses_a_second_verdict),
      test(no_rule_is_no_policy),
      test(exact_rule_is_for_the_path_alone),
      test(folder_rule_is_for_the_folder_and_all_below),
      test(longest_folder_wins),
      test(exact_rule_beats_the_folder_of_its_path),
      test(root_folder_is_for_everything),
      test(match_says_where_the_rule_stands),
      test_of_file(file_gives_verdicts_to_paths),
      test_of_file(file_names_the_line_of_an_error),
      test_of_file(file_names_both_places_of_a_contradiction),
      test_of_file(missing_file_is_named),
      test(safe_refuses_to_deny_the_root),
      test(safe_refuses_to_deny_the_program_or_its_libraries),
      test(safe_refuses_to_deny_what_is_needed),
      test(safe_follows_links),
      test(scope_is_one_of_two_words),
  };
  return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
