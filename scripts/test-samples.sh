#!/usr/bin/env bash
# Builds the samples, runs them as their users do, and checks the answers.
# Usage: scripts/test-samples.sh [--no-build] [--quick]
# --no-build: the solution has been built. --quick leaves out the trimmed document tool, which takes as long as the rest.
# The last line counts the checks that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en MSBUILDDISABLENODEREUSE=1

root=$PWD
build=yes
quick=
for option in "$@"; do
  case $option in
    --no-build) build= ;;
    --quick) quick=yes ;;
    *) echo "There is no option $option: see the head of scripts/test-samples.sh." >&2 && exit 2 ;;
  esac
done
work=$(mktemp -d)
passed=0
failed=0
service=
trap '[ -z "$service" ] || kill -9 "$service" 2>/dev/null; rm -rf "$work"' EXIT

# check NAME EXPECTED COMMAND...: compares what the command prints.
check() {
  local name=$1 expected=$2 actual
  shift 2
  actual=$("$@" 2>"$work/errors")
  if [ "$actual" = "$expected" ]; then
    passed=$((passed + 1))
    echo "  passed: $name"
  else
    failed=$((failed + 1))
    printf '[FAIL] %s\nexpected: %s\nactual:   %s\n' "$name" "$expected" "$actual"
    tail -20 "$work/errors"
  fi
}

# The build of the solution has run the analyzers.
build() { dotnet build "$1" -c Release -v quiet >"$work/build" 2>&1 && echo built || cat "$work/build"; }
if [ -n "$build" ]; then
  for project in samples/*/*.csproj samples/Documents/*/*.csproj; do
    check "$(basename "$project" .csproj) is built" built build "$project"
  done
fi

run() { (cd "$work" && dotnet "$root/samples/$1/bin/Release/net10.0/$1.dll" "${@:2}"); }

echo "== Tour"
mkdir "$work/temporary" "$work/full"
touch "$work/full/file"
TMPDIR=$work/temporary run Tour --seconds 0.2 --seed 1 >"$work/tour"
echo "ended with $?" >>"$work/tour"
check "all checks of the tour pass" $'checks passed\nended with 0' sh -c "tail -2 '$work/tour' | sed -E 's/^All [0-9]+ (checks passed), in .*/\1/'"
check "it prints plain text of short lines" "" env LC_ALL=C.UTF-8 grep -nP '[\x00-\x1f\x7f]|^.{120}' "$work/tour"
check "it has a table of rates" 8 grep -cE '  [0-9,]+ +[0-9,]+ +[0-9.,]+$' "$work/tour"
check "it removes its directory" "" ls "$work/temporary"
check "it refuses a directory that is not empty" "ended with 1" sh -c "dotnet '$root/samples/Tour/bin/Release/net10.0/Tour.dll' --directory '$work/full'; echo ended with \$?"

echo "== SecondaryIndex"
order() { run SecondaryIndex "$@"; }
order put 1 ada 12.50 && order put 2 grace 99 && order put 3 ada 7 && order put 1 grace 13
check "an order that changes its customer is found there" $'1 grace 13\n2 grace 99' order of grace
check "and not at the old one" "3 ada 7" order of ada
check "the largest order comes first" "2 grace 99" order top 1
order remove 2
check "the indexes agree with the orders" "2 orders" order check

echo "== JobQueue"
run JobQueue enqueue 200
run JobQueue die 20 2>/dev/null
check "a dead worker leaves its jobs leased" "jobs: 200, leased: 20" run JobQueue status
check "other workers do them" "done: 200, of which again: 20" run JobQueue work 8
check "nothing is left" "jobs: 0, leased: 0" run JobQueue status
run JobQueue enqueue 20
check "a job that fails does not stop the others" "done: 19, of which again: 0" run JobQueue work 8 207
check "and is set aside after five attempts" "207: Attempt 5 has failed." run JobQueue dead
run JobQueue revive 207
check "it can be tried again" "done: 1, of which again: 0" run JobQueue work 1
check "claims are measured" 10 sh -c "cd '$work' && dotnet '$root/samples/JobQueue/bin/Release/net10.0/JobQueue.dll' measure 1000 64 | grep -c p99"

echo "== TimeSeries"
run TimeSeries import 4 10
check "the average of a day comes from its hours" 23.000 run TimeSeries average sensor-3 2026-01-05
check "old measurements are removed" "removed: 34560" sh -c "cd '$work' && dotnet '$root/samples/TimeSeries/bin/Release/net10.0/TimeSeries.dll' retain 2026-01-07 | head -1"
check "their averages stay" 23.000 run TimeSeries average sensor-3 2026-01-05

