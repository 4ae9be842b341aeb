using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Recorded;

namespace Voron.Torture.Damage;

/// <summary>The outcome of a damage.</summary>
internal enum RotOutcome
{
    /// <summary>Every acknowledged transaction is present and sound, and nothing depends on the damaged bytes.</summary>
    Harmless,

    /// <summary>
    /// The damage was reported: by an exception, by <see cref="StorageEnvironment.Verify"/>, or by the report of the recovery.
    /// </summary>
    Reported,

    /// <summary>
    /// The last transaction is missing without a report: nothing is left of the block with which its record began, nor of the marker that
    /// would confirm its durability.
    /// </summary>
    LostUnseen,
}

/// <summary>
/// Opens the files after a damage, and judges: either the damage was reported, with its place, or nothing depends on the damaged bytes. The
/// engine must never read a wrong byte, silently miss an acknowledged transaction, or change a file in an opening that fails.
/// </summary>
internal sealed partial class RotCase(StoreImage image, Rot rot, IReadOnlyList<(long Offset, long Length)> hit)
{
    /// <param name="disk">The damaged disk.</param>
    /// <param name="writable">True to open for writing, which flushes when the environment is closed; then everything is judged once
    /// more.</param>
    public RotOutcome Run(ImageDisk disk, bool writable)
    {
        var needed = rot.File == ForgedStore.DataFile ? image.Needed.FirstChanged(image.Files[rot.File], disk.Bytes(rot.File), hit) : -1;
        disk.IsReadOnly = !writable;
        (var outcome, var id) = Judge(disk, writable, image.LastTransaction);
        BrokenPromiseException.Require(
            outcome != RotOutcome.Harmless || needed < 0,
            $"byte {needed % ForgedStore.PageSize} of page {needed / ForgedStore.PageSize} has changed, something depends on it, and it is not reported");
        if (!writable)
            return outcome;

        // Damage that was reported and not repaired has to be reported again: the closing flush must not have given it a valid checksum.
        disk.IsReadOnly = true;
        (var again, _) = Judge(disk, writable: false, id ?? image.LastTransaction);
        BrokenPromiseException.Require(id is not null || again == RotOutcome.Reported, "an opening for writing is refused, and one for reading finds nothing");
        BrokenPromiseException.Require(
            outcome != RotOutcome.Harmless || again == RotOutcome.Harmless, "harmless damage is reported after the environment was closed");
        return outcome;
    }

