EXTRA_DIST += tests/fuzz/test_fuzz.sh \
  tests/fuzz/fuzz_conf.c tests/fuzz/fuzz_config.c tests/fuzz/fuzz_describe.c tests/fuzz/fuzz_input.c \
  tests/fuzz/corpus
