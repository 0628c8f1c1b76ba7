#!/usr/bin/env bash
# Optional: refuses a commit that changes the bridge's code and not infrastructure_update.md.
# Turn it on with: ln -s ../../tools/infrastructure_guard.sh .git/hooks/pre-commit
set -euo pipefail

changed=$(git diff --cached --name-only)
if grep -qE '^integration/.*\.py$' <<<"$changed" && ! grep -qx 'infrastructure_update.md' <<<"$changed"; then
  echo "[HOOK] Update infrastructure_update.md for this change." >&2
  exit 1
fi