    /// <param name="newest">The transaction that has to be present, unless its absence is reported.</param>
    /// <returns>The outcome, and the id of the newest transaction; null if the environment cannot be opened.</returns>
    private (RotOutcome Outcome, long? Id) Judge(ImageDisk disk, bool writable, long newest)
    {
        var log = new InformationLog();
        var before = disk.Changes;
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(disk, StoreMaker.Options(image.Form, readOnly: !writable, log));
        }
        catch (VoronException e)
        {
            BrokenPromiseException.Require(disk.Changes == before, $"an opening that failed has changed a file ({e.Message})");
            BrokenPromiseException.Require(e is CorruptionException or UnsupportedFormatException or StorageAccessException, $"wrong kind: {e}");
            BrokenPromiseException.Require(Place().IsMatch(e.Message), $"no place is named: {e.Message}");
            return (RotOutcome.Reported, null);
        }
        using (environment)
        {
            var id = environment.Recovery.TransactionId;
            var outcome = RotOutcome.Harmless;
            if (id != newest)
            {
                BrokenPromiseException.Require(newest == image.LastTransaction, $"transaction {newest} was the newest, and {id} is after a close");
                outcome = JudgeDropped(environment, log);
            }
            IReadOnlyList<string> faults;
            using (var reading = environment.BeginRead())
                faults = image.Contents[id].Compare(reading);
            if (image.Contents[id].HasRecorded)
            {
                faults = [.. faults, .. FindRecordedFaults(environment)];
                if (writable)
                    CheckDeletion(environment);
            }

            foreach (var fault in faults)
                BrokenPromiseException.Require(Place().IsMatch(fault), $"no place is named: {fault}");
            var report = environment.Verify();
            BrokenPromiseException.Require(faults.Count == 0 || !report.IsSound, $"Verify finds nothing where reading reports {string.Join("; ", faults)}");
            return (faults.Count > 0 || !report.IsSound ? RotOutcome.Reported : outcome, id);
        }
    }

    // A deletion of many rows that damage ends is not committed in part. One that ends well is not committed either.
    private static void CheckDeletion(StorageEnvironment environment)
    {
        var (rows, left) = (0L, 0L);
        try
        {
            using (var writing = environment.BeginWrite())
            {
                if (!writing.TryOpenTable(RecordedStore.Rows, out var table))
                    return;
                rows = table.Count;
                try
                {
                    _ = table.DeleteWhereRaw("pair", KeyRange.All);
                    return;
                }
                catch (CorruptionException)
                {
                    writing.Commit();
                }
            }

            using var reading = environment.BeginRead();
            left = reading.OpenTable(RecordedStore.Rows).Count;
        }
        catch (Exception e) when (e is CorruptionException or InvalidOperationException)
        {
            return;
        }

        BrokenPromiseException.Require(left == rows, $"{rows - left} of {rows} rows were deleted by a call that has met a damaged page");
    }

    // What is found in tables and feeds must name a damaged page: otherwise something wrong was read.
    private static List<string> FindRecordedFaults(StorageEnvironment environment)
    {
        try
        {
            return RecordedCheck.FindFault(environment) is { } fault ? [fault] : [];
        }
        catch (VoronException e)
        {
            return [e.Message];
        }
    }

    // Only the newest transaction may be missing, and only if every record that confirms its durability is damaged as well; if its header
    // is left, it is reported by its id. A file that has become shorter, or has been replaced, is reported as such and excuses nothing.
    private RotOutcome JudgeDropped(StorageEnvironment environment, InformationLog log)
    {
        var recovery = environment.Recovery;
        var firstMissing = recovery.TransactionId + 1;
        IReadOnlyList<RecordPlace> missing = [.. image.Records.SkipWhile(record => record.TransactionId != firstMissing)];
        var most = rot.Kind switch
        {
            RotKind.Cut or RotKind.ForeignFile => 0,
            RotKind.SwappedBlocks => 2,
            _ => 1,
        };
        var transactions = missing.Count(record => record.TransactionId != 0);
        BrokenPromiseException.Require(
            transactions > 0 && transactions <= most && missing.All(record => record.IsHit(rot.File, hit)),
            $"transaction {image.LastTransaction} was acknowledged, and {recovery.TransactionId} was found: {recovery}");
        var isReported = recovery is { DroppedRecords: > 0 } && recovery.DroppedFile is not null && log.HasDropped;
        var header = missing[0].Offset;
        if (rot.Kind != RotKind.Bit && hit.Any(range => range.Offset <= header && range.Offset + range.Length > header))
        {
            BrokenPromiseException.Require(isReported || transactions < 2, $"{transactions} transactions are missing, and this is not reported: {recovery}");
            return isReported ? RotOutcome.Reported : RotOutcome.LostUnseen;
        }
        BrokenPromiseException.Require(isReported, $"the missing record is not reported, or not in the log: {recovery}");

        // The damaged bit may belong to the id, or to the kind.
        var hitsId = rot.Kind == RotKind.Bit && hit[0].Offset - header is 64 or (>= 88 and < 96);
        BrokenPromiseException.Require(
            recovery.FirstDroppedTransactionId == firstMissing || hitsId, $"the missing transaction is not named: {recovery}");
        return RotOutcome.Reported;
    }

    [GeneratedRegex("'image([/\\\\][a-z0-9.-]+)?'|[Pp]age [0-9]+")]
    private static partial Regex Place();

    /// <summary>Records whether a dropped tail was logged.</summary>
    private sealed class InformationLog : ILogger
    {
        public bool HasDropped { get; private set; }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            HasDropped |= formatter(state, exception).Contains("was dropped", StringComparison.Ordinal);
    }
}
