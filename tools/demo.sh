#!/usr/bin/env bash
# Shows the line on one example: contract -> plan -> strategy and tests -> backtest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

contract=contracts/oversold_dip.yaml
candles=tests/fixtures/sample_btc.csv
demo=build/demo

step() { printf '\n== %s\n' "$*"; }

rm -rf "$demo"
mkdir -p "$demo"

step "1. The contract: $contract"
grep -A 3 '^rules:' "$contract"

step "2. The plan: stratwright plan $contract"
stratwright plan "$contract"

step "3. The strategy and its tests: stratwright generate $contract --out $demo"
stratwright generate "$contract" --out "$demo"

step "4. Its tests: pytest $demo/tests"
python -m pytest -q -p no:cacheprovider --import-mode=importlib -c /dev/null --rootdir "$demo" "$demo/tests"

step "5. The backtest: stratwright backtest $contract --data $candles --out $demo/results"
stratwright backtest "$contract" --data "$candles" --out "$demo/results"

step "Everything is here"
find "$demo" -type f -not -path '*/__pycache__/*' | LC_ALL=C sort | sed 's/^/  /'
echo
echo "  The generated file also runs on its own:"
echo "  .venv/bin/python $demo/Backtest/codes/oversold_dip.py --mode backtest --data $candles --out results/"
echo
echo "  The candles are synthetic (tests/fixtures/README.md); the figures say nothing about real markets."
