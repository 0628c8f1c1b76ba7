#!/usr/bin/env bash
# Shows the line on one example: contract -> plan -> candidate -> gates in the sandbox -> evidence ->
# branch, tag and pull request, in a repository of its own with a bare remote.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
demo=$root/build/demo
work=$demo/repository

step() { printf '\n== %s\n' "$*"; }

rm -rf "$demo"
mkdir -p "$work/contracts" "$work/tests/fixtures"
cp contracts/oversold_dip.yaml "$work/contracts/"
cp tests/fixtures/sample_btc.csv "$work/tests/fixtures/"

step "1. A repository with a contract, and its own remote"
git init -q --bare "$demo/remote.git"
git init -q -b main "$work"
cd "$work"
git config user.name "Demo Trader"
git config user.email "demo@localhost"
git remote add origin "$demo/remote.git"
git add .
git commit -q -m "contracts: buy oversold dips"
git push -q origin main
grep -A 3 '^rules:' contracts/oversold_dip.yaml

step "2. The line: stratwright run contracts/oversold_dip.yaml"
start=$(date +%s.%N)
stratwright run contracts/oversold_dip.yaml
printf '\n  took %.1f s\n' "$(echo "$(date +%s.%N) - $start" | bc 2>/dev/null || awk "BEGIN{print $(date +%s.%N) - $start}")"

step "3. The same contract again changes nothing"
stratwright run --quiet contracts/oversold_dip.yaml

step "4. Does the evidence hold? stratwright verify TAG"
tag=$(git tag --list 'ai/*')
stratwright verify "$tag" | tail -n 1

step "5. What a reviewer sees"
stratwright pr list
stratwright report "$tag" --out "$demo/report" | tail -n 1

step "Everything is here"
cat <<TEXT
  repository    build/demo/repository   (try: cd build/demo/repository && stratwright pr show 1)
  remote        build/demo/remote.git
  branch        $(git branch --list 'ai/*' --format='%(refname:short)')
  tag           $tag
  report        build/demo/report/report.html

  The candles are synthetic (tests/fixtures/README.md); the figures say nothing about real markets.
TEXT
