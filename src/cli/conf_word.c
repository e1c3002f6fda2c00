/* SPDX-License-Identifier: MIT */
#include "conf_word.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdefABCDEF"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* ---- Parts ---- */

static bool is_one_of(const char *word, const char *const words[3]) {
  return strcmp(word, words[0]) == 0 || strcmp(word, words[1]) == 0 ||
         strcmp(word, words[2]) == 0;
}

/* One or more of these, up to the end. */
static bool is_all(const char *word, const char *characters) {
  return *word && word[strspn(word, characters)] == '\0';
}

/* Skips a sign, if there is one. */
static const char *behind_sign(const char *word) {
  return word + (*word == '+' || *word == '-');
}

/* ---- Numbers ---- */

/* What stands behind the point: digits, and an exponent with a sign. */
static bool is_fraction(const char *word) {
  size_t digits = strspn(word, DIGITS);
  const char *end = word + digits;
  if (digits && (*end == 'e' || *end == 'E'))
    return (end[1] == '+' || end[1] == '-') && is_all(end + 2, DIGITS);
  return digits && *end == '\0';
}

static bool is_number(const char *word) {
  if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
    return is_all(word + 2, HEX_DIGITS);
  const char *digits = behind_sign(word);
  const char *end = digits + strspn(digits, DIGITS);
  return *end == '.' ? is_fraction(end + 1) : end > digits && *end == '\0';
}

/* ---- Addresses ---- */

static bool is_port(const char *word) {
  return word[0] != '0' && strlen(word) <= 5 && is_all(word, DIGITS) &&
         atoi(word) <= 65535;
}

/* The address itself, without its port. */
static bool is_address(int family, const char *word, size_t length) {
  char text[INET6_ADDRSTRLEN], bytes[16];
  if (length >= sizeof(text))
    return false;
  snprintf(text, sizeof(text), "%.*s", (int)length, word);
  return inet_pton(family, text, bytes) == 1;
}

static bool is_ipv4(const char *word) {
  size_t length = strcspn(word, ":");
  return is_address(AF_INET, word, length) &&
         (word[length] == '\0' || is_port(word + length + 1));
}

static bool is_ipv6(const char *word) {
  if (word[0] != '[')
    return is_address(AF_INET6, word, strlen(word));
  size_t length = strcspn(++word, "]");
  if (word[length] == '\0' || !is_address(AF_INET6, word, length))
    return false;
  const char *end = word + length + 1;
  return *end == '\0' || (*end == ':' && is_port(end + 1));
}

/* ---- Words ---- */

static const char *const yes[] = {"true", "yes", "on"};
static const char *const no[] = {"false", "no", "off"};

bool conf_word_truth(const char *word) { return is_one_of(word, yes); }

bool conf_word_type(const char *word, enum conf_type *type) {
  bool boolean = is_one_of(word, yes) || is_one_of(word, no);
  bool number = is_number(word);
  *type = boolean ? CONF_BOOLEAN : number ? CONF_NUMBER : CONF_STRING;
  return boolean || number || is_all(word, LETTERS DIGITS "_") ||
         is_ipv4(word) || is_ipv6(word);
}
