# Shell and Python only; nothing is built.
EXTRA_DIST += tests/outputs/edges.py tests/outputs/graphite_render.py \
  tests/outputs/make_day.py tests/outputs/relay.py tests/outputs/servers.sh \
  tests/outputs/test_aggregation.sh tests/outputs/test_collection3.sh \
  tests/outputs/in_root.sh tests/outputs/packages.sh tests/outputs/systemd_guest.sh \
  tests/outputs/test_expressions.sh tests/outputs/test_packages.sh tests/outputs/test_servers.sh \
  tests/outputs/test_systemd.sh tests/outputs/test_threshold.sh
