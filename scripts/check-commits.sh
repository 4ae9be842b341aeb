#!/usr/bin/env bash
# Checks the form of the commits since the rule was made: a subject in the imperative of at most 72 characters, without a semicolon or a
# full stop at its end, then an empty line and a body that says why. Prints the faults that it finds. In a shallow clone it checks the commits
# that are present.
set -uo pipefail
cd "$(dirname "$0")/.."

first=69199541d3be57d81a1e628a92e0453912dcb71d
range=HEAD
git merge-base --is-ancestor "$first" HEAD 2>/dev/null && range=$first..HEAD
[ "$range" = HEAD ] && [ "$(git rev-parse --is-shallow-repository)" = false ] && { echo "Commit $first is not in the history." >&2; exit 1; }

wrong=0
say() {
  echo "$(git log -1 --format='%h' "$1") \"$(git log -1 --format=%s "$1")\": $2" >&2
  wrong=1
}

while read -r commit; do
  subject=$(git log -1 --format=%s "$commit")
  second=$(git log -1 --format=%B "$commit" | sed -n 2p)
  [ "${#subject}" -le 72 ] || say "$commit" "the subject has ${#subject} characters, 72 at most"
  [[ $subject != *";"* ]] || say "$commit" "the subject has a semicolon: make it two commits"
  [[ $subject != *. ]] || say "$commit" "the subject ends with a full stop"
  [[ $subject =~ ^[A-Z] ]] || say "$commit" "the subject begins with a capital letter"
  [[ ! $subject =~ ^(Add|Fix|Chang|Updat|Remov|Renam|Mov|Mak|Us|Improv|Writ|Merg|Creat|Delet|Replac|Test)(e?d|e?s|ing)\  ]] ||
    say "$commit" "the subject is in the imperative, such as \"Add\", not \"Added\" or \"Adds\""
  [ -z "$second" ] || say "$commit" "an empty line follows the subject"
  [ -n "$(git log -1 --format=%b "$commit")" ] || say "$commit" "a body says why"
done < <(git rev-list --no-merges "$range")
exit "$wrong"
