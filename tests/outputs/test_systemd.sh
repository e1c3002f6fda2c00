#!/bin/bash
# The package under a real systemd, in a virtual machine: each release of RELEASES with its own
# kernel. The service as Debian ships it, then locked down as upstream's is, without and with
# packaging/systemd/bpf_window.conf. What is looked at is in systemd_guest.sh.
#   PACKAGES   a folder of .deb files to take instead of building them
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/outputs/packages.sh
. "$SOURCE_DIR/tests/outputs/packages.sh"

why=$(packages_need | head -n 1)
[ -z "$why" ] || skip_all "$why"
for program in qemu-system-x86_64 busybox cpio; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
[ "$(uname -m)" = x86_64 ] || skip_all "the virtual machines are for x86-64 only"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
LOG=$folder/log
vm=$SOURCE_DIR/tests/vm

kernel_of() {
  case $1 in
  bookworm) echo 6.1 ;;
  trixie) echo 6.12 ;;
  *) echo newest ;;
  esac
}

# guest_make RELEASE ROOT: a system that boots, with our package and the guest's job
guest_make() {
  local root=$2
  root_make "$1" "$root" || return 1
  mkdir "$root/packages"
  cp "$BUILT"/collectd-bpf-window_*.deb "$root/packages/" || return 1
  apt_install "$root" systemd collectd collectd-utils || return 1
  in_root "$root" sh -c 'apt-get -q install -y --no-install-recommends /packages/*.deb' >>"$LOG" 2>&1 || return 1
  # The guest has it all in memory.
  rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/usr/share/{doc,locale,man,i18n} "$root/packages"
  : >"$root/etc/machine-id"
  echo guest >"$root/etc/hostname"
  printf '127.0.0.1 localhost guest\n' >"$root/etc/hosts"
  # Other plugins may need libraries that their packages only recommend.
  sed -i -e 's/^LoadPlugin /#&/' -e 's/^#LoadPlugin unixsock/LoadPlugin unixsock/' \
    -e 's/^FQDNLookup.*/FQDNLookup false\nInterval 1/' "$root/etc/collectd/collectd.conf"
  mkdir -p "$root"/vm/root
  cp "$(readlink -f "$(command -v busybox)")" "$root/vm/busybox"
  cp "$SOURCE_DIR/tests/tap.sh" "$SOURCE_DIR/tests/outputs/systemd_guest.sh" \
    "$SOURCE_DIR/packaging/systemd/bpf_window.conf" "$root/vm/"
  # The kernel's first root can be neither pivoted away from nor moved: see tests/vm/guest-init.
  cat >"$root/init" <<'END'
#!/vm/busybox sh
b=/vm/busybox
if [ "${1:-}" != settled ]; then
  $b mount --bind / /vm/root
  cd /vm/root
  $b mount --move . /
  exec $b chroot . /init settled
fi
exec /lib/systemd/systemd
END
  chmod 755 "$root/init"
  cat >"$root/etc/systemd/system/proof.service" <<'END'
[Unit]
Description=what this guest is for
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/bash -c 'stty -F /dev/ttyS1 raw -echo; status=0; bash /vm/systemd_guest.sh >/dev/ttyS1 2>/dev/console || status=$$?; printf "\n#@@ guest end status=%%s taint=%%s\n" $$status $$(cat /proc/sys/kernel/tainted) >/dev/console; sleep 2; /vm/busybox poweroff -f'
END
  cat >"$root/etc/systemd/system/proof.target" <<'END'
[Unit]
Requires=multi-user.target
Wants=proof.service
END
  # The guest starts the daemon itself, once it is ready to look at it.
  in_root "$root" systemctl disable collectd >>"$LOG" 2>&1 || return 1
}

built() { # RELEASE
  if [ -n "${PACKAGES:-}" ]; then BUILT=$PACKAGES; else packages_build "$1"; fi
}

for release in ${RELEASES:-bookworm trixie}; do
  name=$(kernel_of "$release")
  IFS=$'\t' read -r _ vmlinuz modules < <("$vm/kernels.sh" "$name")
  if [ "$vmlinuz" = - ]; then
    skip "$release: systemd" "no kernel $name: $modules"
    continue
  fi
  if ! { built "$release" && guest_make "$release" "$folder/root"; }; then
    not_ok "$release: a system with systemd and the package" "$(tail -n 5 "$LOG")"
    rm -rf "$folder/root"
    continue
  fi
  (cd "$folder/root" && find . -mindepth 1 | cpio --quiet -o -H newc) >"$folder/initrd"
  rm -rf "$folder/root"
  status=0
  "$vm/boot.sh" --kernel "$vmlinuz" --initrd "$folder/initrd" --log "$folder/console" \
    --memory 3G --timeout 3600 \
    --cmdline "systemd.unit=proof.target systemd.show_status=false systemd.default_timeout_start_sec=900" \
    >"$folder/tap" 2>"$folder/why" || status=$?
  while read -r line; do
    case $line in
    'ok '*) ok "$release: ${line#* - }" ;;
    'not ok '*) not_ok "$release: ${line#* - }" ;;
    '#'*) echo "$line" ;;
    esac
  done <"$folder/tap"
  if [ "$status" -eq 0 ] && grep -q '^1\.\.[1-9]' "$folder/tap"; then
    ok "$release: the guest with Linux $name came to its end, without a complaint of its kernel"
  else
    not_ok "$release: the guest with Linux $name came to its end (status $status)" \
      "$(cat "$folder/why")" "$(tail -n 20 "$folder/console" | tr -d '\r')"
  fi
  [ -z "${CONSOLE:-}" ] || cp "$folder/console" "$CONSOLE-$release"
done
done_testing
