/* SPDX-License-Identifier: MIT */
/* Declaration tags that are not known where they stand: refused, and named. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "object/describe.h"
#include "object/tags.h"

enum place { FIELD, LABEL, BUCKET, FUNCTION, ARGUMENT, VARIABLE, TYPEDEF };

static struct failure failure;

/* An object's BTF with one tag; bucket is set to its bucket's id. */
static struct btf *make(enum place place, const char *tag, int *bucket) {
  struct btf *btf = btf__new_empty();
  int u64 = btf__add_int(btf, "u64", 8, 0);
  *bucket = btf__add_struct(btf, "stats", 16);
  btf__add_field(btf, "abs_bucket", u64, 0, 0);
  btf__add_field(btf, "events", u64, 64, 0);
  int prototype = btf__add_func_proto(btf, u64);
  btf__add_func_param(btf, "context", u64);
  const int tagged[] = {
      [FIELD] = *bucket,
      [LABEL] = *bucket,
      [BUCKET] = *bucket,
      [FUNCTION] = btf__add_func(btf, "on_open", BTF_FUNC_GLOBAL, prototype),
      [ARGUMENT] = btf__add_func(btf, "on_close", BTF_FUNC_GLOBAL, prototype),
      [VARIABLE] = btf__add_var(btf, "rules", BTF_VAR_GLOBAL_ALLOCATED, u64),
      [TYPEDEF] = btf__add_typedef(btf, "stats_t", *bucket),
  };
  static const int component[] = {
      [FIELD] = 1,    [LABEL] = 0,     [BUCKET] = -1, [FUNCTION] = -1,
      [ARGUMENT] = 0, [VARIABLE] = -1, [TYPEDEF] = -1};
  assert_true(btf__add_decl_tag(btf, tag, tagged[place], component[place]) > 0);
  return btf;
}

static int check(enum place place, const char *tag) {
  int bucket;
  struct describe_fronts fronts;
  struct btf *btf = make(place, tag, &bucket);
  int status = describe_fronts(btf, &fronts, &failure);
  btf__free(btf);
  return status;
}

static int check_bucket(enum place place, const char *tag) {
  int bucket;
  struct bpf_window_epoch record;
  struct btf *btf = make(place, tag, &bucket);
  int status = describe_struct(btf, (unsigned)bucket, &record, &failure);
  btf__free(btf);
  return status;
}

