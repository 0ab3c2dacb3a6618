#!/usr/bin/env bash
# Checks HTML reports in a real browser: check-html.sh REPORT.html…
# Needs node, npm and Chromium (CHROMIUM names another path); two npm packages go to a folder for temporary files.
# Exit codes: 0 clean, 1 a fault, 2 wrong use, 3 something needed is not here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: $0 REPORT.html..." >&2; exit 2; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
export CHROMIUM
for need in node npm "${CHROMIUM:-chromium}"; do
  command -v "$need" >/dev/null 2>&1 || { echo "skipped: $need is not installed" >&2; exit 3; }
done
modules=${TMPDIR:-/tmp}/hookbench-check-html
if [ ! -d "$modules/node_modules/axe-core" ] || [ ! -d "$modules/node_modules/playwright-core" ]; then
  mkdir -p "$modules"
  [ -f "$modules/package.json" ] || echo '{"private":true}' >"$modules/package.json"
  (cd "$modules" && npm install --silent --no-audit --no-fund playwright-core@1 axe-core@4 >/dev/null) ||
    { echo 'skipped: playwright-core and axe-core cannot be installed' >&2; exit 3; }
fi
exec node "$here/check-html.mjs" "$modules" "$@"
