#!/bin/bash
# Completion knows the verbs, every option of their help, and the windows.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"
# shellcheck source=completion/bpf-window
. "$SOURCE_DIR/completion/bpf-window"
PATH=$BUILD_DIR:$PATH

# complete_words WORD...: what is offered for the last one.
complete_words() {
  COMP_WORDS=(bpf-window "$@")
  COMP_CWORD=$#
  _bpf_window
  echo "${COMPREPLY[*]}"
}

is "$(complete_words sh)" "show" "a verb"
is "$(complete_words '' | tr ' ' '\n' | grep -v ^- | sort)" \
  "$("$BUILD_DIR/bpf-window" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort)" "the verbs of --help, all of them"
for verb in $(complete_words '' | tr ' ' '\n' | grep -v ^-); do
  is "$(complete_words "$verb" -- | tr ' ' '\n' | grep -v -- '^--help$' | sort)" \
    "$("$BUILD_DIR/bpf-window" "$verb" --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' |
      grep -vE -- "^--help$" | sort -u |
      if [ "$verb" = report ]; then grep -v -- '^--input$'; else cat; fi)" "the options of $verb"
done
seq 5 20 | sed 's/$/ 0 10 8 1 1 0/' | make_counted
is "$(complete_words show counte)" "counted" "a window"

is "$(complete_words help polic)" "policy" "a verb behind help"
done_testing
