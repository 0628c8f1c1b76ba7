#!/usr/bin/env bash
# Fetches what the tests hold bot.testing against: GitHub's OpenAPI description and real webhook
# payloads. The versions are pinned in tools/npm/package.json; of each package only the files for
# github.com are kept (the whole would be 400 MB), where `npm install` would put them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pins=tools/npm/package.json
target=build/npm
wanted="$(cat "$pins" "${BASH_SOURCE[0]}" | sha256sum)"
if [[ -f "$target/.ready" && "$(cat "$target/.ready")" == "$wanted" ]]; then exit 0; fi

if ! command -v npm >/dev/null; then
  if [[ "$(id -u)" -eq 0 ]] && command -v apt-get >/dev/null; then
    echo "setup: installing npm with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends npm; } >/dev/null
  else
    echo "setup: npm was not found. Install Node.js with npm, for example: sudo apt-get install npm" >&2
    exit 4
  fi
fi

fetch() { # package, then the files to keep
  local name="$1" version folder archive
  shift
  version="$(node -p "require('./$pins').dependencies['$name']")"
  folder="$target/node_modules/$name"
  echo "setup: fetching $name $version"
  archive="$(npm pack --silent --ignore-scripts --pack-destination "$target/fetched" \
    "$name@$version" 2>/dev/null | tail -1)" || {
    echo "setup: npm could not fetch $name@$version. Is the registry reachable? Try: npm view $name" >&2
    exit 4
  }
  rm -rf "$folder"
  mkdir -p "$folder"
  tar -xzf "$target/fetched/$(basename "$archive")" -C "$folder" --strip-components=1 "${@/#/package/}"
}

mkdir -p "$target/fetched"
fetch @octokit/openapi package.json LICENSE generated/api.github.com.json
fetch @octokit/webhooks-examples package.json api.github.com
rm -rf "$target/fetched"
echo "$wanted" >"$target/.ready"
