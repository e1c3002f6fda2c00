/* SPDX-License-Identifier: MIT */
#include "conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf_tree.h"
#include "conf_word.h"

#define MAX_DEPTH 32

struct parser {
  struct conf *conf;
  const char *file, *at;
  int line;
  struct failure *failure;
};

static int wrong(const struct parser *parser, const char *what) {
  return failure_set(parser->failure, -EINVAL, "%s:%d: %s", parser->file,
                     parser->line, what);
}

/* The same, of a block that is open. */
static int wrong_in(const struct parser *parser, const char *what,
                    const struct conf_item *block) {
  return failure_set(parser->failure, -EINVAL, "%s:%d: %s <%s> of line %d",
                     parser->file, parser->line, what, block->key, block->line);
}

static int no_memory(const struct parser *parser) {
  return failure_set(parser->failure, -ENOMEM, "out of memory");
}

/* ---- Words ---- */

/* Skips blanks and continued lines. */
static void skip_blanks(struct parser *parser) {
  for (;; parser->at++) {
    const char *at = parser->at;
    size_t newline = at[0] == '\\' ? 1 + (at[1] == '\r') : 0;
    if (newline && at[newline] == '\n') {
      parser->line++;
      parser->at += newline;
    } else if (*at != ' ' && *at != '\t' && *at != '\r') {
      return;
    }
  }
}

static bool at_end_of_line(struct parser *parser) {
  skip_blanks(parser);
  return strchr("\n#", *parser->at) != NULL; /* or NUL, which strchr finds */
}

static void skip_line(struct parser *parser) {
  parser->at += strcspn(parser->at, "\n");
  if (*parser->at == '\n') {
    parser->at++;
    parser->line++;
  }
}

/* What stands there without quotes; NULL: memory is short. */
static char *bare_word(struct parser *parser) {
  size_t length = strcspn(parser->at, " \t\r\n\\\"#<>");
  char *word = strndup(parser->at, length);
  parser->at += length;
  return word;
}

/* A string in quotes. A backslash takes the next character as it is; at the end of a
 * line, the string goes on at what stands in the next one. */
static int quoted_word(struct parser *parser, char **word) {
  const char *at = parser->at + 1;
  int lines = 0;
  char *out = *word = malloc(strlen(at) + 1);
  if (!out)
    return no_memory(parser);
  while (*at != '"') {
    if (strncmp(at, "\\\n", 2) == 0) {
      lines++;
      at += 2 + strspn(at + 2, " \t");
      continue;
    }
    if (*at == '\\' && at[1])
      at++;
    if (*at == '\0')
      return wrong(parser, "a string without a closing quote");
    lines += *at == '\n';
    *out++ = *at++;
  }
  *out = '\0';
  parser->line += lines;
  parser->at = at + 1;
  return 0;
}

bool conf_truth(const struct conf_value *value) {
  return value->type == CONF_BOOLEAN && conf_word_truth(value->text);
}

static int wrong_word(const struct parser *parser, const char *word,
                      const char *what) {
  return failure_set(parser->failure, -EINVAL, "%s:%d: %.200s %s", parser->file,
                     parser->line, word, what);
}

/* Of a value without quotes. */
static int set_type(const struct parser *parser, struct conf_value *value) {
  if (conf_word_type(value->text, &value->type))
    return 0;
  return *value->text
             ? wrong_word(parser, value->text, "needs quotes around it")
             : wrong(parser, "a character that needs quotes around it");
}

static int read_value(struct parser *parser, struct conf_value *value) {
  if (*parser->at == '"')
    return quoted_word(parser, &value->text);
  value->text = bare_word(parser);
  return value->text ? set_type(parser, value) : no_memory(parser);
}

static int parse_value(struct parser *parser, struct conf_item *item) {
  if (conf_add_value(item, (struct conf_value){.type = CONF_STRING}) != 0)
    return no_memory(parser);
  return read_value(parser, &item->value[item->values - 1]);
}

/* ---- Lines ---- */

/* The rest of a line, which must be there: collectd refuses a file whose last option
 * has no end. */
