#!/usr/bin/env bash
# Builds the torture tool with the engine's debug assertions and runs each suite for a short while: the assertions name the step at which a
# protocol is broken, where a release build shows only the effect.
# Usage: scripts/test-debug.sh [MINUTES] [SEED]   (by default 1.5 minutes for all suites together, and a seed from the clock)
# The last line counts the suites that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en

minutes=${1:-1.5}
seed=${2:-$(date +%s)}
if ! dotnet build test/Voron.Torture -c Debug -p:RunAnalyzers=false -v quiet; then
  echo "0 passed, 1 failed"
  exit 1
fi

failures=$(mktemp -d)
echo "All suites for $minutes minutes, seed $seed"
dotnet test/Voron.Torture/bin/Debug/net10.0/Voron.Torture.dll all --minutes "$minutes" --seed "$seed" --shrink-seconds 10 --failures "$failures"
status=$?

# The ledger has an entry for each suite that ran; a list that is not empty breaks the line after its bracket.
ran=$(grep -c '"suite":' "$failures/ledger.json" 2>/dev/null)
failed=$(grep -c '"failures": \[$' "$failures/ledger.json" 2>/dev/null)
[ "$status" -ne 0 ] && [ "${failed:-0}" -eq 0 ] && failed=1 && ran=$((${ran:-0} + 1))
if [ "${failed:-0}" -eq 0 ]; then
  rm -rf "$failures"
else
  echo "[FAIL] debug builds: what failed is in $failures"
fi
echo "$((${ran:-0} - ${failed:-0})) passed, ${failed:-0} failed"
[ "${failed:-0}" -eq 0 ]
