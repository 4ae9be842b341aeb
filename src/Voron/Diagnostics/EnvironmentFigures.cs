using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Diagnostics;

/// <summary>The figures that a meter shows for each environment. <c>docs/monitoring.md</c> contains the same table.</summary>
internal static class EnvironmentFigures
{
    private const FigureKind Counter = FigureKind.Counter;
    private const FigureKind UpDownCounter = FigureKind.UpDownCounter;
    private const FigureKind Gauge = FigureKind.Gauge;

    /// <summary>All figures.</summary>
    public static IReadOnlyList<ObservableFigure> All { get; } = [.. Work(), .. Journal(), .. Memory(), .. Space(), .. Health()];

    private static IEnumerable<ObservableFigure> Work() =>
    [
        Count("voron.commits", "{transaction}", "Write transactions made durable.", engine => engine.Counters.CommittedTransactions),
        Count("voron.rollbacks", "{transaction}", "Write transactions rolled back.", engine => engine.Counters.RolledBackTransactions),
        Count("voron.operations", "{operation}", "Operations that group commit has put into transactions.", engine => engine.Counters.GroupCommittedOperations),
        new ObservableFigure<long>(
            UpDownCounter, "voron.queued_operations", "{operation}", "Operations that wait for a group commit.", measured => measured.QueuedOperations),
        Amount("voron.readers", "{transaction}", "Open read transactions.", engine => engine.Users.OpenReaders),
        new ObservableFigure<double>(
            Gauge, "voron.reader.oldest.age", "s", "The age of the oldest snapshot in use; absent when there is none.",
            measured => measured.Engine.Readers.TryFindOldest(measured.Engine.FlusherSlot, out _, out var age) ? age.TotalSeconds : null),
        Count("voron.leaks", "{transaction}", "Transactions that were never ended, and were found by the garbage collector.",
            engine => engine.Counters.LeakedReaders + engine.Counters.LeakedWriters),
        Count("voron.writer.long_waits", "{wait}", "Waits for the writer that have lasted more than five seconds.",
            engine => Volatile.Read(ref engine.Counters.LongWriterWaits)),
        Count("voron.backpressure.waits", "{wait}", "Times that a writer was delayed because a limit was exceeded.", engine => engine.Counters.BackPressureWaits),
        Seconds("voron.backpressure.time", "The time for which writers were delayed, added up.", engine => engine.Counters.BackPressureTicks),
    ];

    private static IEnumerable<ObservableFigure> Journal() =>
    [
        Count("voron.journal.written", "By", "Bytes written to the journal.", engine => engine.Journal?.BytesWritten),
        Count("voron.journal.writes", "{write}", "Write calls to the journal.", engine => engine.Journal?.Writes),
        Seconds("voron.journal.write.time", "The time inside the device's write calls for the journal.", engine => engine.Journal?.WriteTicks),
        Amount("voron.journal.live", "By", "Bytes of journal records that a replay would need.", engine => engine.JournalFiles?.LiveRecordBytes),
        Level("voron.journal.limit", "By", "The limit of voron.journal.live above which writers are delayed.", engine => engine.Options.JournalLimitBytes),
        Amount("voron.journal.size", "By", "Bytes of all journal files.", engine => engine.JournalFiles?.TotalBytes),
        Count("voron.journal.snapshots", "{snapshot}", "Journal snapshots written because a reader held the flusher back.",
            engine => engine.Counters.JournalSnapshotCount),
        Count("voron.flush.pages", "{page}", "Pages written by flushes.", engine => engine.Counters.FlushedPages),
        Count("voron.flush.written", "By", "Bytes written by flushes.", engine => engine.Counters.FlushedBytes),
        new ObservableFigure<long>(Counter, "voron.recoveries", "{recovery}", "Openings that had to replay the journal.", measured => measured.Recoveries),
    ];

