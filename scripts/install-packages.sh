#!/usr/bin/env bash
# Installs the system libraries that tests and benchmarks compare the engine with: LZ4 for the codec's tests, LMDB and Berkeley DB as peers of the
# benchmarks, strace to count what each of these syncs, the model checker with its compiler, what the packages are looked into and compiled ahead of
# time with, a client for the web service among the samples, a browser for the page of the document store, and Wine for the tests of Windows. Does
# nothing when they are there, and only says so when it cannot install them.
set -euo pipefail

missing=()
have() { ldconfig -p 2>/dev/null | grep -q "$1" || compgen -G "/usr/lib/*/$1*" >/dev/null || compgen -G "/lib/*/$1*" >/dev/null; }
have liblmdb.so.0 || missing+=(liblmdb0)
have libdb-5.3.so || missing+=(libdb5.3)
have liblz4.so.1 || missing+=(liblz4-1)
command -v strace >/dev/null || missing+=(strace)
command -v spin >/dev/null || missing+=(spin)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v unzip >/dev/null || missing+=(unzip)
command -v curl >/dev/null || missing+=(curl)
command -v chromium >/dev/null || missing+=(chromium)
[ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev)
[ -x /usr/lib/wine/wine64 ] || command -v wine64 >/dev/null || missing+=(wine wine64)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "Not installed: ${missing[*]}. As root, on Debian or Ubuntu: apt-get install ${missing[*]}" >&2
  exit 0
fi

export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1; }

# The package lists of a fresh machine are empty or old: they are brought up to date only when that is needed.
if ! install && ! { apt-get update -qq >/dev/null 2>&1 && install; }; then
  echo "Could not install: ${missing[*]}" >&2
fi
