using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

/// <summary>Compares an environment with the contents that it may have.</summary>
internal static class ContentCheck
{
    /// <summary>Returns the content that an environment has, which must be one of those allowed; of equal ones, the newest.</summary>
    public static Content Check(StorageEnvironment environment, IReadOnlyList<Content> allowed)
    {
        Content? found = null;
        using (var reading = environment.BeginRead())
        {
            var digest = Content.DigestOf(reading);
            for (var i = allowed.Count - 1; i >= 0 && found == null; i--)
            {
                if (allowed[i].Digest == digest)
                    found = allowed[i];
            }

            if (found == null)
            {
                throw new CrashViolationException(
                    $"Transaction {reading.TransactionId} was found; it is none of the {allowed.Count} that it may be. " +
                    $"Compared with the oldest: {allowed[0].Compare(reading)}. With the newest: {allowed[^1].Compare(reading)}.");
            }
        }

        Verify(environment);
        if (found.Others.ContainsKey(RecordedStore.TreeName) && RecordedCheck.FindFault(environment) is { } fault)
            throw new CrashViolationException(fault);
        return found;
    }

    /// <summary>
    /// Verifies the structure, and that no page of the data file is left over: the pages with one owner and the free pages together are all
    /// existing pages, and the file contains them all.
    /// </summary>
    public static void Verify(StorageEnvironment environment)
    {
        var report = environment.Verify();
        if (!report.IsSound)
            throw new CrashViolationException($"{report.Problems.Count} problems: {string.Join("; ", report.Problems.Take(5))}");
        var statistics = environment.GetStatistics();
        if (statistics.PublishedTransactionId != report.TransactionId)
            return;
        if (report.UsedPages + report.FreePages != statistics.PageCount)
            throw new CrashViolationException($"{report.UsedPages} pages are used and {report.FreePages} free; there are {statistics.PageCount}.");
        if (statistics.PageCount * statistics.PageSize > statistics.DataFileBytes)
            throw new CrashViolationException($"There are {statistics.PageCount} pages, and the data file has {statistics.DataFileBytes} bytes.");
    }

    public static void CheckReader(ReadTransaction reading, Content expected)
    {
        if (Content.DigestOf(reading) != expected.Digest)
            throw new CrashViolationException($"The snapshot of transaction {reading.TransactionId} has changed: {expected.Compare(reading)}");
    }
}
