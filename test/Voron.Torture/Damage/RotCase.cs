using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Voron.Torture.Harness;

namespace Voron.Torture.Damage;

/// <summary>What became of a damage.</summary>
internal enum RotOutcome
{
    /// <summary>Everything that was acknowledged is there and sound, and nothing depends on what was hit.</summary>
    Harmless,

    /// <summary>It was told: by an exception, by <see cref="StorageEnvironment.Verify"/>, or by the report of the recovery.</summary>
    Told,

    /// <summary>
    /// The last transaction is gone without a word: nothing is left of the block that its record began with, nor of what would vouch for it.
    /// </summary>
    LostUnseen,
}

/// <summary>
/// Opens what is left after a damage, and judges: it was told, with the place; or nothing depends on what was hit. Never is a wrong byte
/// read, an acknowledged transaction silently missing, or a file changed by an opening that fails.
/// </summary>
internal sealed partial class RotCase(StoreImage image, Rot rot, IReadOnlyList<(long Offset, long Length)> hit)
{
    /// <param name="disk">Has been damaged.</param>
    /// <param name="writable">Opens to write, which flushes when it is closed; then everything is judged once more.</param>
    public RotOutcome Run(ImageDisk disk, bool writable)
    {
        long needed = rot.File == ForgedStore.DataFile ? image.Needed.FirstChanged(image.Files[rot.File], disk.Bytes(rot.File), hit) : -1;
        disk.IsReadOnly = !writable;
        (RotOutcome outcome, long? id) = Judge(disk, writable, image.LastTransaction);
        BrokenPromiseException.Require(
            outcome != RotOutcome.Harmless || needed < 0,
            $"byte {needed % ForgedStore.PageSize} of page {needed / ForgedStore.PageSize} has changed, something depends on it, and nobody tells");
        if (!writable)
            return outcome;

        // What was told and not repaired has to be told again: the closing flush must not have given it a checksum that fits.
        disk.IsReadOnly = true;
        (RotOutcome again, _) = Judge(disk, writable: false, id ?? image.LastTransaction);
        BrokenPromiseException.Require(id is not null || again == RotOutcome.Told, "an opening to write is refused, and one to read finds nothing");
        BrokenPromiseException.Require(
            outcome != RotOutcome.Harmless || again == RotOutcome.Harmless, "what was harmless is told of when the environment was closed");
        return outcome;
    }

    /// <param name="newest">The transaction that has to be there, unless it is told that it is not.</param>
    /// <returns>What was found, and the transaction that is the newest; none when the environment cannot be opened.</returns>
    private (RotOutcome Outcome, long? Id) Judge(ImageDisk disk, bool writable, long newest)
    {
        var log = new InformationLog();
        long before = disk.Changes;
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
            return (RotOutcome.Told, null);
        }
        using (environment)
        {
            long id = environment.Recovery.TransactionId;
            RotOutcome outcome = RotOutcome.Harmless;
            if (id != newest)
            {
                BrokenPromiseException.Require(newest == image.LastTransaction, $"transaction {newest} was the newest, and {id} is after a close");
                outcome = JudgeDropped(environment, log);
            }
            IReadOnlyList<string> faults;
            using (ReadTransaction reading = environment.BeginRead())
                faults = image.Contents[id].Compare(reading);
            foreach (string fault in faults)
                BrokenPromiseException.Require(Place().IsMatch(fault), $"no place is named: {fault}");
            VerificationReport report = environment.Verify();
            BrokenPromiseException.Require(faults.Count == 0 || !report.IsSound, $"Verify finds nothing where reading tells {string.Join("; ", faults)}");
            return (faults.Count > 0 || !report.IsSound ? RotOutcome.Told : outcome, id);
        }
    }

    // Only the newest may be missing, and that only if every record that vouches for it is hit as well; where its header is left,
    // it is told by its id. A file that has become shorter, or another one, is told as such and excuses nothing.
    private RotOutcome JudgeDropped(StorageEnvironment environment, InformationLog log)
    {
        RecoveryReport recovery = environment.Recovery;
        long firstMissing = recovery.TransactionId + 1;
        IReadOnlyList<RecordPlace> missing = [.. image.Records.SkipWhile(record => record.TransactionId != firstMissing)];
        int most = rot.Kind switch
        {
            RotKind.Cut or RotKind.ForeignFile => 0,
            RotKind.SwappedBlocks => 2,
            _ => 1,
        };
        int transactions = missing.Count(record => record.TransactionId != 0);
        BrokenPromiseException.Require(
            transactions > 0 && transactions <= most && missing.All(record => record.IsHit(rot.File, hit)),
            $"transaction {image.LastTransaction} was acknowledged, and {recovery.TransactionId} is there: {recovery}");
        bool isTold = recovery is { DroppedRecords: > 0 } && recovery.DroppedFile is not null && log.HasDropped;
        long header = missing[0].Offset;
        if (rot.Kind != RotKind.Bit && hit.Any(range => range.Offset <= header && range.Offset + range.Length > header))
        {
            BrokenPromiseException.Require(isTold || transactions < 2, $"{transactions} transactions are missing, and nobody tells: {recovery}");
            return isTold ? RotOutcome.Told : RotOutcome.LostUnseen;
        }
        BrokenPromiseException.Require(isTold, $"the record that is missing is not told, or not in the log: {recovery}");

        // A bit of the id, or of the kind, is a bit like any other.
        bool hitsId = rot.Kind == RotKind.Bit && hit[0].Offset - header is 64 or (>= 88 and < 96);
        BrokenPromiseException.Require(
            recovery.FirstDroppedTransactionId == firstMissing || hitsId, $"the transaction that is missing is not named: {recovery}");
        return RotOutcome.Told;
    }

    [GeneratedRegex("'image([/\\\\][a-z0-9.-]+)?'|[Pp]age [0-9]+")]
    private static partial Regex Place();

    /// <summary>Knows whether it was said that a tail was dropped.</summary>
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
