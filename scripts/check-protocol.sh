#!/usr/bin/env bash
# Checks the models of docs/correctness with spin, and that spin finds each fault that can be planted in them.
# "--deep" takes more transactions, readers and crashes: some ten minutes and 10 GB of memory instead of seconds.
# Wants spin and a C compiler: apt-get install spin gcc libc6-dev
set -euo pipefail
cd "$(dirname "$0")/../docs/correctness"
models=$PWD

for program in spin gcc; do
  command -v "$program" >/dev/null || { echo "$program is not here: apt-get install spin gcc libc6-dev" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Prints spin's result for a model with these definitions: "errors: N".
search() {
  local model=$1
  shift
  spin -a "$@" "$models/$model.pml" >spin.out 2>&1 || { cat spin.out >&2; return 1; }
  gcc -O2 -DSAFETY -DCOLLAPSE -w -o pan pan.c
  ./pan -m5000000 >pan.out 2>&1 || true
  if grep -q "max search depth too small\|out of memory\|Search not completed" pan.out && ! grep -q "errors: 1" pan.out; then
    echo "not finished"
    return
  fi
  sed -nE 's/.*(errors: [0-9]+).*/\1/p; s/^ *([0-9]+) states, stored.*/\1 states/p' pan.out | paste -sd' '
}

failed=0
holds() {
  local found
  found=$(search "$@")
  echo "$1 ${*:2}: $found"
  [[ $found == "errors: 0 "* ]] || failed=1
}
breaks() {
  local found
  found=$(search "$@")
  echo "$1 ${*:2}: $found, as it should"
  [[ $found == "errors: 1"* ]] || { echo "The fault was not found." >&2; failed=1; }
}

holds durability -DTXS=5 -DCRASHES=2
holds readers -DREADERS=1 -DTXS=2 -DFLUSHES=2 -DROUNDS=2
holds backups -DTXS=2
for fault in ACKNOWLEDGE_BEFORE_WRITE FLUSH_PAST_DURABLE FLUSH_PAST_READER SKIP_SYNC RECYCLE_BEFORE_CHECKPOINT OVERWRITE_UNLISTED STAMP_AT_END STAMP_UNSYNCED \
  ACKNOWLEDGE_SECOND_FIRST ACKNOWLEDGE_BEHIND_FAILURE CONFIRM_WRITE_UNDER_WAY; do
  breaks durability -DTXS=5 -DCRASHES=2 "-D$fault"
done
for fault in TEST_BEFORE_STORE SCAN_BEFORE_HORIZON REUSE_WITHOUT_LOOKING JOIN_UNCONFIRMED; do
  breaks readers -DREADERS=1 -DTXS=3 -DFLUSHES=2 "-D$fault"
done
for fault in LOOK_AT_LOG_FIRST ENTRY_AFTER_DETACH FORGET_DIRECT READ_BEFORE_LOOKUP FLUSH_PAST_SNAPSHOT FORGET_PENDING; do
  breaks backups -DTXS=2 "-D$fault"
done
if [[ ${1:-} == --deep ]]; then
  holds backups -DTXS=3
  holds durability -DTXS=7 -DCRASHES=3
  holds readers -DREADERS=1 -DTXS=3 -DFLUSHES=2 -DROUNDS=2
  holds readers -DREADERS=2 -DTXS=2 -DFLUSHES=1
fi
exit "$failed"
