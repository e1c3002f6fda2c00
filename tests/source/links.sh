# shellcheck shell=bash
# Sourced by the tests: whether the links and anchors of pages lead somewhere.

# without_code PAGE: blocks of code are taken out, whose brackets are no links.
without_code() { awk '/^ *```/ { code = !code; next } !code && !/^(    |\t)/' "$1"; }

# anchors PAGE: of its headings, as GitHub makes them.
anchors() {
  without_code "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' |
    sed 's/\[\([^]]*\)\]([^)]*)/\1/g; s/[^[:alnum:] _-]//g; s/ /-/g'
}

links() { without_code "$1" | tr '\n' ' ' | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//; s/  */ /g' || true; }

# links_lead_somewhere DESCRIPTION PAGE...
links_lead_somewhere() {
  local description=$1 page link file target count=0 lost=
  shift
  for page in "$@"; do
    while read -r link; do
      [ -n "$link" ] || continue
      count=$((count + 1))
      [[ $link != *://* ]] || continue
      file=${link%%#*} target=$page
      [ -z "$file" ] || target=$(dirname "$page")/$file
      if [ ! -e "$target" ]; then
        lost+="$page: $link: no such file"$'\n'
      elif [[ $link = *'#'* ]] && ! anchors "$target" | grep -qxF -- "${link#*#}"; then
        lost+="$page: $link: no such heading"$'\n'
      fi
    done < <(links "$page")
  done
  if [ "$count" -lt 20 ]; then
    not_ok "$description" "only $count links were found"
  else
    is "$lost" "" "$description ($count)"
  fi
}