echo "== Documents"
documents() { (cd "$work" && dotnet "$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll" "$@"); }
commands=$(sed -n 's/^| \(`[a-z].*\) | .*/\1/p' samples/Documents/README.md | grep -o '`[a-z]*' | tr -d '`' | sort -u)
without() { for name in "$@"; do documents "$name" --help >/dev/null || echo "$name"; done; }
check "the guide has commands" 1 sh -c "echo '$commands' | grep -cx serve"
check "the tool has each command of its guide" "" without $commands
printf '{"id":"a","size":3}\nnonsense\n{"id":"b","size":1}\n{"size":2}\n{"id":"c","size":2,"tags":["x","y"]}\n' >"$work/items.jsonl"
printf 'id,name,size\nd,"one, ""two""",4\ne,007,1.5\n' >"$work/items.csv"
check "an import stops at what is no document" "refused with 1" sh -c "cd '$work' && dotnet '$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll' import --json items.jsonl; echo refused with \$?"
check "an import leaves out what is no document, and replaces the first one" "imported: 3, refused: 2, replaced: 1" documents import --json items.jsonl --skip-bad
check "values separated by commas are imported" "imported: 2, refused: 0" documents import --csv items.csv
check "an index is built" 'indexes: $.size' documents index add size
check "documents come in the order of the index" $'b\ne\nc\na\nd' documents query 'size > 0 order by size' --ids
check "one of several values is enough" "c" documents query 'tags[*] = "y"' --ids
check "numbers and texts stay what they are" '{"id":"e","name":"007","size":1.5}' documents get e
check "a document is stored" f documents put '{"size":9}' --id f
check "and deleted" "" documents delete f
check "and then is not found" "ended with 1" sh -c "cd '$work' && dotnet '$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll' get f; echo ended with \$?"
head -c 300000 /dev/urandom >"$work/picture.bin"
check "a file is attached" "picture.bin 300000" documents attach c picture.bin --type image/png
check "and listed" "picture.bin 300000 image/png" documents attachments c
check "and read" "" sh -c "cd '$work' && dotnet '$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll' get c --attachment picture.bin | cmp - picture.bin"
check "a change that expects another version is refused" "ended with 1" sh -c "cd '$work' && dotnet '$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll' put '{\"id\":\"c\"}' --expect 1; echo ended with \$?"
check "an attachment is deleted" "" documents detach c picture.bin
check "documents end at their time" 'expires: $.end' documents expire end
documents put '{"id":"old","end":"2020-01-01"}' >"$work/ids"
check "a document that is due is not found" "" documents query 'end < "2021"' --ids
check "and is deleted" "expired: 1" documents expire
check "a prompt answers lines, and continues after errors" $'stored: p\n1 found\nThere is no document \'q\'.' sh -c "printf 'put {\"id\":\"p\",\"size\":77}\nsize >\nsize = 77\nget q\ndelete p\n' | (cd '$work' && dotnet '$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll' prompt) | grep -E 'stored|found|There'"

url=
serve() {
  : >"$work/log"
  (cd "$work" && exec "$@") >"$work/log" 2>&1 &
  service=$!
  for _ in $(seq 300); do
    url=$(sed -n 's/.*Now listening on: *//p' "$work/log")
    [ -n "$url" ] && return
    sleep 0.1
  done
  cat "$work/log" >&2
}
stop() {
  kill -TERM "$service"
  wait "$service"
  echo "ended with $?"
  service=
}
ask() { curl -s --max-time 20 "$@"; }
status() { ask -o /dev/null -w '%{http_code}' "$@"; }

echo "== Documents over HTTP"
serve dotnet "$root/samples/Documents/Tool/bin/Release/net10.0/documents.dll" serve --urls http://127.0.0.1:0
items=$url/collections/documents
check "a document is created" 201 status -X PUT --data '{"size":7}' "$items/documents/a%2Fb"
check "and read" '{"size":7}' ask "$items/documents/a%2Fb"
check "a change that expects another version is refused" 412 status -X PUT --data '{"size":8}' -H 'If-Match: "1"' "$items/documents/a%2Fb"
check "a query uses the index" 1 sh -c "curl -s '$items/query?q=size%20%3E%206' | grep -c 'index \$.size'"
check "a file is attached" 201 status -X PUT -T "$work/picture.bin" "$items/documents/c/attachments/picture.bin"
check "and read" "" sh -c "curl -s '$items/documents/c/attachments/picture.bin' | cmp - '$work/picture.bin'"
check "lines are stored, and refused ones named" '{"stored":1,"refused":1,' sh -c "printf '{\"id\":\"l\"}\nx\n' | curl -s -H 'Content-Type: application/x-ndjson' --data-binary @- '$items/documents' | head -c 24"
documents watch 'size = 1' --url "$url" >"$work/changes" 2>"$work/watching" &
watching=$!
await() { for _ in $(seq 200); do grep -q "$1" "$2" && return; sleep 0.1; done; }
await Watching "$work/watching"
check "a document is stored during a watch" 201 status -X PUT --data '{"size":1}' "$items/documents/watched"
await '"watched"' "$work/changes"
stop >"$work/ended"
wait "$watching"
check "the watch has the change" 1 grep -c '^put {"id":"watched"' "$work/changes"
check "it ends in order" "ended with 0" cat "$work/ended"
check "what was stored is there" '{"size":1}' documents get watched

