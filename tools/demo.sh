#!/usr/bin/env bash
# Shows the line on one example: template -> contract -> plan -> candidate -> gates in the sandbox ->
# evidence -> branch, tag and pull request, in a repository of its own with a bare remote.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
demo=$root/build/demo
work=$demo/repository
export GIT_AUTHOR_NAME="Demo Trader" GIT_AUTHOR_EMAIL="demo@localhost"
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"

step() { printf '\n== %s\n' "$*"; }

rm -rf "$demo"
mkdir -p "$work"

step "1. A strategy of your own: stratwright new trend"
git init -q --bare "$demo/remote.git"
git init -q -b main "$work"
cd "$work"
stratwright new trend --name SteadyTrend
git remote add origin "$demo/remote.git"
git push -q origin main
grep -A 2 '^rules:' contracts/steady_trend.yaml

step "2. Are the candles sound? stratwright data check"
stratwright data check data/example_SP500-1d.csv --picture "$demo/candles.svg"

step "3. The line: stratwright run contracts/steady_trend.yaml"
start=$(date +%s.%N)
stratwright run contracts/steady_trend.yaml
printf '\n  took %.1f s\n' "$(awk "BEGIN{print $(date +%s.%N) - $start}")"

step "4. The same contract again changes nothing"
stratwright run --quiet contracts/steady_trend.yaml >"$demo/again.txt"
head -n 2 "$demo/again.txt"

step "5. Does the evidence hold? stratwright verify TAG"
tag=$(git tag --list 'ai/*')
stratwright verify "$tag" | tail -n 1

step "6. What a reviewer sees"
stratwright pr list
stratwright report "$tag" --out "$demo/report"

step "Everything is here"
cat <<TEXT
  repository    build/demo/repository   (try: cd build/demo/repository && stratwright pr show 1)
  remote        build/demo/remote.git
  branch        $(git branch --list 'ai/*' --format='%(refname:short)')
  tag           $tag
  report        build/demo/report/report.html

  These candles are real: daily values of the S&P 500 index, 1999 to 2018. An index cannot be
  bought, and twenty years behind us promise nothing. The other templates' candles are synthetic.
TEXT
