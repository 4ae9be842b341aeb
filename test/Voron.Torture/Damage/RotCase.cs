using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Voron.Torture.Harness;

namespace Voron.Torture.Damage;

/// <summary>
/// Opens what is left after a damage, and judges: it was told, with the place; or nothing shows it. Never is a wrong byte read, an
/// acknowledged transaction silently missing, or a file changed by an opening that fails.
/// </summary>
internal sealed partial class RotCase(StoreImage image, Rot rot, IReadOnlyList<(long Offset, long Length)> hit)
{
    /// <param name="disk">Has been damaged.</param>
    /// <param name="writable">Opens to write, which flushes when it is closed; then everything is judged once more.</param>
    /// <returns>Whether the damage was told.</returns>
    public bool Run(ImageDisk disk, bool writable)
    {
        disk.IsReadOnly = !writable;
        bool told = Judge(disk, writable);
        if (told || !writable)
            return told;
        disk.IsReadOnly = true;
        return Judge(disk, writable: false);
    }

    private bool Judge(ImageDisk disk, bool writable)
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
            return true;
        }
        using (environment)
        {
            long id = environment.Recovery.TransactionId;
            bool told = false;
            if (id != image.LastTransaction)
            {
                CheckDropped(environment, log);
                told = true;
            }
            IReadOnlyList<string> faults;
            using (ReadTransaction reading = environment.BeginRead())
                faults = image.Contents[id].Compare(reading);
            foreach (string fault in faults)
                BrokenPromiseException.Require(Place().IsMatch(fault), $"no place is named: {fault}");
            VerificationReport report = environment.Verify();
            BrokenPromiseException.Require(faults.Count == 0 || !report.IsSound, $"Verify finds nothing where reading tells {string.Join("; ", faults)}");
            return told || faults.Count > 0 || !report.IsSound;
        }
    }

    // Only the newest may be missing, and that only if every record that vouches for it is hit as well; where its header is left,
    // it is told by its id.
    private void CheckDropped(StorageEnvironment environment, InformationLog log)
    {
        RecoveryReport recovery = environment.Recovery;
        long firstMissing = recovery.TransactionId + 1;
        IReadOnlyList<RecordPlace> missing = [.. image.Records.SkipWhile(record => record.TransactionId != firstMissing)];
        BrokenPromiseException.Require(
            missing.Count > 0 && missing.All(record => record.IsHit(rot.File, hit)),
            $"transaction {image.LastTransaction} was acknowledged, and {recovery.TransactionId} is there: {recovery}");
        long header = missing[0].Offset;
        if (rot.Kind != RotKind.Bit && hit.Any(range => range.Offset <= header && range.Offset + range.Length > header))
            return;
        BrokenPromiseException.Require(
            recovery is { DroppedRecords: > 0 } && recovery.DroppedFile is not null, $"the record that is missing is not told: {recovery}");
        // A bit of the id, or of the kind, is a bit like any other.
        bool hitsId = rot.Kind == RotKind.Bit && hit[0].Offset - header is 64 or (>= 88 and < 96);
        BrokenPromiseException.Require(
            recovery.FirstDroppedTransactionId == firstMissing || hitsId, $"the transaction that is missing is not named: {recovery}");
        BrokenPromiseException.Require(log.HasDropped, "the log says nothing of the record that was dropped");
    }

    [GeneratedRegex("'image(/[a-z0-9.-]+)?'|[Pp]age [0-9]+")]
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
