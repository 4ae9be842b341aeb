#!/usr/bin/env bash
# Runs the tools for kills, full disks and power cuts on small volumes of ext4, XFS and btrfs, which are files behind loop devices. Needs root, a
# build (dotnet build -c Release), and mkfs for each; a missing file system is left out, and reported. Prints a table.
#
#   scripts/test-filesystems.sh [KILLS] [SEED]
#
# kill      the process is killed, the system continues
# full      an environment and another process fill the volume; then everything has to be deleted
# snapshot  a power cut: the volume as the device had it at one moment, while the process works. The file behind the device is cloned in one step
#           (reflink on XFS). The device keeps all writes, in order: writes in a volatile cache of its own are not lost
# shutdown  a power cut: the file system stops at once and drops all unwritten data (its own ioctl; not on btrfs of older kernels)
#
# The clone is one moment for the writes of the device: the file system above keeps the clone's source from being written until it is done, after
# all earlier writes have reached it. So each write is in the image as a whole or not at all, and no write is in it that followed a missing one.
# The output of a failed tool is kept in torture-failures.
#
# Not shown by any of them: a device that loses or reorders writes in its cache. The suite power-cut has that, on a simulated disk.
set -uo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = cut ] || [ "${1:-}" = restore ]; then
  set -e
  # The process is dead, but another one that inspects it may have its memory, and with that its maps, for a moment longer.
  unmount() {
    for _ in $(seq 50); do
      umount "$VORON_VOLUME" && return
      sleep 0.2
    done
    exit 1
  }
  case "$VORON_CUT_KIND-$1" in
    snapshot-cut) cp --reflink=always "$VORON_CUT_IMAGE" "$VORON_CUT_IMAGE.cut" ;;
    snapshot-restore)
      unmount
      mv "$VORON_CUT_IMAGE.cut" "$VORON_CUT_IMAGE"
      mount -o loop "$VORON_CUT_IMAGE" "$VORON_VOLUME" ;;
    # FS_IOC_SHUTDOWN, without writing the log.
    shutdown-cut) python3 -c 'import fcntl, os, struct, sys; fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))' "$VORON_VOLUME" ;;
    shutdown-restore)
      unmount
      mount -o loop "$VORON_CUT_IMAGE" "$VORON_VOLUME" ;;
  esac
  exit 0
fi

kills=${1:-100}
seed=${2:-1}
script=$(realpath "$0")
torture=(dotnet run -c Release --no-build --project test/Voron.Torture --)
work=$(mktemp -d)
outer=$work/outer
volume=$work/volume
mkdir "$outer" "$volume"

finish() {
  umount -q "$volume"
  umount -q "$outer"
  rm -rf --one-file-system "$work"
}
trap finish EXIT

truncate -s 6G "$work/outer.img"
mkfs.xfs -q -m reflink=1 "$work/outer.img" && mount -o loop "$work/outer.img" "$outer" || { echo "no loop device with XFS here" >&2; exit 1; }

failed=0
rows=()
row() { rows+=("$(printf '| %s | %s | %s | %s |' "$@")"); printf '%s: %s: %s (%s)\n' "$@"; }

prepare() { # file system, bytes
  umount -q "$volume"
  rm -f "$outer/image" "$outer/image.cut"
  truncate -s "$2" "$outer/image"
  case $1 in
    ext4) mkfs.ext4 -q -F "$outer/image" ;;
    xfs) mkfs.xfs -q -f "$outer/image" ;;
    btrfs) mkfs.btrfs -q -f "$outer/image" >/dev/null 2>&1 ;;
  esac && mount -o loop "$outer/image" "$volume"
}

run() { # file system, what, command...
  local kind=$1 what=$2 output status
  shift 2
  output=$("$@" 2>&1)
  status=$?
  if [ $status -eq 0 ]; then
    row "$kind" "$what" passed "$(grep -oE '[0-9,]+ of [0-9,]+ items deleted|[0-9,]+ │ kills' <<<"$output" | tr -d '│' | tr -s ' ' | tail -1)"
  else
    mkdir -p torture-failures
    printf '%s\n' "$output" >"torture-failures/filesystems-$kind-$what-$seed.log"
    dmesg 2>/dev/null | tail -40 >>"torture-failures/filesystems-$kind-$what-$seed.log"
    row "$kind" "$what" FAILED "$(grep -vE '^ *(at |---)' <<<"$output" | tail -3 | tr '\n' ' ' | cut -c1-300)"
    failed=1
  fi
}

for kind in ext4 xfs btrfs; do
  if ! command -v mkfs.$kind >/dev/null || ! prepare $kind 1G; then
    row $kind all "not run" "no mkfs.$kind, or it cannot be mounted"
    continue
  fi
  run $kind kill env VORON_VOLUME="$volume" "${torture[@]}" --suite kill --count "$kills" --seed "$seed" --threads 1 --ledger "$work/ledger.json"

  for cut in snapshot shutdown; do
    if [ $cut = shutdown ] && [ $kind = btrfs ]; then
      row $kind $cut "not run" "the kernel has no such call for it"
      continue
    fi
    prepare $kind 1G
    run $kind $cut env VORON_VOLUME="$volume" VORON_VOLUME_CUT="$script" VORON_CUT_KIND=$cut VORON_CUT_IMAGE="$outer/image" \
      "${torture[@]}" --suite kill --count "$kills" --seed "$seed" --threads 1 --ledger "$work/ledger.json"
  done

  prepare $kind 320M
  run $kind full "${torture[@]}" fill "$volume/store"
done

printf '\n| file system | what | result | |\n|---|---|---|---|\n'
printf '%s\n' "${rows[@]}"
exit $failed
