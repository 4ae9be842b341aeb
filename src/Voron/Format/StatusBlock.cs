using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The conditions that an environment reports in addition to its figures.</summary>
[Flags]
internal enum StatusFlags : uint
{
    None = 0,

    /// <summary>A write has failed: the environment accepts no more writes. The cause follows the block.</summary>
    IsPoisoned = 1,

    /// <summary>Writers are delayed, because the journal or scratch memory is over its limit.</summary>
    IsBackPressureActive = 2,
}

/// <summary>
/// The figures of an environment that is open for writing, which its process writes to the status file from time to time, for other processes.
/// Nothing depends on the block: it is never synced, and no opening reads it.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct StatusBlock
{
    /// <summary>The size in bytes. The text of the cause of a poisoned environment follows; the rest of the 4 KiB block is zero.</summary>
    public const int Size = 480;

    /// <summary>"VoronSta", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x6174536E6F726F56;

    /// <summary>The version of this layout, which is independent of the format version.</summary>
    public const uint LayoutVersion = 1;

    /// <summary>The value of a figure that is unknown or does not exist.</summary>
    public const long None = -1;

    [FieldOffset(0)]
    public ulong Magic;

    /// <summary>The checksum of the 4 KiB block from byte 16 on.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    [FieldOffset(16)]
    public uint Layout;

    [FieldOffset(20)]
    public StatusFlags Flags;

    [FieldOffset(24)]
    public RandomId EnvironmentId;

    /// <summary>Differs from one opening to the next.</summary>
    [FieldOffset(40)]
    public RandomId Session;

    [FieldOffset(56)]
    public uint FormatVersion;

    [FieldOffset(60)]
    public uint PageSize;

    [FieldOffset(64)]
    public int ProcessId;

    /// <summary>The length in bytes of the cause, in UTF-8, which follows the block; 0 if there is none.</summary>
    [FieldOffset(68)]
    public int CauseLength;

    /// <summary>The time in UTC at which the process started, in ticks of 100 ns since the year 1.</summary>
    [FieldOffset(72)]
    public long ProcessStartTicks;

    /// <summary>The time at which the environment was opened, as above.</summary>
    [FieldOffset(80)]
    public long OpenedTicks;

    /// <summary>The time at which the figures were collected, as above.</summary>
    [FieldOffset(88)]
    public long UpdatedTicks;

    /// <summary>
    /// The time in milliseconds from the opening until the figures were collected, by a clock that cannot be set. Rates are based on it.
    /// </summary>
    [FieldOffset(96)]
    public long UptimeMilliseconds;

    /// <summary>1 in the first block after the opening; increases by one with each block.</summary>
    [FieldOffset(104)]
    public long Sequence;

    /// <summary>The interval at which blocks are written while the environment is active.</summary>
    [FieldOffset(112)]
    public long IntervalMilliseconds;

    [FieldOffset(120)]
    public long TransactionId;

    [FieldOffset(128)]
    public long CheckpointTransactionId;

    [FieldOffset(136)]
    public long CommittedTransactions;

    [FieldOffset(144)]
    public long RolledBackTransactions;

    [FieldOffset(152)]
    public long PagesChanged;

    /// <summary>Bytes of large values and new pages that were written without the journal.</summary>
    [FieldOffset(160)]
    public long DirectBytes;

    [FieldOffset(168)]
    public long JournalBytes;

    [FieldOffset(176)]
    public long JournalWrites;

    /// <summary>The time spent in the device's write calls for the journal, in ticks of 100 ns.</summary>
    [FieldOffset(184)]
    public long JournalWriteTicks;

    /// <summary>The number of journal files that a replay would need.</summary>
    [FieldOffset(192)]
    public long LiveJournalFiles;

    [FieldOffset(200)]
    public long LiveJournalBytes;

    [FieldOffset(208)]
    public long TotalJournalBytes;

    [FieldOffset(216)]
    public long JournalLimitBytes;

    /// <summary>Bytes of the journal that no flush has brought to the data file yet.</summary>
    [FieldOffset(224)]
    public long UnflushedJournalBytes;

    [FieldOffset(232)]
    public long DataFileBytes;

    /// <summary>Pages below the high-water mark, including free ones.</summary>
    [FieldOffset(240)]
    public long PageCount;

    /// <summary>Free pages of the whole data file, in bytes, or <see cref="None"/>.</summary>
    [FieldOffset(248)]
    public long FreeDataFileBytes;

    /// <summary>Bytes that can still be written to the volume, or <see cref="None"/>.</summary>
    [FieldOffset(256)]
    public long VolumeFreeBytes;

    /// <summary>Bytes of unflushed page versions, including their nodes.</summary>
    [FieldOffset(264)]
    public long VersionBytes;

    [FieldOffset(272)]
    public long ScratchBytes;

    [FieldOffset(280)]
    public long ScratchLimitBytes;

    [FieldOffset(288)]
    public long SpilledBytes;

    [FieldOffset(296)]
    public long NativeMemoryBytes;

    [FieldOffset(304)]
    public long KeyHeadCacheBytes;

    [FieldOffset(312)]
    public long StagedBytes;

    [FieldOffset(320)]
    public long OpenReaders;

    /// <summary>The transaction of the oldest snapshot in use, or <see cref="None"/>.</summary>
    [FieldOffset(328)]
    public long OldestReaderTransactionId;

    /// <summary>The time since which that snapshot has been in use, as above; 0 if there is none.</summary>
    [FieldOffset(336)]
    public long OldestReaderTicks;

    [FieldOffset(344)]
    public long Flushes;

    [FieldOffset(352)]
    public long FlushedBytes;

    /// <summary>The time at which the last flush ended, as above; 0 if there was none since the opening.</summary>
    [FieldOffset(360)]
    public long LastFlushTicks;

    /// <summary>The duration of the last flush in ticks of 100 ns.</summary>
    [FieldOffset(368)]
    public long LastFlushDuration;

    [FieldOffset(376)]
    public int BackupsUnderWay;

    [FieldOffset(380)]
    public int CompactionsUnderWay;

    [FieldOffset(384)]
    public long GroupCommittedOperations;

    [FieldOffset(392)]
    public long QueuedOperations;

    [FieldOffset(400)]
    public long BackPressureWaits;

    /// <summary>The total time for which writers were delayed, in ticks of 100 ns.</summary>
    [FieldOffset(408)]
    public long BackPressureTicks;

    [FieldOffset(416)]
    public long ScrubRuns;

    /// <summary>Problems that the last background verification found.</summary>
    [FieldOffset(424)]
    public long LastScrubProblems;

    // 432 to 479: zero.

    /// <summary>Returns the checksum of a whole block, which the block stores at byte 8.</summary>
    /// <param name="block">The 4 KiB block.</param>
    public static ulong ChecksumOf(ReadOnlySpan<byte> block) => Format.Checksum.Compute(block[16..], FileMagic);
}
