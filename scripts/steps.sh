# Sourced by .ci/run and scripts/test-full.sh: runs steps one after the other, adds up the passes and failures that they report, notes their times, and
# ends with the failures and the totals. A script reports "N passed, N failed" in its last line; one that fails without a count has failed once.
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en
export MSBUILDDISABLENODEREUSE=1

passed=0
failed=0
times=
name=
work=$(mktemp -d)
background=()

# One process compiles all projects. It keeps memory and a processor's caches that the tests can use.
end_compiler() { dotnet build-server shutdown --vbcscompiler >/dev/null 2>&1; }
clean_up() {
  local process
  for process in "${background[@]}"; do kill -- "-$process" 2>/dev/null; done
  end_compiler
  rm -rf "$work"
}
trap clean_up EXIT

# Names the next step, and notes how long the one before it took.
begin() {
  note_time
  name=$*
  began=$SECONDS
  echo "== $name"
}
note_time() { [ -z "$name" ] || times+=$(printf '%6d s  %s' $((SECONDS - began)) "$name")$'\n'; }

# A step without which the others make no sense.
step() {
  begin "$@"
  "$@" || { echo "Failed: $*" >&2; echo "0 passed, 1 failed"; exit 1; }
}

count() {
  local status=$1 more_passed more_failed
  grep -A4 -E '\[FAIL\]|^  Failed ' "$2" >>"$work/failures"
  read -r more_passed more_failed < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$2" | tail -1)
  passed=$((passed + ${more_passed:-0}))
  failed=$((failed + ${more_failed:-0}))
  if [ "$status" -ne 0 ] && [ "${more_failed:-0}" -eq 0 ]; then
    failed=$((failed + 1))
  fi
}

counted() {
  begin "$@"
  "$@" 2>&1 | tee "$work/output"
  count "${PIPESTATUS[0]}" "$work/output"
}

# Runs tests of the solution, with the given arguments. The runner prints a line for each project, such as:
# "Passed!  - Failed:     0, Passed:   123, Skipped:     0, Total:   123, Duration: ...". A run without a test has failed.
test_solution() {
  begin dotnet test -c Release --no-build "$@"
  dotnet test -c Release --no-build "$@" 2>&1 | tee "$work/tests"
  local status=${PIPESTATUS[0]}
  sed -nE 's/.*Failed: +([0-9]+), Passed: +([0-9]+), Skipped.*/\1 \2/p' "$work/tests" |
    awk '{ failed += $1; passed += $2 } END { print passed + 0 " passed, " failed + (passed == 0) " failed" }' >>"$work/tests"
  count "$status" "$work/tests"
}

# start NAME COMMAND...: runs a script beside the steps that follow, in a session of its own, so that all that it starts can be ended with it.
start() {
  echo "== ${*:2}, in the background"
  setsid "${@:2}" >"$work/$1" 2>&1 &
  background+=("$!")
  printf -v "process_$1" %s "$!"
}
# await NAME: waits for it and counts what it reports.
await() {
  local process=process_$1 status
  begin "wait for $1"
  wait "${!process}"
  status=$?
  cat "$work/$1"
  count "$status" "$work/$1"
}

finish() {
  note_time
  echo "== Where the time went"
  printf '%s' "$times"
  # Once more at the end, where readers of a long log begin.
  if [ -s "$work/failures" ]; then
    echo "== What failed"
    cut -c1-500 "$work/failures"
  fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
