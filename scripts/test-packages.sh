#!/usr/bin/env bash
# Packs the packages, looks into them, and uses them as strangers do: the lines of the README that lead from a clone to a program, its sample, and a
# program that is run as it is, published trimmed, and compiled ahead of time, all with warnings as errors.
# Usage: scripts/test-packages.sh [--quick]
# --quick leaves out the second build elsewhere, the suites with the machine code of the package, and one of two ways to publish each program.
# The last line counts the checks that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en MSBUILDDISABLENODEREUSE=1

root=$PWD
quick=
for option in "$@"; do
  case $option in
    --quick) quick=yes ;;
    *) echo "There is no option $option: see the head of scripts/test-packages.sh." >&2 && exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Packages of another version would be compiled again. Programs therefore restore those of this version into a directory of their own, where no older
# package of it is found, and take all other packages from where the build has restored them.
version=$(sed -n 's,.*<Version>\(.*\)</Version>.*,\1,p' Directory.Build.targets)
home=$work/home
feed=$home/voron-packages
cache=$(dotnet nuget locals global-packages --list | sed 's/^[^:]*: *//')
mkdir -p "$home/.nuget/NuGet" "$work/others"
ln -s "$cache"/* "$work/others"
rm -f "$work"/others/voron*
[ ! -f ~/.nuget/NuGet/NuGet.Config ] || cp ~/.nuget/NuGet/NuGet.Config "$home/.nuget/NuGet/"
stranger=(NUGET_PACKAGES="$work/packages" NUGET_FALLBACK_PACKAGES="$work/others")
as_stranger() { env "${stranger[@]}" "$@"; }
passed=0
failed=0

# check NAME COMMAND...: its output is shown only when it fails.
check() {
  local name=$1 began=$SECONDS
  shift
  if "$@" >"$work/output" 2>&1; then
    passed=$((passed + 1))
    echo "  passed: $name ($((SECONDS - began)) s)"
  else
    failed=$((failed + 1))
    echo "[FAIL] $name"
    tail -40 "$work/output"
  fi
}

pack() { dotnet pack "$1" -c Release -o "$2" -v quiet; }

holds() { unzip -Z1 "$1" "$2"; }
lacks() { ! grep -q "$2" "$1"; }

# The package has machine code. Without it, a program compiles more than a thousand methods of the engine before its first commit.
compiles_few() {
  local count
  count=$(grep -v 'Voron\.Extensions' "$1" | grep -c 'JIT compiled Voron\.')
  echo "$count methods of the engine were compiled at run time:"
  grep 'JIT compiled Voron\.' "$1"
  [ "$count" -lt 100 ]
}

# The first block of a kind in a document.
block() { awk -v kind="^\`\`\`$1\$" '$0 ~ kind { inside = 1; next } /^```/ { if (inside) exit } inside' "$2"; }

# The lines of a document that lead from a clone to a program, with the document's first sample as the program, print what it says. A home of their own
# keeps them from what a user has set. The package that they make is the one that all checks use.
leads_to_a_program() {
  local lines
  mapfile -t lines < <(block shell "$1")
  [ "${#lines[@]}" -eq 4 ] && [ "${lines[3]}" = 'dotnet run' ] || { echo "$1 has other lines: ${lines[*]}" && return 1; }
  (
    block csharp "$1" >"$home/sample.cs"
    sed -n '/^```csharp/,$p' "$1" | block text - >"$home/expected"
    export HOME=$home DOTNET_CLI_HOME=$home NUGET_PACKAGES=$cache
    eval "${lines[0]}" </dev/null || exit
    export "${stranger[@]}" TreatWarningsAsErrors=true
    eval "${lines[1]}" </dev/null && eval "${lines[2]}" </dev/null || exit
    cp "$home/sample.cs" Program.cs
    eval "${lines[3]}" </dev/null >"$home/actual" || { cat "$home/actual" && exit 1; }
    diff "$home/expected" "$home/actual"
  )
}

check "the lines of README.md lead from a clone to a program" leads_to_a_program README.md
# Its own sample is compiled and run by the tests of the documentation.
check "docs/getting-started.md has the same lines" diff <(block shell README.md) <(block shell docs/getting-started.md)

packages=$(grep -l '<IsPackable>true</IsPackable>' src/*/*.csproj | xargs grep -L '<PackAsTool>true</PackAsTool>')
for project in $packages; do
  name=$(basename "$project" .csproj)
  package=$feed/$name.$version.nupkg
  [ -f "$package" ] || check "$name is packed" pack "$project" "$feed"
  for file in README.md icon.png "lib/net10.0/$name.dll" "lib/net10.0/$name.xml"; do
    check "$name has $file" holds "$package" "$file"
  done
  mkdir -p "$work/$name" && unzip -q -o "$package" -d "$work/$name" && unzip -q -o "$feed/$name.$version.snupkg" -d "$work/$name"
  check "$name documents no internal member" lacks "$work/$name/lib/net10.0/$name.xml" 'name="[TMPF]:Voron\.\(Transactions\|Journal\|Paging\|IO\|Trees\|Primitives\)\.'
  check "$name has absolute links only" lacks "$work/$name/README.md" '](\(\.\|docs\|src\|samples\|CHANGELOG\)'
  # The link to the sources is stored as it is, the sources themselves are compressed.
  check "$name links to its sources" grep -q 'raw.githubusercontent.com' "$work/$name/lib/net10.0/$name.pdb"