static int end_line(struct parser *parser, const char *what_is_left) {
  if (!at_end_of_line(parser))
    return wrong(parser, what_is_left);
  parser->at += strcspn(parser->at, "\n");
  if (*parser->at == '\0')
    return wrong(parser, "the last line lacks its end (a newline)");
  skip_line(parser);
  return 0;
}

static int parse_key(struct parser *parser, struct conf_item *item) {
  enum conf_type type;
  skip_blanks(parser);
  item->file = parser->file;
  item->line = parser->line;
  item->key = bare_word(parser);
  if (!item->key)
    return no_memory(parser);
  return conf_word_type(item->key, &type) && type == CONF_STRING
             ? 0
             : wrong(parser, "an option's name is expected here");
}

/* Parses `Key value...` with the end of the line. */
static int parse_option(struct parser *parser, struct conf_item *item) {
  int status = parse_key(parser, item);
  while (status == 0 && !at_end_of_line(parser))
    status = parse_value(parser, item);
  if (status == 0 && item->values == 0)
    return wrong_word(parser, item->key, "has no value");
  return status == 0 ? end_line(parser, NULL) : status;
}

/* Parses `Key value...>` of a block, likewise. */
static int parse_opening(struct parser *parser, struct conf_item *item) {
  int status = parse_key(parser, item);
  item->block = true;
  while (status == 0 && !at_end_of_line(parser) && *parser->at != '>')
    status = parse_value(parser, item);
  if (status != 0)
    return status;
  if (*parser->at != '>')
    return wrong(parser, "a block's first line lacks its >");
  parser->at++;
  return end_line(parser, "something stands behind the > of a block");
}

/* Behind `</`: whether this closes the block. */
static int parse_closing(struct parser *parser, const struct conf_item *block) {
  skip_blanks(parser);
  size_t length = strcspn(parser->at, " \t\r\n>");
  if (!block->key)
    return wrong(parser, "a block is closed that was not opened");
  if (length != strlen(block->key) ||
      strncmp(parser->at, block->key, length) != 0)
    return wrong_in(parser, "the block to be closed here is", block);
  parser->at += length;
  skip_blanks(parser);
  if (*parser->at != '>')
    return wrong_in(parser, "a > is lacking behind the end of", block);
  parser->at++;
  return end_line(parser, "something stands behind the > of a block");
}

static int parse_children(struct parser *parser, struct conf_item *block,
                          int depth);

/* A line with what belongs to it: a whole block. */
static int parse_child(struct parser *parser, struct conf_item *block,
                       bool opens, int depth) {
  struct conf_item *child = conf_add_child(block);
  if (!child)
    return no_memory(parser);
  if (!opens)
    return parse_option(parser, child);
  int status = parse_opening(parser, child);
  return status == 0 ? parse_children(parser, child, depth + 1) : status;
}

/* Skips a character, and blanks behind it, where it stands. */
static bool skip_character(struct parser *parser, char character) {
  if (*parser->at != character)
    return false;
  parser->at++;
  skip_blanks(parser);
  return true;
}

static int parse_children(struct parser *parser, struct conf_item *block,
                          int depth) {
  if (depth > MAX_DEPTH)
    return wrong(parser, "blocks nested too deeply");
  for (;;) {
    if (at_end_of_line(parser)) {
      if (*parser->at == '\0')
        return block->key ? wrong_in(parser, "the file ends inside", block) : 0;
      skip_line(parser);
      continue;
    }
    bool opens = skip_character(parser, '<');
    if (opens && skip_character(parser, '/'))
      return parse_closing(parser, block);
    int status = parse_child(parser, block, opens, depth);
    if (status != 0)
      return status;
  }
}

int conf_parse_into(struct conf *conf, struct conf_item *block,
                    const char *text, const char *file,
                    struct failure *failure) {
  const char *kept = conf_keep_name(conf, file);
  struct parser parser = {conf, kept, text, 1, failure};
  return kept ? parse_children(&parser, block, 0) : no_memory(&parser);
}

int conf_parse(struct conf **out, const char *text, const char *file,
               struct failure *failure) {
  struct conf *conf = conf_new();
  if (!conf)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status =
      conf_parse_into(conf, conf_mutable_root(conf), text, file, failure);
  if (status == 0)
    *out = conf;
  else
    conf_free(&conf);
  return status;
}
