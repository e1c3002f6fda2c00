EXTRA_DIST += tests/examples/test_exits.sh