    private static IEnumerable<ObservableFigure> Memory() =>
    [
        Amount("voron.memory.used", "By", "Bytes of native memory in use for everything.", engine => engine.Memory.Account.Bytes),
        Level("voron.memory.limit", "By", "The limit of voron.memory.used.", engine => engine.Options.MemoryLimitBytes),
        Amount("voron.scratch.used", "By", "Bytes of unflushed page versions.", engine => engine.VersionBytes),
        Level("voron.scratch.limit", "By", "The limit of voron.scratch.used above which writers are delayed.", engine => engine.Options.ScratchLimitBytes),
        Amount("voron.scratch.reserved", "By", "Native memory that page versions have taken from the system.", engine => engine.Frames.ReservedBytes),
        Amount("voron.scratch.spilled", "By", "Bytes of page versions in the temporary file.", engine => engine.Frames.SpilledBytes),
        Amount("voron.key_heads.size", "By", "Bytes of the cache of key heads.", engine => engine.DataFileKeyHeads?.UsedBytes ?? 0),
    ];

    private static IEnumerable<ObservableFigure> Space() =>
    [
        Amount("voron.data_file.size", "By", "Bytes of the data file.", engine => engine.DataFile.CapacityPages * engine.PageSize),
        Amount("voron.data_file.free", "By", "Bytes of free pages in the data file, as of a recent flush.", FreeBytes),
        Amount("voron.data_file.staged", "By", "Bytes of the data file reserved for staged values.", engine => engine.StagedBytes),
        Count("voron.space.reclaimed", "By", "Bytes of the data file returned to the file system.",
            engine => engine.Counters.PunchedBytes + engine.Counters.TruncatedBytes),
        Level("voron.volume.free", "By", "Bytes that can still be written to the volume of the environment.", VolumeFreeBytes),
    ];

    private static IEnumerable<ObservableFigure> Health() =>
    [
        Level("voron.poisoned", "1", "1 once a write has failed, so that the environment accepts no more writes; otherwise 0.",
            engine => engine.Poison.IsPoisoned ? 1 : 0),
        Level("voron.backpressure.active", "1", "1 while writers are delayed because a limit is exceeded; otherwise 0.",
            engine => engine.FlushServices?.IsDelaying == true ? 1 : 0),
        Count("voron.scrub.runs", "{run}", "Finished verifications in the background.", engine => engine.Counters.ScrubRuns),
        Count("voron.scrub.read", "By", "Bytes read and verified in the background.", engine => engine.Counters.ScrubbedBytes),
        Count("voron.scrub.problems", "{problem}", "Problems found by verifications in the background.", engine => engine.Counters.ScrubProblems),
    ];

    /// <summary>The bytes of free pages in the data file; null while they are not known.</summary>
    public static long? FreeBytes(Engine engine) =>
        Volatile.Read(ref engine.Counters.FreePages) is >= 0 and var pages ? pages * engine.PageSize : null;

    /// <summary>The bytes that can still be written to the volume; null if the system does not report them.</summary>
    public static long? VolumeFreeBytes(Engine engine) => engine.Disk.AvailableBytes is not long.MaxValue and var bytes ? bytes : null;

    private static ObservableFigure<long> Count(string name, string unit, string description, Func<Engine, long?> read) =>
        new(Counter, name, unit, description, measured => read(measured.Engine));

    private static ObservableFigure<long> Amount(string name, string unit, string description, Func<Engine, long?> read) =>
        new(UpDownCounter, name, unit, description, measured => read(measured.Engine));

    private static ObservableFigure<long> Level(string name, string unit, string description, Func<Engine, long?> read) =>
        new(Gauge, name, unit, description, measured => read(measured.Engine));

    private static ObservableFigure<double> Seconds(string name, string description, Func<Engine, long?> readTicks) =>
        new(Counter, name, "s", description, measured => readTicks(measured.Engine) is { } ticks ? Stopwatch.GetElapsedTime(0, ticks).TotalSeconds : null);
}

/// <summary>Creates the observable instruments of a meter once, however many environments the meter measures.</summary>
internal static class MeterInstruments
{
    private static readonly ConditionalWeakTable<EngineMeter, MeasuredEnvironments> Known = [];

    /// <summary>Returns the environments that the instruments of a meter read.</summary>
    public static MeasuredEnvironments Of(EngineMeter meter) => Known.GetValue(meter, static known =>
    {
        var environments = new MeasuredEnvironments();
        foreach (var figure in EnvironmentFigures.All)
            figure.Create(known.Meter, environments);
        return environments;
    });
}
