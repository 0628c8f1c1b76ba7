#!/usr/bin/env bash
# Runs a command with a Docker engine of its own, which lives exactly as long as the command.
#
#   tools/with_docker.sh COMMAND...
#
# The command finds the engine's address in STRATWRIGHT_TEST_ENGINE. The engine has its own socket
# and its own folder, no bridge and no firewall rules: it disturbs no other engine and needs no
# network. That takes root and dockerd; without them an engine that is already there is used.
# Exit codes: the command's, or 4 if there is no engine.
set -euo pipefail

patience_s=60
if [[ $# -eq 0 ]]; then echo "usage: tools/with_docker.sh COMMAND..." >&2; exit 2; fi

answers() {  # SOCKET - by Python, because the docker program may be missing where dockerd is not
  python3 - "${1#unix://}" <<'PYTHON' 2>/dev/null
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.settimeout(5)
    connection.connect(sys.argv[1])
    connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
    sys.exit(b" 200 " not in connection.recv(64))
PYTHON
}

if [[ "$(id -u)" -ne 0 ]] || ! command -v dockerd >/dev/null; then
  there="${DOCKER_HOST:-unix:///var/run/docker.sock}"
  if ! answers "$there"; then
    echo "docker: no engine answers; one of our own needs root and dockerd (docker.io)." >&2
    exit 4
  fi
  STRATWRIGHT_TEST_ENGINE="$there" exec "$@"
fi

# Sockets have short names by law of the kernel; images go where there is room.
place="$(mktemp -d /tmp/stratwright-engine-XXXXXX)"
data="$(mktemp -d "${TMPDIR:-/tmp}/stratwright-images-XXXXXX")"
socket="unix://$place/engine.sock"
dockerd --host "$socket" --data-root "$data" --exec-root "$place/exec" \
  --pidfile "$place/engine.pid" --bridge none --iptables=false --ip6tables=false \
  --ip-forward=false --ip-masq=false --log-level warn >"$place/engine.log" 2>&1 &
engine=$!

stop() {
  kill -TERM "$engine" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$engine" 2>/dev/null || break; sleep 0.1; done
  kill -KILL "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  rm -rf --one-file-system "$place" "$data" 2>/dev/null || true
}
trap stop EXIT

for _ in $(seq $((patience_s * 5))); do
  if answers "$socket"; then
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
