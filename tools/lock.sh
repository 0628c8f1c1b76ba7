#!/usr/bin/env bash
# Writes the locks again: every package that the action, the workflows and `make setup` install, with
# its version and the digests of its files. Freqtrade comes first; the others take its versions, so
# that a tool has one version in every job. The locks name no index: pip's own setting counts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uv="${UV:-uv}"
compile() { # lock, then what goes into it
  local lock="$1"
  shift
  echo "lock: $lock"
  {
    echo "# Made by \`make lock\` from pyproject.toml; install with --require-hashes --no-deps."
    # What builds the product itself, and the one package of Freqtrade's that comes as source only.
    printf '%s\n' 'hatchling>=1.27' 'editables>=0.5' 'setuptools>=80' |
      "$uv" pip compile pyproject.toml - "$@" --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet \
        --no-config
  } >"$lock.new"
  mv "$lock.new" "$lock"
}

compile bot/locks/freqtrade.txt --extra github --extra feather --extra model --extra freqtrade -c tools/freqtrade.txt
compile bot/locks/github.txt --extra github --extra feather --extra model --only-binary :all: -c bot/locks/freqtrade.txt
compile tools/dev_lock.txt --extra dev -c bot/locks/freqtrade.txt
