namespace Voron.Torture.Crashes;

/// <summary>Compares an environment with what it may have.</summary>
internal static class ContentCheck
{
    /// <summary>The content that an environment has, which must be one of those allowed; the newest of those that are alike.</summary>
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
        return found;
    }

    public static void Verify(StorageEnvironment environment)
    {
        var problems = environment.Verify().Problems;
        if (problems.Count > 0)
            throw new CrashViolationException($"{problems.Count} problems: {string.Join("; ", problems.Take(5))}");
    }

    public static void CheckReader(ReadTransaction reading, Content expected)
    {
        if (Content.DigestOf(reading) != expected.Digest)
            throw new CrashViolationException($"The snapshot of transaction {reading.TransactionId} has changed: {expected.Compare(reading)}");
    }
}