publish() {
  timeout 900 dotnet publish samples/Documents/Tool -c Release -r linux-x64 --self-contained -p:PublishTrimmed=true -o "$work/trimmed" -v quiet \
    >"$work/build" 2>&1 && echo published || cat "$work/build"
}
trimmed() { (cd "$work" && trimmed/documents "$@" --store trimmed-data); }
# A warning of the trimmer is an error.
if [ -z "$quick" ]; then
  echo "== Documents, trimmed"
  check "the tool is trimmed without a warning" published publish
  check "it imports" "imported: 3, refused: 2" trimmed import --json items.jsonl --skip-bad
  check "it queries" $'b\nc\na' trimmed query 'size > 0 order by size' --ids
  serve "$work/trimmed/documents" serve --store trimmed-data --urls http://127.0.0.1:0
  check "it serves documents" '{"id":"b","size":1}' ask "$url/collections/documents/documents/b"
  check "it stores documents" 204 status -X PUT --data '{"size":4}' "$url/collections/documents/documents/b"
  check "it serves the page" 200 status "$url/"
  stop >"$work/ended"
  check "it ends in order" "ended with 0" cat "$work/ended"
fi

echo "== WebService"
start() {
  serve dotnet "$root/samples/WebService/bin/Release/net10.0/WebService.dll" --urls http://127.0.0.1:0 --contentRoot "$work" --Voron:Directory web-data
}

head -c 5000000 /dev/urandom >"$work/upload"
start
check "a note is created" 201 status -X PUT --data-binary "one" "$url/notes/first"
check "and replaced" 204 status -X PUT --data-binary "two" "$url/notes/first"
check "and read" two ask "$url/notes/first"
check "a note that does not exist is not found" 404 status "$url/notes/missing"
check "a note that is too long is refused" 413 status -X PUT --data-binary "@$work/upload" "$url/notes/long"
puts() { seq 250 | xargs -P 16 -I{} curl -s -o /dev/null --max-time 20 -X PUT --data-binary "note {}" "$url/notes/n{}" && echo done; }
check "many callers write at once" done puts
check "a page has a hundred names" 100 sh -c "curl -s '$url/notes' | wc -l"
check "the next page continues behind it" 100 sh -c "curl -s \"$url/notes?after=\$(curl -s '$url/notes' | tail -1)\" | wc -l"
check "a file is stored" 201 status -X PUT -T "$work/upload" "$url/files/upload"
check "and read" "" sh -c "curl -s '$url/files/upload' | cmp - '$work/upload'"
check "a part of it is read" "$(tail -c 100 "$work/upload" | md5sum)" sh -c "curl -s -r -100 '$url/files/upload' | md5sum"

# A client that has sent half of a file does not keep others from writing.
(head -c 1000000 "$work/upload"; sleep 6) | curl -s -o /dev/null --max-time 20 -X PUT -T - "$url/files/slow" &
slow=$!
sleep 1
check "a slow upload stops no other client" 201 ask -o /dev/null -w '%{http_code}' --max-time 3 -X PUT --data-binary "quick" "$url/notes/quick"
wait "$slow"
check "it is healthy" Healthy ask "$url/health"
stop >"$work/ended"
check "it ends in order" "ended with 0" cat "$work/ended"

# What was acknowledged is there after a kill.
start
check "the notes are there after a restart" two ask "$url/notes/first"
check "a note is written before the kill" 201 status -X PUT --data-binary "kept" "$url/notes/before-kill"
kill -9 "$service"
wait "$service" 2>/dev/null
start
check "it is there after the kill" kept ask "$url/notes/before-kill"
stop >"$work/ended"
check "it ends in order again" "ended with 0" cat "$work/ended"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
