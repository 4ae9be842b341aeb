#!/usr/bin/env bash
# Everything that is tested before a release, but for the hunts for planted faults (scripts/hunt-faults.sh) and
# the exploration with other seeds (scripts/explore.sh). Needs the .NET 10 SDK, and as root installs what the tests can use.
# The last line counts the tests that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

step bash scripts/install-packages.sh
start protocol bash scripts/check-protocol.sh
step dotnet build -c Release -p:Analyze=true
await protocol
counted bash scripts/test-analyzers.sh
end_compiler

# All cases of the suites, with and without freed memory within reach.
export VORON_SUITES=full
test_solution
unset VORON_SUITES

start windows bash scripts/test-windows.sh --quick
counted bash scripts/test-packages.sh
counted bash scripts/test-samples.sh --no-build
counted bash scripts/test-debug.sh
await windows
finish
