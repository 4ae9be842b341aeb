#!/usr/bin/env bash
# Packs the engine, checks that its analyzers are in the package, and builds a program that refers to the package: the rules must report its
# mistakes, and nothing in a program without mistakes. Needs the packages of a restored solution, but no other package source.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$1" >&2
  exit 1
}

dotnet pack src/Voron -c Release -o "$work/feed" -p:Version=0.0.1-check -v quiet

# The packages that the solution uses already exist; the engine's is kept out of the machine's cache.
mkdir "$work/program"
cat >"$work/program/Program.csproj" <<END
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <Nullable>enable</Nullable>
    <RestoreSources>$work/feed</RestoreSources>
    <RestorePackagesPath>$work/packages</RestorePackagesPath>
    <RestoreFallbackFolders>${NUGET_PACKAGES:-$HOME/.nuget/packages}</RestoreFallbackFolders>
    <NuGetAudit>false</NuGetAudit>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Voron" Version="0.0.1-check" />
  </ItemGroup>
</Project>
END

build() { (cd "$work/program" && dotnet build -c Release -v quiet 2>&1) | sort -u; }
rules() { grep -o 'VORON[0-9]*' <<<"$1" | sort -u | paste -sd' '; }

(cd "$work/program" && dotnet restore -v quiet)
package=$work/packages/voron/0.0.1-check
assemblies=$(cd "$package/analyzers" && find . -name '*.dll' | sort | paste -sd' ')
expected="./dotnet/cs/Voron.Analyzers.CodeFixes.dll ./dotnet/cs/Voron.Analyzers.dll"
[ "$assemblies" = "$expected" ] || fail "The package has the analyzers $assemblies, and not $expected."
! grep -q 'dependency id="\(Voron\|Microsoft\.CodeAnalysis\)' "$package/voron.nuspec" || fail "The package depends on its own analyzers."

cat >"$work/program/Program.cs" <<'END'
using Voron;
using Voron.Tables;

using var environment = StorageEnvironment.OpenInMemory();
var forgotten = environment.BeginRead();
scoped ReadOnlySpan<byte> value;
Tree tree;
using (var reading = environment.BeginRead())
{
    tree = reading.OpenTree("a");
    tree.TryGet("k"u8, out value);
}

Console.WriteLine(value[0] + tree.Count);
environment.Write(writing => Task.Delay(1).Wait());
IndexFunction<int> byNumber = static (in int number, ref IndexKeys keys) =>
{
    var key = keys.Begin();
    key.Add(number);
};
END
output=$(build) || fail "The program does not build: $output"
[ "$(rules "$output")" = "VORON001 VORON002 VORON003 VORON004 VORON005" ] || fail "Not all rules report the program with mistakes: $output"

cat >"$work/program/Program.cs" <<'END'
using Voron;

using var environment = StorageEnvironment.OpenInMemory();
environment.Write(writing => writing.CreateTree("a").Put("k"u8, "value"u8));
using var reading = environment.BeginRead();
if (reading.OpenTree("a").TryGet("k"u8, out var value))
    Console.WriteLine(System.Text.Encoding.UTF8.GetString(value));
END
output=$(build) || fail "The program does not build: $output"
[ -z "$(rules "$output")" ] || fail "A program without mistakes is reported: $output"
[ "$(dotnet "$work/program/bin/Release/net10.0/Program.dll")" = value ] || fail "The program does not run."
echo "The package has its analyzers, and they run."
