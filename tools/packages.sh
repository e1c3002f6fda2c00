#!/bin/sh
# Installs Debian packages by purpose: tools/packages.sh build|run|test|vm|...
#
# Asks the package manager only for what is missing, so that a machine which has
# everything needs no network. "a|b" is one package under the names of two releases.
set -eu
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }

packages_for() {
  case $1 in
  build) # configure, make
    echo autoconf automake libtool pkg-config make gcc libc6-dev \
      linux-libc-dev clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev \
      collectd-dev librrd-dev libjansson-dev libncurses-dev ;;
  run) # a private collectd that writes and draws
    echo collectd-core rrdtool fonts-dejavu-core ;;
  test) # the suites that run on this machine
    echo collectd-core collectd-utils e2fsprogs mount rrdtool fonts-dejavu-core \
      clang-format clang-tidy cppcheck libclang-rt-dev libcmocka-dev jq python3-minimal procps shellcheck mandoc strace tmux \
      valgrind xz-utils ;;
  outputs) # real servers behind collectd; packages in clean systems, and under systemd
    echo busybox-static chromium cpio curl debootstrap qemu-system-x86 graphite-carbon graphite-web jq libconfig-general-perl \
      libcgi-pm-perl libhtml-parser-perl 'libmicrohttpd12t64|libmicrohttpd12' \
      libprotobuf-c1 libregexp-common-perl librrds-perl liburi-perl lighttpd prometheus \
      python3-whisper rrdcached rrdtool ;;
  vm) # the suites in virtual machines
    echo qemu-system-x86 busybox-static cpio e2fsprogs xz-utils libcap2-bin ;;
  *)
    echo "tools/packages.sh: no packages are listed for \"$1\"" >&2
    return 2 ;;
  esac
}

is_installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

# Those of which no name is installed.
missing() {
  for names in "$@"; do
    found=
    for package in $(echo "$names" | tr '|' ' '); do
      ! is_installed "$package" || found=yes
    done
    [ -n "$found" ] || echo "$names"
  done
}

# For each of them the first name that this release has; a single name is itself.
names_of_release() {
  for names in "$@"; do
    chosen=
    for package in $(echo "$names" | tr '|' ' '); do
      [ -n "$chosen" ] || ! apt-cache show "$package" >/dev/null 2>&1 || chosen=$package
    done
    echo "${chosen:-${names%%|*}}"
  done
}

main() {
  wanted=
  for purpose in "$@"; do
    list=$(packages_for "$purpose")
    wanted="$wanted $list"
  done
  # shellcheck disable=SC2086 # a list of words
  lacking=$(missing $wanted | sort -u | tr "\n" " ")
  [ -n "$lacking" ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "tools/packages.sh: this is no Debian; please install: $lacking" >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "tools/packages.sh: needs root to install: $lacking" >&2
    return 1
  fi
  echo "Installing packages: $lacking" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq -o DPkg::Lock::Timeout=600 update >&2
  # shellcheck disable=SC2086 # a list of words
  lacking=$(names_of_release $lacking | tr "\n" " ")
  # A daemon that a package brings must not start: the tests run their own.
  policy=/usr/sbin/policy-rc.d
  made_policy=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    made_policy=yes
  fi
  status=0
  # shellcheck disable=SC2086
  apt-get -qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends \
    $lacking >&2 || status=$?
  [ -z "$made_policy" ] || rm -f "$policy"
  return "$status"
}

main "$@"
