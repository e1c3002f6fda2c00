#!/bin/bash
# collectd's own web pages, collection3, with the snippet for our types: served by a real web
# server, visited by a real browser. Every graph is there, as a picture of the right kind.
# PICTURES=FOLDER keeps the browser's screenshots for somebody to look at.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"

collection3=/usr/share/doc/collectd-core/examples/collection3
[ -f "$collection3/bin/graph.cgi" ] || skip_all "collection3 is not installed"
for program in rrdtool lighttpd chromium perl curl; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done
perl -e 'use RRDs; use Config::General; use Regexp::Common; use HTML::Entities; use CGI; use URI::Escape' 2>/dev/null ||
  skip_all "collection3's Perl modules are not installed"

folder=$(mktemp -d)
pictures=${PICTURES:-$folder}
trap 'servers_stop; rm -rf "$folder"' EXIT

cp -r "$collection3" "$folder/collection3"
mkdir "$folder/collection.d"
cp "$SOURCE_DIR/collection.d/bpf_window.conf" "$folder/collection.d/"
{
  echo "DataDir \"$folder/rrd\""
  cat "$collection3/etc/collection.conf"
  echo "include \"$folder/collection.d\""
} >"$folder/collection3/etc/collection.conf"
python3 "$SOURCE_DIR/tests/outputs/make_day.py" "$folder/rrd/private"
series=$(cd "$folder/rrd/private" && find . -name '*.rrd')
expected=$(sed -E 's,/(cache_(result|operation)|memory)-.*,/\1,' <<<"$series" | sort -u | wc -l)

port=$(free_ports 1)
cat >"$folder/lighttpd.conf" <<END
server.document-root = "$folder/collection3"
server.bind = "127.0.0.1"
server.port = $port
server.errorlog = "$folder/lighttpd.log"
server.breakagelog = "$folder/cgi.log"
server.modules = ("mod_cgi")
cgi.assign = (".cgi" => "/usr/bin/perl")
mimetype.assign = (".css" => "text/css", ".js" => "text/javascript", ".png" => "image/png")
END
lighttpd -D -f "$folder/lighttpd.conf" >"$folder/lighttpd.out" 2>&1 &
SERVERS+=($!)
until_true 30 is_listening "$port"
base=http://127.0.0.1:$port/bin

# browse URL NAME [HEIGHT]: what the page is once its scripts have run, and a picture of it
browse() {
  local options=(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage
    "--user-data-dir=$folder/chromium" --virtual-time-budget=60000)
  chromium "${options[@]}" "--window-size=1100,${3:-900}" \
    "--screenshot=$pictures/$2.png" "$1" >>"$folder/chromium.log" 2>&1
  chromium "${options[@]}" --dump-dom "$1" 2>>"$folder/chromium.log"
}

page=$(browse "$base/index.cgi" hosts)
like "$page" 'private' "the list of hosts has ours"

selection="hostname=private;plugin=bpf_window"
for span in hour:3600 day:86400; do
  page=$(browse "$base/index.cgi?action=show_selection;$selection;timespan=${span#*:}" \
    "${span%:*}" 5400)
  like "$page" "begin=-${span#*:}\"" "the page of the last ${span%:*}"
  span=${span%:*}
  mapfile -t graphs < <(grep -oE 'graph\.cgi\?[^"]*' <<<"$page" | sed 's/&amp;/\&/g' | sort -u)
  # The types that are stacked have one for a window, all others one for each series.
  is "${#graphs[@]}" "$expected" "$span: $expected graphs for $(wc -l <<<"$series") series"
  for graph in "${graphs[@]}"; do
    kind=$(curl -s -o "$folder/graph.png" -w '%{content_type}' "$base/$graph")
    if [[ $kind == image/png* ]] && [ "$(head -c 8 "$folder/graph.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]; then
      ok "$span: $(grep -oE '(plugin_instance|type(_instance)?)=[^;&]*' <<<"$graph" | cut -d= -f2 | xargs) is a picture"
    else
      not_ok "$span: $graph" "$kind" "$(head -c 300 "$folder/graph.png" | tr -cd '[:print:]')"
    fi
  done
done
is "$(grep -iE 'warn|fail|error|invalid' "$folder/cgi.log" 2>/dev/null | sort | uniq -c | head -n 5)" "" \
  "the pages' programs complain of nothing"
done_testing
