#!/usr/bin/env bash
# Runs the tests with the engine's branches watched, and lists those that were not taken. Takes some three times as long as the tests.
# Arguments go to "dotnet test", such as --filter FullyQualifiedName~Torture.
set -euo pipefail
cd "$(dirname "$0")/.."

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
dotnet test -c Release test/Voron.Tests -p:MachineCode=false --collect "XPlat Code Coverage" --settings test/coverage.runsettings --results-directory "$results" "$@"
dotnet run -c Release --no-build --project test/Voron.Torture -- coverage "$(find "$results" -name coverage.cobertura.xml)" --markdown coverage.md
