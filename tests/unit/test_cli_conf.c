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
                            "</Plugin>");
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

static void values_have_types(void **state) {
  (void)state;
  struct conf *conf =
      parse("Key \"1\" 1 0.5 1e3 true OFF word \"tr\\\"ue\\\\\" \\\n  last\n");
  static const enum conf_type types[] = {
      CONF_STRING,  CONF_NUMBER, CONF_NUMBER, CONF_NUMBER, CONF_BOOLEAN,
      CONF_BOOLEAN, CONF_STRING, CONF_STRING, CONF_STRING};
  const struct conf_item *item = &conf_root(conf)->child[0];
  assert_int_equal(item->values, 9);
  for (size_t i = 0; i < item->values; i++)
    assert_int_equal(item->value[i].type, types[i]);
  assert_true(conf_truth(&item->value[4]));
  assert_false(conf_truth(&item->value[5]));
  assert_string_equal(item->value[7].text, "tr\"ue\\");
  assert_string_equal(item->value[8].text, "last");
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
      {"<A>\n</A\n", "f:2: a > is lacking behind the end of <A> of line 1"},
      {"<A> B\n", "f:1: something stands behind the > of a block"},
      {"= 1\n", "f:1: an option's name is expected here"},
      {"A =\n", "f:1: a character that needs quotes around it"},
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
      cmocka_unit_test(values_have_types),
      cmocka_unit_test(mistakes_are_told_with_their_line),
      cmocka_unit_test(nesting_has_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
