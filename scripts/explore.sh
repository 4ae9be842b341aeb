#!/usr/bin/env bash
# Looks for failures that no fixed seed shows: runs all suites with seeds of its own, one round after the other, and prints for each failure the command
# that replays it. What it finds becomes a fixed case of the tests.
# Usage: scripts/explore.sh MINUTES [SEED]   (SEED: that of the first round; from the clock by default. The next round has the next seed.)
# The last line counts the suites that passed and failed, over all rounds.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en MSBUILDDISABLENODEREUSE=1

minutes=${1:?"Usage: scripts/explore.sh MINUTES [SEED]"}
seed=${2:-$(date +%s)}
round=20
if ! dotnet build test/Voron.Torture -c Release -v quiet; then
  echo "0 passed, 1 failed"
  exit 1
fi

end=$((SECONDS + minutes * 60))
passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
while [ "$SECONDS" -lt "$end" ]; do
  left=$(((end - SECONDS + 59) / 60))
  share=$((left < round ? left : round))
  echo "== seed $seed, $share minutes"
  dotnet test/Voron.Torture/bin/Release/net10.0/Voron.Torture.dll all --minutes "$share" --seed "$seed" --failures torture-failures 2>&1 | tee "$output"
  read -r more_passed more_failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$output" | tail -1)
  passed=$((passed + ${more_passed:-0}))
  failed=$((failed + ${more_failed:-1}))
  seed=$((seed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
