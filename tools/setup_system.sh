#!/usr/bin/env bash
# Installs the few programs that pip cannot bring, where that is possible without asking.
#
# As root on a machine with apt they are installed; elsewhere this says what is missing and goes on,
# because most of the product works without them. With --strict a missing program is an error.
set -euo pipefail

strict=no
if [[ "${1:-}" == "--strict" ]]; then strict=yes; fi

# program:package - git keeps the evidence, bubblewrap is the sandbox without Docker.
needed=(git:git bwrap:bubblewrap make:make)
# The tests of the other sandbox; a developer's machine is not given an engine unasked.
if [[ "$strict" == yes && "$(id -u)" -eq 0 ]]; then needed+=(dockerd:docker.io); fi
# The report is looked at in a real browser; elsewhere those tests say what they need.
if [[ "$strict" == yes ]]; then needed+=(chromium:chromium); fi
# The bus and the Freqtrade bridge are tested with a real Redis; the package would start one unasked.
if [[ "$strict" == yes ]]; then needed+=(redis-server:redis-server); fi

missing=()
for pair in "${needed[@]}"; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

if [[ "$(id -u)" -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "setup: installing ${missing[*]} with apt-get"
  export DEBIAN_FRONTEND=noninteractive
  if { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}"; } \
    >/dev/null; then
    exit 0
  fi
  echo "setup: apt-get could not install ${missing[*]}; its words are above." >&2
else
  echo "setup: not installed here: ${missing[*]}." >&2
  echo "setup: install with your package manager, for example: sudo apt-get install ${missing[*]}" >&2
fi
if [[ "$strict" == yes ]]; then exit 4; fi
echo "setup: going on; what needs them will say so." >&2
