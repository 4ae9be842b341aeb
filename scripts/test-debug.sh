#!/usr/bin/env bash
# Builds the torture tool with the engine's debug assertions and runs each suite for a short while: the assertions name the step at which a
# protocol is broken, where a release build shows only the effect.
# Usage: scripts/test-debug.sh [MINUTES] [SEED]   (by default 1.5 minutes for all suites together, and seed 1)
# The last line counts the suites that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en

minutes=${1:-1.5}
seed=${2:-1}
if ! dotnet build test/Voron.Torture -c Debug -v quiet; then
  echo "0 passed, 1 failed"
  exit 1
fi

failures=$(mktemp -d)
echo "All suites for $minutes minutes, seed $seed"
if dotnet test/Voron.Torture/bin/Debug/net10.0/Voron.Torture.dll all --minutes "$minutes" --seed "$seed" --shrink-seconds 10 --failures "$failures"; then
  rm -rf "$failures"
else
  echo "[FAIL] debug builds: what failed is in $failures" >&2
  exit 1
fi