done

if [ -z "$quick" ]; then
  # A second build elsewhere: the same bytes. The copy has the commit and the changed files of this tree.
  copy=$work/copy
  git clone -q "$root" "$copy" && git diff HEAD --binary >"$work/changes" && { [ ! -s "$work/changes" ] || git -C "$copy" apply "$work/changes"; }
  check "Voron is packed elsewhere" pack "$copy/src/Voron/Voron.csproj" "$work/feed2"
  mkdir -p "$work/again" && unzip -q -o "$work/feed2/Voron.$version.nupkg" -d "$work/again"
  check "Voron has the same bytes wherever it is built" cmp "$work/Voron/lib/net10.0/Voron.dll" "$work/again/lib/net10.0/Voron.dll"
  for compiled in linux-x64 win-x64; do
    image=runtimes/$compiled/lib/net10.0/Voron.dll
    check "Voron is compiled for $compiled, to the same bytes wherever it is built" cmp "$work/Voron/$image" "$work/again/$image"
  done
fi

# The suites with the machine code of the package, which the runtime does not replace without tiered compilation.
if [ -z "$quick" ] && [ "$(dotnet --info | sed -n 's/^ *RID: *//p')" = linux-x64 ]; then
  dotnet build test/Voron.Torture -c Release -v quiet >"$work/output"
  cp -r test/Voron.Torture/bin/Release/net10.0 "$work/torture"
  cp "$work/Voron/runtimes/linux-x64/lib/net10.0/Voron.dll" "$work/torture/"
  for suite in 'model 20000' 'power-cut 4000' 'kill-then-cut 4000' 'lifetimes 500' 'boundary 200'; do
    read -r name count <<<"$suite"
    check "$name finds nothing in the compiled engine" sh -c "cd '$work' && DOTNET_TieredCompilation=0 dotnet torture/Voron.Torture.dll --suite $name --count $count"
  done
fi

# The tool, installed as its users install it.
check "Voron.Tool is packed" pack src/Voron.Tool/Voron.Tool.csproj "$feed"
check "Voron.Tool is installed" as_stranger dotnet tool install Voron.Tool --tool-path "$work/tools" --version "$version" --add-source "$feed"
tool=$work/tools/voron
check "voron knows its version" sh -c "'$tool' --version | grep -F '$version'"
check "voron puts a value" "$tool" put "$work/store" tree key value --create --write
check "voron gets it back" sh -c "'$tool' get '$work/store' tree key | grep -x value"
check "voron backs up and restores through a pipe" sh -c "'$tool' backup '$work/store' - | '$tool' restore - '$work/restored'"
check "voron dumps the restored environment" sh -c "'$tool' dump '$work/restored' | grep -F '{\"k\":\"key\",\"v\":\"value\"}'"
check "voron verifies it" "$tool" verify "$work/restored"

# The programs are built away from the repository, like those of users.
cp -r test/Packages "$work/programs"
restore=(-p:RestoreAdditionalProjectSources="$feed" -p:VoronVersion="$version")
platform=$(dotnet --info | sed -n 's/^ *RID: *//p')
for program in Consumer HostedConsumer; do
  consumer=$work/programs/$program
  check "$program, which uses a package, is built" as_stranger dotnet build "$consumer" -c Release -v quiet "${restore[@]}"
  check "$program runs" dotnet "$consumer/bin/Release/net10.0/$program.dll"
  if [ "$platform" = linux-x64 ]; then
    DOTNET_JitStdOutFile=$work/$program.jit DOTNET_JitDisasmSummary=1 dotnet "$consumer/bin/Release/net10.0/$program.dll" >/dev/null
    check "$program compiles few methods of the engine when it runs" compiles_few "$work/$program.jit"
  fi
  # Compiling ahead of time trims, too, so that a quick run makes one of them for each program.
  if [ -z "$quick" ] || [ "$program" = HostedConsumer ]; then
    check "$program is published trimmed" as_stranger dotnet publish "$consumer" -c Release -r "$platform" --self-contained -p:PublishTrimmed=true -o "$work/trimmed-$program" -v quiet "${restore[@]}"
    check "$program runs trimmed" "$work/trimmed-$program/$program"
  fi
  [ -z "$quick" ] || [ "$program" = Consumer ] || continue
  if as_stranger dotnet restore "$consumer" -r "$platform" -p:PublishAot=true "${restore[@]}" -v quiet >"$work/restore" 2>&1 && command -v gcc clang >/dev/null; then
    check "$program is compiled ahead of time" as_stranger dotnet publish "$consumer" -c Release -r "$platform" -p:PublishAot=true -o "$work/native-$program" -v quiet "${restore[@]}" \
      -p:CppCompilerAndLinker="$(command -v clang >/dev/null && echo clang || echo gcc)"
    check "$program runs compiled ahead of time" "$work/native-$program/$program"
  else
    echo "NOT RUN: compilation of $program ahead of time. It needs a C compiler, and the package of the native compiler:"
    grep -m 3 error "$work/restore"
  fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
