/* SPDX-License-Identifier: MIT */
/* collectd's syntax: what is read, and where what cannot be read stands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/conf.h"

static struct conf *parse(const char *text) {
  struct conf *conf = NULL;
  struct failure failure = {""};
  if (conf_parse(&conf, text, "f", &failure) != 0)
    fail_msg("%s", failure.text);
  return conf;
}

static void blocks_nest_and_options_know_their_lines(void **state) {
  (void)state;
  struct conf *conf = parse("# comment\n"
                            "LoadPlugin x # another\n"
                            "<Plugin \"x\">\n"
                            "  <Object \"a b\">\n"
                            "    Persist yes\n"
                            "  </Object>\n"
                            "< /Plugin > # the end\n"
                            "# no newline");
  const struct conf_item *root = conf_root(conf);
  assert_int_equal(root->children, 2);
  assert_false(root->child[0].block);
  const struct conf_item *object = &root->child[1].child[0];
  assert_string_equal(object->value[0].text, "a b");
  assert_string_equal(object->child[0].key, "Persist");
  assert_string_equal(object->child[0].file, "f");
  assert_int_equal(object->child[0].line, 5);
  conf_free(&conf);
}

/* One line each, as collectd's scanner takes them. */
static void words_are_what_collectd_takes_them_for(void **state) {
  (void)state;
  static const struct {
    enum conf_type type;
    const char *words[12];
  } taken[] = {
      {CONF_BOOLEAN, {"true", "false", "yes", "no", "on", "off"}},
      {CONF_NUMBER,
       {"1", "-5", "+5", "010", "0x1F", "0.5", "-.5", "1.5e+3", "1.5E-3"}},
      {CONF_STRING,
       {"word", "A_1", "1e3", "TRUE", "Off", "10s", "1.2.3.4", "10.0.0.1:65535",
        "::1", "2001:db8::1", "[::1]", "[::1]:25826"}},
  };
  for (size_t t = 0; t < sizeof(taken) / sizeof(*taken); t++) {
    for (size_t w = 0; w < 12 && taken[t].words[w]; w++) {
      char text[100];
      snprintf(text, sizeof(text), "Key %s\n", taken[t].words[w]);
      struct conf *conf = parse(text);
      const struct conf_item *item = &conf_root(conf)->child[0];
      assert_int_equal(item->values, 1);
      assert_string_equal(item->value[0].text, taken[t].words[w]);
      assert_int_equal(item->value[0].type, taken[t].type);
      conf_free(&conf);
    }
  }
}

static void other_words_need_quotes(void **state) {
  (void)state;
  static const char *const words[] = {
      "/usr/lib/x.o", "a/b",       "a.b",   "a-b",    "*",
      "50%",          "1.",        "1.5e3", "1.2.3",  "256.1.1.1",
      "1.2.3.4:0",    "1.2.3.4:x", "[::1",  "[::1]x", "[::1]:65536",
      "::1%eth0",     "1:2",       "-0x10", "+",      "localhost:80"};
  for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
    struct conf *conf = NULL;
    struct failure failure = {""};
    char text[100], wanted[100];
    snprintf(text, sizeof(text), "\nKey %s\n", words[i]);
    snprintf(wanted, sizeof(wanted), "f:2: %s needs quotes around it",
             words[i]);
    assert_int_equal(conf_parse(&conf, text, "f", &failure), -EINVAL);
    assert_string_equal(failure.text, wanted);
  }
}

static void values_are_many_and_over_lines(void **state) {
  (void)state;
  struct conf *conf = parse("Key \"1\" true off \"tr\\\"ue\\\\\" \\\n  last\n"
                            "Next \"a\\\n \t b\nc\"\nThird 3\n");
  static const enum conf_type types[] = {
      CONF_STRING, CONF_BOOLEAN, CONF_BOOLEAN, CONF_STRING, CONF_STRING};
  const struct conf_item *item = &conf_root(conf)->child[0];
  assert_int_equal(item->values, 5);
  for (size_t i = 0; i < item->values; i++)
    assert_int_equal(item->value[i].type, types[i]);
  assert_true(conf_truth(&item->value[1]));
  assert_false(conf_truth(&item->value[2]));
  assert_string_equal(item->value[3].text, "tr\"ue\\");
  assert_string_equal(item->value[4].text, "last");
  assert_string_equal(item[1].value[0].text, "ab\nc");
  assert_int_equal(item[2].line, 6);
  conf_free(&conf);
}

static void mistakes_are_told_with_their_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } mistakes[] = {
      {"A 1\nB \"x\n", "f:2: a string without a closing quote"},
      {"<A>\n", "f:2: the file ends inside <A> of line 1"},
      {"<A\n", "f:1: a block's first line lacks its >"},
      {"</A>\n", "f:1: a block is closed that was not opened"},
      {"<A>\n<B>\n</A>\n", "f:3: the block to be closed here is <B> of line 2"},
      {"<A>\n</a>\n", "f:2: the block to be closed here is <A> of line 1"},
      {"<A>\n</A\n", "f:2: a > is lacking behind the end of <A> of line 1"},
      {"<A> B\n", "f:1: something stands behind the > of a block"},
      {"<A>\n</A> B\n", "f:2: something stands behind the > of a block"},
      {"<A>\nB 1</A>\n", "f:2: a character that needs quotes around it"},
      {"= 1\n", "f:1: an option's name is expected here"},
      {"1 1\n", "f:1: an option's name is expected here"},
      {"true 1\n", "f:1: an option's name is expected here"},
      {"A =\n", "f:1: = needs quotes around it"},
      {"A b\\c\n", "f:1: a character that needs quotes around it"},
      {"A\nB 1\n", "f:1: A has no value"},
      {"A 1\nB 2 # c", "f:2: the last line lacks its end (a newline)"},
      {"<A>\n</A>", "f:2: the last line lacks its end (a newline)"},
  };
  for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
    struct conf *conf = NULL;
    struct failure failure = {""};
    assert_int_equal(conf_parse(&conf, mistakes[i].text, "f", &failure),
                     -EINVAL);
    assert_null(conf);
    assert_string_equal(failure.text, mistakes[i].wanted);
  }
}

static void nesting_has_an_end(void **state) {
  (void)state;
  char text[4 * 200 + 1] = "";
  for (int i = 0; i < 200; i++)
    strcat(text, "<A>\n");
  struct conf *conf = NULL;
  struct failure failure;
  assert_int_equal(conf_parse(&conf, text, "f", &failure), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_nest_and_options_know_their_lines),
      cmocka_unit_test(words_are_what_collectd_takes_them_for),
      cmocka_unit_test(other_words_need_quotes),
      cmocka_unit_test(values_are_many_and_over_lines),
      cmocka_unit_test(mistakes_are_told_with_their_line),
      cmocka_unit_test(nesting_has_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
