dist_man_MANS += man/collectd-bpf_window.5