static void what_is_not_known_there_is_named(void **state) {
  (void)state;
  static const struct {
    enum place place;
    const char *tag, *says, *known;
  } cases[] = {
      {FIELD, "log3", "field events of struct stats has the tag",
       "(known: total, hit, miss, log2)"},
      {FIELD, "Total", "\"bpf_window:Total\"", "total, hit"},
      {FIELD, "total ", "\"bpf_window:total \"", "total, hit"},
      {FIELD, "", "\"bpf_window:\", which is not known", "total, hit"},
      {FIELD, "front=lsm", "field events", "total, hit"},
      {FIELD, "bucket_ns=5", "field events", "total, hit"},
      {BUCKET, "total", "struct stats has the tag", "bucket_ns=NUMBER"},
      {BUCKET, "bucket_us=5", "struct stats has the tag", "bucket_ns=NUMBER"},
      {BUCKET, "bucket_ns=1s", "struct stats: its width", "not \"1s\""},
      {BUCKET, "bucket_ns=", "struct stats: its width", "number of ns"},
      {FUNCTION, "frnt=lsm", "function on_open has the tag", "front=NAME"},
      {FUNCTION, "front=", "function on_open has the tag", "front=NAME"},
      {FUNCTION, "front", "function on_open has the tag", "front=NAME"},
      {FUNCTION, "total", "function on_open has the tag", "with_ksym=SYMBOL"},
      {VARIABLE, "with_sym=x", "variable rules has the tag",
       "without_ksym=SYMBOL"},
      {ARGUMENT, "front=lsm", "a part of function on_close has the tag",
       "(known: none)"},
      {TYPEDEF, "bucket_ns=5", "type stats_t has the tag", "(known: none)"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char tag[64] = "bpf_window:";
    strcat(tag, cases[i].tag);
    assert_int_equal(check(cases[i].place, tag), -EINVAL);
    assert_non_null(strstr(failure.text, cases[i].says));
    assert_non_null(strstr(failure.text, cases[i].known));
  }
}

/* A window of others has no object file; what is around its bucket is theirs. */
static void of_a_window_its_own_tags_count(void **state) {
  (void)state;
  assert_int_equal(check_bucket(FIELD, "bpf_window:log3"), -EINVAL);
  assert_non_null(strstr(failure.text, "field events of struct stats"));
  assert_int_equal(check_bucket(LABEL, "bpf_window:hit"), -EINVAL);
  assert_non_null(strstr(failure.text, "field abs_bucket of struct stats"));
  assert_int_equal(check_bucket(BUCKET, "bpf_window:bucket=5"), -EINVAL);
  assert_int_equal(check_bucket(FUNCTION, "bpf_window:frnt=lsm"), 0);
}

static void what_is_known_and_what_is_of_others_passes(void **state) {
  (void)state;
  static const struct {
    enum place place;
    const char *tag;
  } cases[] = {
      {FIELD, "bpf_window:total"},
      {FIELD, "bpf_window:hit"},
      {FIELD, "bpf_window:miss"},
      {FIELD, "bpf_windows:total"},
      {FIELD, "user"},
      {BUCKET, "bpf_window:bucket_ns=10000000"},
      {BUCKET, "bpf_window:bucket_ns=10000000ULL"},
      {FUNCTION, "bpf_window:front=lsm"},
      {FUNCTION, "bpf_window:with_ksym=bpf_lsm_file_open"},
      {VARIABLE, "bpf_window:without_ksym=bpf_lsm_file_open"},
      {TYPEDEF, "other:bucket_ns=5"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    assert_int_equal(check(cases[i].place, cases[i].tag), 0);
    assert_int_equal(check_bucket(cases[i].place, cases[i].tag), 0);
  }
}

static void a_hostile_tag_stays_one_line(void **state) {
  (void)state;
  char tag[1024] = "bpf_window:\n\033[2Jx";
  memset(tag + 18, 'y', sizeof(tag) - 19);
  assert_int_equal(check(FIELD, tag), -EINVAL);
  for (const char *c = failure.text; *c; c++)
    assert_true((unsigned char)*c >= ' ');
  assert_true(strlen(failure.text) < 300);
  assert_non_null(strstr(failure.text, "(known: total, hit, miss, log2)"));
}

/* An object file's BTF is what anybody wrote, and libbpf takes it as it is. */
static void offsets_and_ids_out_of_range_are_survived(void **state) {
  (void)state;
  static const uint32_t odd[] = {0x7ffffff0, 0xffffffff, 0};
  int bucket, damaged = 0;
  struct btf *btf = make(FUNCTION, "bpf_window:front=lsm", &bucket);
  uint32_t size, word;
  const char *sound = btf__raw_data(btf, &size);
  for (uint32_t at = sizeof(struct btf_header); at + 4 <= size; at += 4) {
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
      char raw[1024];
      assert_true(size <= sizeof(raw));
      memcpy(raw, sound, size);
      memcpy(raw + at, &odd[i], sizeof(word));
      struct btf *strange = btf__new(raw, size);
      struct describe_fronts fronts;
      struct bpf_window_epoch record;
      if (!strange)
        continue;
      damaged++;
      describe_fronts(strange, &fronts, &failure);
      describe_wants_function(strange, "on_open", "lsm", true);
      describe_wants_map(strange, "rules", "lsm");
      for (unsigned id = 0; id < btf__type_cnt(strange); id++)
        describe_struct(strange, id, &record, &failure);
      btf__free(strange);
    }
  }
  assert_true(damaged > 50);
  btf__free(btf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_known_there_is_named),
      cmocka_unit_test(of_a_window_its_own_tags_count),
      cmocka_unit_test(what_is_known_and_what_is_of_others_passes),
      cmocka_unit_test(a_hostile_tag_stays_one_line),
      cmocka_unit_test(offsets_and_ids_out_of_range_are_survived),
  };
  return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
