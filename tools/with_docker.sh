#!/usr/bin/env bash
# Runs a command with a Docker engine of its own, which lives exactly as long as the command.
#
#   tools/with_docker.sh COMMAND...
#
# The command finds the engine's address in STRATWRIGHT_TEST_ENGINE. The engine has its own socket and
# its own folder, no bridge and no firewall rules, so it disturbs no other engine and needs no network.
# It needs root and dockerd. Exit codes: the command's, or 4 if the engine does not start.
set -euo pipefail

patience_s=60
if [[ $# -eq 0 ]]; then echo "usage: tools/with_docker.sh COMMAND..." >&2; exit 2; fi
if [[ "$(id -u)" -ne 0 ]] || ! command -v dockerd >/dev/null; then
  echo "docker: an engine of our own needs root and dockerd (apt-get install docker.io)." >&2
  exit 4
fi

place="$(mktemp -d "${TMPDIR:-/tmp}/stratwright-engine-XXXXXX")"
socket="unix://$place/engine.sock"
dockerd --host "$socket" --data-root "$place/data" --exec-root "$place/exec" \
  --pidfile "$place/engine.pid" --bridge none --iptables=false --ip6tables=false \
  --ip-forward=false --ip-masq=false --log-level warn >"$place/engine.log" 2>&1 &
engine=$!

stop() {
  kill -TERM "$engine" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$engine" 2>/dev/null || break; sleep 0.1; done
  kill -KILL "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  rm -rf --one-file-system "$place" 2>/dev/null || true
}
trap stop EXIT

for _ in $(seq $((patience_s * 5))); do
  if [[ -S "$place/engine.sock" ]] && docker --host "$socket" version >/dev/null 2>&1; then
    ready=yes
    break
  fi
  kill -0 "$engine" 2>/dev/null || break
  sleep 0.2
done
if [[ "${ready:-no}" != yes ]]; then
  echo "docker: the engine did not start; its last words:" >&2
  tail -n 20 "$place/engine.log" >&2
  exit 4
fi

status=0
STRATWRIGHT_TEST_ENGINE="$socket" "$@" || status=$?
exit "$status"
