#!/usr/bin/env bash
# Builds the tests for Windows and runs them on Wine, a substitute for it: docs/windows.md lists what that can show and what it cannot.
# Usage: scripts/test-windows.sh [--quick] [arguments of the test runner, such as -class Voron.Tests.IO.FileSystemDiskTests]
# "--quick" runs the tests of the parts that call the system: some minutes instead of an hour.
# The last line counts the tests. Exit code 2 means that nothing was run.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1

limit=9000
projects=(Voron.Tests Voron.Tool.Tests Voron.Torture.Tests Voron.Benchmarks.Tests)
if [ "${1:-}" = --quick ]; then
  shift
  limit=1500
  projects=(Voron.Tests)
  for part in "IO.*" "Flushing.*" "Journal.*" "Paging.*" "Scratch.*" "Format.*" "Maintenance.*" "Opening.*" "Recovery.*" \
    "Snapshots.*" "Contracts.*" "Trees.KeyHeads.*" Api.CallbackTests Api.FootprintTests Api.IdleThreadsTests Api.InMemoryFootprintTests \
    Api.InMemoryTests Api.MemoryLimitTests Api.RoundTripTests Transactions.CommitMemoryTests Transactions.DirectPageTests \
    Transactions.LargeOverwriteTests Faults.DiskFullTests Api.StreamTests; do
    set -- "$@" -class "Voron.Tests.$part"
  done
  # Simulated disks, opened so often that they take nearly half of the time, and call little of the system.
  for class in Journal.JournalEpochsTests Opening.IdleOpeningTests Opening.SmallCloseTests Opening.UnderWayAtCloseTests \
    Recovery.JournalHeadersTests Recovery.RecoveryMemoryTests; do
    set -- "$@" -class- "Voron.Tests.$class"
  done
fi

wine=
for candidate in /usr/lib/wine/wine64 "$(command -v wine64)" "$(command -v wine)"; do
  [ -x "$candidate" ] && { wine=$candidate; break; }
done
if [ -z "$wine" ] || ! command -v wineserver >/dev/null; then
  echo "Wine is not installed (scripts/install-packages.sh, or: apt-get install wine wine64): the tests of Windows were NOT RUN." >&2
  exit 2
fi

out=$PWD/artifacts/windows
echo "Building for Windows ..."
for project in "${projects[@]}"; do
  dotnet publish -c Release "test/$project" -r win-x64 --self-contained -v q -nologo \
    -p:UseArtifactsOutput=true -p:ArtifactsPath="$out" -p:MachineCode=false -o "$out/publish/$project" || exit 1
done

# A Wine of its own for this run, without a display, ended with all that it started however the run ends.
work=$(mktemp -d "${TMPDIR:-/tmp}/voron-wine-XXXXXX")
export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEDLLOVERRIDES="winemenubuilder.exe,winedbg.exe="
unset DISPLAY WAYLAND_DISPLAY
cleanup() {
  timeout 20 wineserver -k >/dev/null 2>&1
  timeout 20 wineserver -w >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
mkdir -p "$WINEPREFIX"
if ! timeout 300 "$wine" wineboot -i >"$work/boot.log" 2>&1 </dev/null; then
  tail -5 "$work/boot.log" >&2
  echo "Wine does not start: the tests of Windows were NOT RUN." >&2
  exit 2
fi

# Wine has no mapping that is written and run at two addresses, which the runtime uses for the code that it makes. And the call that flushes
# the write buffers of all processors does nothing in Wine 8: on one processor there is nothing to flush.
export DOTNET_EnableWriteXorExecute=0
pin=()
command -v taskset >/dev/null && pin=(taskset -c "$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')")
log=$work/tests.log
status=0
for project in "${projects[@]}"; do
  timeout --foreground -k 10 "$limit" "${pin[@]}" "$wine" "$out/publish/$project/$project.exe" -noColor -longRunning 300 "$@" </dev/null 2>&1 |
    tr -d '\r' | tee -a "$log"
  ended=${PIPESTATUS[0]}
  [ "$ended" -ne 124 ] || echo "$project did not end within $limit seconds." >&2
  [ "$ended" -eq 0 ] || status=$ended
done

echo "Not run on Windows, and why:"
grep -A1 -E '\[SKIP\]$' "$log" | grep -vE '\[SKIP\]$|^--$' | sed 's/^ */  /' | sort | uniq -c
read -r total failed skipped < <(sed -nE 's/.*Voron\.[A-Za-z.]*Tests +Total: ([0-9]+), Errors: ([0-9]+), Failed: ([0-9]+), Skipped: ([0-9]+),.*/\1 \2 \3 \4/p' "$log" |
  awk '{ total += $1; failed += $2 + $3; skipped += $4 } END { print total + 0, failed + 0, skipped + 0 }')
if [ -z "${total:-}" ] || [ "$total" -eq 0 ] || { [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; }; then
  echo "The run broke off, or ran no test (exit code $status)." >&2
  echo "0 passed, 1 failed"
  exit 1
fi
echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
