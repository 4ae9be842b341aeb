#!/usr/bin/env bash
# Plants faults in the engine, one at a time, and checks that the suite which is responsible for each finds it.
# Usage: scripts/hunt-faults.sh [--no-build] [--changed [BASE]] [NAME...]
# Without names, all faults; with --changed, those whose switch lies in a file of the engine that has changed since BASE, and those of the simulated
# disk where calls to the disk, or that disk, have changed. BASE is by default the
# point at which the branch left origin/main, or, on main itself, the newest commit that is four hours older than the last one.
# The last line counts the hunts that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en MSBUILDDISABLENODEREUSE=1

build=yes
changed=
base=
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --no-build) build= ;;
    --changed)
      changed=yes
      [[ ${2:-} =~ ^$|^- ]] || { base=$2 && shift; }
      ;;
    -*) echo "There is no option $1: see the head of scripts/hunt-faults.sh." >&2 && exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done

default_base() {
  local fork
  fork=$(git merge-base HEAD origin/main 2>/dev/null)
  if [ -n "$fork" ] && [ "$fork" != "$(git rev-parse HEAD)" ]; then
    echo "$fork"
  else
    git rev-list -1 --before="$(($(git log -1 --format=%ct) - 4 * 3600))" HEAD
  fi
}

if [ -n "$changed" ]; then
  [ -n "$base" ] || base=$(default_base)
  # A history that begins later than that, or a shallow clone of it: everything has changed.
  [ -n "$base" ] || base=$(git hash-object -t tree /dev/null)
  # A file has not changed if it was only moved, or only its comments and its usings differ.
  mapfile -t files < <(git diff -M --diff-filter=d --ignore-blank-lines -I '^ *//' -I '^(using|namespace) ' "$base" -- \
    'src/Voron/*.cs' ':!src/Voron/Testing' | sed -n 's/^+++ b\///p')
  [ ${#files[@]} -eq 0 ] || mapfile -t names < <(grep -ohE '\bPlantedFault\.[A-Za-z]+' "${files[@]}" | sed 's/.*\.//' | sort -u)

  # Those of the simulated disk take the place of calls that the engine makes.
  if { [ ${#files[@]} -gt 0 ] && grep -qE '\.Sync(Directory)?\(|JournalSnapshotFile\.Delete|JournalFileHeaders' "${files[@]}"; } ||
    ! git diff --quiet "$base" -- test/Voron.Simulation/Disks; then
    mapfile -t -O ${#names[@]} names < <(sed -nE 's/.*public static readonly bool ([A-Za-z]+) =.*/\1/p' test/Voron.Simulation/Disks/DiskFault.cs)
  fi
  echo "${#files[@]} files of the engine have changed since ${base:0:10}, with ${#names[@]} planted faults: ${names[*]:-}"
  [ ${#names[@]} -gt 0 ] || { echo "0 passed, 0 failed" && exit 0; }
fi

if [ -n "$build" ] && ! dotnet build test/Voron.Torture -c Release -v quiet; then
  echo "0 passed, 1 failed"
  exit 1
fi

# The suites find nothing in a sound engine: the tests show that with the same seeds, so no control is needed here.
dotnet test/Voron.Torture/bin/Release/net10.0/Voron.Torture.dll faults --no-control ${names[@]+"${names[@]}"}
