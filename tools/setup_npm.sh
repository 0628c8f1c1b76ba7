#!/usr/bin/env bash
# Fetches what the tests hold tests.doubles.github against: GitHub's OpenAPI description and real webhook
# payloads; GitHub's own parser of workflows, bundled into one program; and what looks at the report's
# page in Chromium (tools/npm/look_at_page.mjs): Playwright without a browser, and axe; and Context7's MCP server. The versions are pinned in tools/npm/package.json; of each package only the files for
# github.com are kept (the whole would be 400 MB), where `npm install` would put them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pins=tools/npm/package.json
target=build/npm
program=tools/npm/check_workflow.mjs
context7=tools/npm/context7
wanted="$(cat "$pins" "$program" "$context7"/*.json "${BASH_SOURCE[0]}" | sha256sum)"
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
fetch axe-core package.json LICENSE axe.min.js
fetch playwright-core package.json LICENSE browsers.json index.js lib
rm -rf "$target/fetched"

# The parser with what it needs, in a folder of its own: `npm install` would remove the above.
bundler="$target/bundler"
mkdir -p "$bundler"
cp "$program" "$bundler/"
echo '{"private": true}' >"$bundler/package.json"
mapfile -t parts < <(node -p "Object.entries(require('./$pins').bundled).map(p => p.join('@')).join('\n')")
echo "setup: fetching GitHub's parser of workflows: ${parts[*]}"
npm install --silent --prefix "$bundler" --ignore-scripts --no-audit --no-fund --no-package-lock \
  "${parts[@]}" >/dev/null 2>&1 || {
  echo "setup: npm could not fetch ${parts[*]}. Is the registry reachable? Try: npm view esbuild" >&2
  exit 4
}
"$bundler/node_modules/.bin/esbuild" "$bundler/check_workflow.mjs" --bundle --platform=node --format=cjs \
  --outfile="$target/check_workflow.cjs" --log-level=error
rm -rf "$bundler"

# Context7's MCP server with all that it needs, at the versions and digests of its lock.
echo "setup: fetching Context7's MCP server"
rm -rf "$target/context7"
mkdir -p "$target/context7"
cp "$context7"/*.json "$target/context7/"
npm ci --silent --prefix "$target/context7" --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 || {
  echo "setup: npm could not fetch @upstash/context7-mcp. Is the registry reachable? Try: npm view @upstash/context7-mcp" >&2
  exit 4
}
echo "$wanted" >"$target/.ready"
