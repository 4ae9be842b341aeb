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

git log --no-merges --format=$'\x01%h%n%B' "$range" | awk -v RS='\001' '
  function say(what) { printf "%s \"%s\": %s\n", commit, subject, what; wrong = 1 }
  NR > 1 {
    lines = split($0, line, "\n")
    commit = line[1]
    subject = line[2]
    body = 0
    for (i = 4; i <= lines; i++) body += line[i] != ""
    if (length(subject) > 72) say("the subject has " length(subject) " characters, 72 at most")
    if (subject ~ /;/) say("the subject has a semicolon: make it two commits")
    if (subject ~ /\.$/) say("the subject ends with a full stop")
    if (subject !~ /^[A-Z]/) say("the subject begins with a capital letter")
    if (subject ~ /^(Add|Fix|Chang|Updat|Remov|Renam|Mov|Mak|Us|Improv|Writ|Merg|Creat|Delet|Replac|Test)(ed|d|es|s|ing) /)
      say("the subject is in the imperative, such as \"Add\", not \"Added\" or \"Adds\"")
    if (line[3] != "") say("an empty line follows the subject")
    if (!body) say("a body says why")
  }
  END { exit wrong }' >&2
