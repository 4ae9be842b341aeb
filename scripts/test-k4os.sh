#!/usr/bin/env bash
# Runs the tests on the variant whose journal is compressed by the package K4os.Compression.LZ4 (-p:JournalCodec=K4os).
# Usage: scripts/test-k4os.sh FEED [arguments of the test runner, such as -namespace Voron.Tests.Journal]
# FEED is a folder, or a package source, that has the package in the version that Directory.Packages.props names. The variant is
# built below artifacts/k4os, beside nothing that a usual build makes, and the package goes to a cache of its own there.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1

feed=${1:?"Usage: scripts/test-k4os.sh FEED [arguments of the test runner]"}
shift
if [ -d "$feed" ]; then
  feed=$(cd "$feed" && pwd)
  version=$(sed -nE 's/.*"K4os.Compression.LZ4" Version="([^"]+)".*/\1/p' Directory.Packages.props)
  if ! compgen -G "$feed/*4os.?ompression.???.$version.nupkg" >/dev/null; then
    echo "$feed has no K4os.Compression.LZ4.$version.nupkg: the K4os variant was NOT RUN." >&2
    exit 2
  fi
fi

out=$PWD/artifacts/k4os
dotnet build -c Release test/Voron.Tests -v q -nologo -p:JournalCodec=K4os -p:RestoreAdditionalProjectSources="$feed" \
  -p:UseArtifactsOutput=true -p:ArtifactsPath="$out" -p:RestorePackagesPath="$out/packages"

tests=$out/bin/Voron.Tests/release
if [ ! -f "$tests/K4os.Compression.LZ4.dll" ]; then
  echo "The build of the K4os variant does not contain the package: the tests would run on the engine's own codec." >&2
  exit 1
fi
exec dotnet "$tests/Voron.Tests.dll" "$@"
