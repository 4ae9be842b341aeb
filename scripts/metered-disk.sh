#!/usr/bin/env bash
# Runs a command on a disk with the limits of a cloud volume: by default 3,000 operations and 125 MB a second. Needs root, on Linux.
#
#   scripts/metered-disk.sh [--operations N] [--bytes N] [--directory DIR] COMMAND...
#   scripts/metered-disk.sh --latency MICROSECONDS [--operations N] [--bytes N] [--gigabytes N] COMMAND...
#
# In the words of the command, {} becomes the directory to measure. For example, after a build:
#
#   scripts/metered-disk.sh --latency 1000 dotnet src/Voron.Benchmarks/bin/Release/net10.0/Voron.Benchmarks.dll compare --directory {} --scale 0.05
#
# With --latency the command has a volume of its own: ext4 on a disk in memory (metered-disk.c: needs gcc, FUSE and loop devices) that answers each
# operation of up to 256 KiB after so long, up to 128 of them at a time. All writes count, those of the kernel's threads too. The disk has no volatile
# cache, so a sync is no operation. The path through the kernel adds 0.1 to 0.2 ms. It takes processor time at a higher
# priority than the command's: on a busy machine, look at medians and percentiles. It does not accumulate credit for bursts, as some volumes do.
#
# Without --latency, a group of processes (cgroup, version 1 or 2) is throttled on the device of DIR (by default the current directory):
# - The kernel counts in slices of 100 ms (20 ms in some versions). A lone writer has the latency of the device, up to the operations of a slice, and
#   then waits for the rest of it. So rates over seconds are right, medians are the bare device's, and high percentiles the slice's. No number
#   of operations makes each write wait 1 ms.
# - On a device with a volatile cache, a durable write is two operations: the write, and the emptying of the cache.
# - Version 1 counts direct writes, and what fsync and fdatasync write: appending 4 KiB and fdatasync are three operations, overwriting them
#   and fdatasync two. Write-back by threads of the kernel is not counted (80 MiB written and then synced by "sync": four operations), so engines that
#   write through the page cache (LMDB, RocksDB, SQLite) can appear faster than they would be. Version 2 counts it for file systems that support that;
#   it was not available for the measurements so far.
set -euo pipefail

operations=3000
bytes=125000000
latency=
gigabytes=6
directory=.
fail() { echo "$1" >&2; exit 2; }
while [[ ${1:-} = --* ]]; do
  case $1 in
    --operations) operations=$2 ;;
    --bytes) bytes=$2 ;;
    --latency) latency=$2 ;;
    --gigabytes) gigabytes=$2 ;;
    --directory) directory=$2 ;;
    *) fail "There is no option $1: see the head of scripts/metered-disk.sh." ;;
  esac
  shift 2
done
[ $# -gt 0 ] || fail "No command: see the head of scripts/metered-disk.sh."
[ "$(id -u)" -eq 0 ] || fail "Only root can limit a disk."

group=
work=
loop=
disk=
child=
join=()

# Ends what the command has left, and takes away what was made for it.
clean_up() {
  trap - EXIT INT TERM HUP
  [ -z "$child" ] || ! kill -0 -- "-$child" 2>/dev/null || end_child
  if [ -n "$group" ]; then
    while read -r process; do echo "$process" >"$(dirname "$group")/cgroup.procs" || true; done <"$group/cgroup.procs"
    rmdir "$group"
  fi 2>/dev/null
  if [ -n "$work" ]; then
    for _ in $(seq 50); do
      ! mountpoint -q "$work/volume" || umount "$work/volume" 2>/dev/null || { sleep 0.2; continue; }
      break
    done
    [ -z "$loop" ] || losetup -d "$loop"
    for _ in $(seq 50); do
      ! mountpoint -q "$work/disk" || umount "$work/disk" 2>/dev/null || { sleep 0.2; continue; }
      break
    done
    [ -z "$disk" ] || wait "$disk" 2>/dev/null || true
    rm -rf --one-file-system "$work"
  fi
}
end_child() {
  kill -TERM -- "-$child" 2>/dev/null || true
  for _ in $(seq 20); do
    kill -0 -- "-$child" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$child" 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

throttle() {
  local device way
  device=$(findmnt -rno MAJ:MIN -T "$directory" | tail -1) || fail "$directory is in no file system."
  [ -e "/sys/dev/block/$device" ] || fail "The file system of $directory has no block device of its own ($device): choose another with --directory."
  [ ! -e "/sys/dev/block/$device/partition" ] || device=$(cat "$(readlink -f "/sys/dev/block/$device")/../dev")

  if [ -e /sys/fs/cgroup/blkio/blkio.throttle.write_iops_device ]; then
    group=/sys/fs/cgroup/blkio/metered-disk-$$
    mkdir "$group"
    for way in read write; do
      echo "$device $operations" >"$group/blkio.throttle.${way}_iops_device"
      echo "$device $bytes" >"$group/blkio.throttle.${way}_bps_device"
    done
  elif grep -qw io /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
    echo +io >/sys/fs/cgroup/cgroup.subtree_control || fail "The controller io cannot be used in groups below /sys/fs/cgroup."
    mkdir "/sys/fs/cgroup/metered-disk-$$"
    group=/sys/fs/cgroup/metered-disk-$$
    [ -e "$group/io.max" ] || fail "This kernel cannot throttle devices: io.max is missing (CONFIG_BLK_DEV_THROTTLING)."
    echo "$device riops=$operations wiops=$operations rbps=$bytes wbps=$bytes" >"$group/io.max"
  else
    fail "No cgroup can throttle a device here: neither blkio (version 1) nor io (version 2) is under /sys/fs/cgroup. Try --latency."
  fi
  join=(sh -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs")
}

make_volume() {
  local program source
  source=$(dirname "$(readlink -f "$0")")/metered-disk.c
  for program in gcc losetup mkfs.ext4; do
    command -v "$program" >/dev/null || fail "$program is missing: apt-get install gcc libc6-dev util-linux e2fsprogs"
  done
  [ -e /dev/fuse ] || fail "A disk with a latency needs FUSE: /dev/fuse is missing."
  work=$(mktemp -d)
  directory=$work/volume
  mkdir "$directory"
  touch "$work/disk"
  gcc -O2 -pthread -o "$work/metered-disk" "$source"
  "$work/metered-disk" "$work/disk" $((gigabytes << 30)) "$operations" "$bytes" "$latency" &
  disk=$!
  for _ in $(seq 50); do
    ! mountpoint -q "$work/disk" || break
    sleep 0.1
  done
  loop=$(losetup --find --show --direct-io=on "$work/disk") || fail "No loop device can be made over a disk in FUSE."
  echo "write through" >"/sys/block/${loop#/dev/}/queue/write_cache"
  mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 "$loop"
  mount "$loop" "$directory"
}

if [ -n "$latency" ]; then make_volume; else throttle; fi
setsid "${join[@]}" "${@//'{}'/$directory}" <&0 &
child=$!
status=0
wait "$child" || status=$?
exit $status
