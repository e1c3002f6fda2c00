/* SPDX-License-Identifier: MIT */
#include "conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf_tree.h"

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

static bool is_bare(char c) {
  return isalnum((unsigned char)c) || (c && strchr("_+-.:[]/*%", c));
}

/* A word without quotes; NULL if there is none or memory is short. */
static char *bare_word(struct parser *parser) {
  const char *start = parser->at;
  while (is_bare(*parser->at))
    parser->at++;
  return parser->at > start ? strndup(start, (size_t)(parser->at - start))
                            : NULL;
}

/* A string in quotes; a backslash takes the next character as it is. */
static int quoted_word(struct parser *parser, char **word) {
  const char *at = parser->at + 1;
  int lines = 0;
  char *out = *word = malloc(strlen(at) + 1);
  if (!out)
    return no_memory(parser);
  for (; *at != '"'; at++) {
    if (*at == '\\' && at[1])
      at++;
    if (*at == '\0') {
      free(*word);
      return wrong(parser, "a string without a closing quote");
    }
    lines += *at == '\n';
    *out++ = *at;
  }
  *out = '\0';
  parser->line += lines;
  parser->at = at + 1;
  return 0;
}

static bool is_one_of(const char *word, const char *const words[3]) {
  return strcasecmp(word, words[0]) == 0 || strcasecmp(word, words[1]) == 0 ||
         strcasecmp(word, words[2]) == 0;
}

static const char *const yes[] = {"true", "yes", "on"};
static const char *const no[] = {"false", "no", "off"};

static enum conf_type type_of(const char *word) {
  if (is_one_of(word, yes) || is_one_of(word, no))
    return CONF_BOOLEAN;
  char *end;
  strtod(word, &end);
  return *word && *end == '\0' ? CONF_NUMBER : CONF_STRING;
}

bool conf_truth(const struct conf_value *value) {
  return value->type == CONF_BOOLEAN && is_one_of(value->text, yes);
}

static int parse_value(struct parser *parser, struct conf_item *item) {
  struct conf_value value = {.type = CONF_STRING};
  if (*parser->at == '"') {
    int status = quoted_word(parser, &value.text);
    if (status != 0)
      return status;
  } else {
    value.text = bare_word(parser);
    if (!value.text)
      return wrong(parser, "a character that needs quotes around it");
    value.type = type_of(value.text);
  }
  if (conf_add_value(item, value) != 0) {
    free(value.text);
    return no_memory(parser);
  }
  return 0;
}

/* ---- Lines ---- */

/* Parses `Key value...` up to the end of the line, or up to > of a block. */
static int parse_item(struct parser *parser, struct conf_item *item,
                      bool block) {
  skip_blanks(parser);
  item->file = parser->file;
  item->line = parser->line;
  item->block = block;
  item->key = bare_word(parser);
  if (!item->key)
    return wrong(parser, "an option's name is expected here");
  for (;;) {
    bool end = at_end_of_line(parser);
    if (block && *parser->at == '>') {
      parser->at++;
      return at_end_of_line(parser)
                 ? 0
                 : wrong(parser, "something stands behind the > of a block");
    }
    if (end)
      return block ? wrong(parser, "a block's first line lacks its >") : 0;
    int status = parse_value(parser, item);
    if (status != 0)
      return status;
  }
}

/* At `</`: whether this closes the block. */
static int parse_closing(struct parser *parser, const struct conf_item *block) {
  parser->at += 2;
  skip_blanks(parser);
  size_t length = block->key ? strlen(block->key) : 0;
  if (!block->key)
    return wrong(parser, "a block is closed that was not opened");
  if (strncasecmp(parser->at, block->key, length) != 0)
    return wrong_in(parser, "the block to be closed here is", block);
  parser->at += length;
  skip_blanks(parser);
  if (*parser->at != '>')
    return wrong_in(parser, "a > is lacking behind the end of", block);
  skip_line(parser);
  return 0;
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
    if (strncmp(parser->at, "</", 2) == 0)
      return parse_closing(parser, block);
    bool opens = *parser->at == '<';
    parser->at += opens;
    struct conf_item *child = conf_add_child(block);
    if (!child)
      return no_memory(parser);
    int status = parse_item(parser, child, opens);
    if (status == 0) {
      skip_line(parser);
      if (opens)
        status = parse_children(parser, child, depth + 1);
    }
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
