exampleprometheusdir = $(docdir)/examples/prometheus
dist_exampleprometheus_DATA = docs/prometheus/bpf_window.rules.yml
