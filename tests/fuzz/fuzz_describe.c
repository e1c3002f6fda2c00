/* SPDX-License-Identifier: MIT */
/*
 * Windows of strangers: a bucket's BTF, made from the input by a little
 * machine, and a record as it may stand in somebody's map, with buckets of any
 * content.
 *
 * The BTF goes through libbpf's own functions: what comes from the kernel was
 * verified there, so its form is sound, but not what it says. Sometimes bytes of
 * it are changed behind that, as nobody verifies the BTF of an object file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "object/describe.h"
#include "window/window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
  const uint8_t *at, *end;
};

static uint8_t byte(struct input *input) {
  return input->at < input->end ? *input->at++ : 0;
}

static uint32_t word(struct input *input) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++)
    value = value << 8 | byte(input);
  return value;
}

static void name(struct input *input, char text[64]) {
  static const char *const known[] = {"abs_bucket", "hits", "", "x"};
  uint8_t kind = byte(input);
  if (kind < 4) {
    strcpy(text, known[kind]);
    return;
  }
  size_t length = kind % 63;
  for (size_t i = 0; i < length; i++)
    text[i] = (char)byte(input);
  text[length] = '\0';
}

/* Each instruction adds a type, or something to the last struct. */
static struct btf *make_btf(struct input *input) {
  struct btf *btf = btf__new_empty();
  btf__add_int(btf, "unsigned long long", 8, 0);
  while (input->at < input->end) {
    char text[64], tag[80];
    uint8_t operation = byte(input);
    int type = byte(input) % 16;
    switch (operation % 9) {
    case 0:
      name(input, text);
      btf__add_struct(btf, text, word(input) % 8192);
      break;
    case 1:
      name(input, text);
      btf__add_field(btf, text, type, word(input), 0);
      break;
    case 2:
      btf__add_array(btf, 1, type, word(input));
      break;
    case 3:
      name(input, text);
      btf__add_typedef(btf, text, type);
      break;
    case 4:
      name(input, text);
      snprintf(tag, sizeof(tag), "bpf_window:%.60s",
               operation & 8    ? text
               : operation & 16 ? "total"
                                : "front=lsm");
      btf__add_decl_tag(btf, tag, type, (int)byte(input) - 1);
      break;
    case 5:
      btf__add_int(btf, "int", operation & 8 ? 8 : 4, 0);
      break;
    case 6:
      name(input, text);
      btf__add_volatile(btf, type);
      break;
    case 7:
      btf__add_func(btf, "count", BTF_FUNC_GLOBAL, btf__add_func_proto(btf, 1));
      break;
    case 8:
      btf__add_var(btf, "stats", BTF_VAR_GLOBAL_ALLOCATED, type);
      break;
    }
  }
  return btf;
}

/* Offsets and ids may be any number; libbpf looks at sizes only. */
static struct btf *damage(struct btf *btf, struct input *input) {
  uint32_t size;
  const void *sound = btf__raw_data(btf, &size);
  unsigned char *raw = sound ? malloc(size) : NULL;
  if (!raw)
    return btf;
  memcpy(raw, sound, size);
  uint32_t header = sizeof(struct btf_header);
  for (int i = 0; i < 4 && input->at < input->end && size > header; i++) {
    uint32_t at = header + word(input) % (size - header);
    raw[at] = byte(input);
  }
  struct btf *damaged = btf__new(raw, size);
  free(raw);
  if (!damaged)
    return btf;
  btf__free(btf);
  return damaged;
}

static void compute(const struct bpf_window_epoch *record,
                    const uint64_t *buckets) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  struct window_snapshot snapshot = {
      .slots = 2, .cpus = 1, .values = record->values, .buckets = buckets};
  struct window_ratio ratio;
  int64_t drift;
  window_sum(&snapshot, 1, UINT64_MAX, sums);
  window_total_at(&snapshot, UINT64_MAX, sums);
  window_ledger_drift(record, sums, &drift);
  if (window_ratio_from_roles(&ratio, record))
    window_ratio_percent(&ratio, record->values, sums);
  char names[40];
  uint32_t first;
  window_counter_names(record, names, sizeof(names));
  window_values_of(record, names, &first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint64_t buckets[2 * (1 + BPF_WINDOW_MAX_VALUES)];
  struct bpf_window_epoch record;
  struct failure failure;
  libbpf_set_print(NULL);

  /* The record as bytes, and buckets behind it. */
  memset(&record, 0, sizeof(record));
  memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
  memset(buckets, 0xff, sizeof(buckets));
  memcpy(buckets, data, size < sizeof(buckets) ? size : sizeof(buckets));
  if (!window_epoch_problem(&record))
    compute(&record, buckets);

  /* The damage is at the end, so that the seeds stay what they are. */
  size_t damaging = size > 24 && data[size - 1] % 2 ? 12 : 0;
  struct input input = {data, data + size - damaging};
  struct input rest = {data + size - damaging, data + size};
  struct btf *btf = make_btf(&input);
  if (damaging)
    btf = damage(btf, &rest);
  struct describe_fronts fronts;
  for (unsigned id = 0; id < btf__type_cnt(btf); id++)
    if (describe_struct(btf, id, &record, &failure) == 0) {
      record.width_ns = 1;
      if (window_epoch_problem(&record))
        abort(); /* what is described must be sound */
      compute(&record, buckets);
    }
  describe_fronts(btf, &fronts, &failure);
  describe_wants_function(btf, "count", "lsm", false);
  describe_wants_map(btf, "stats", NULL);
  btf__free(btf);
  return 0;
}
