namespace Voron.Benchmarks.Measurement;

/// <summary>The memory that operations take beyond what the store beside them uses.</summary>
internal sealed record OperationMemory(string Operation, long Bytes)
{
    /// <summary>The limit of the store's own memory; it has taken what it takes before the first operation begins.</summary>
    private const long StoreLimitBytes = 128 << 20;

    public static async Task<List<OperationMemory>> MeasureAsync(string directory, long bytes, CancellationToken stop)
    {
        using var store = BackupStore.Create(Path.Combine(directory, "store"), bytes, new StorageOptions { MemoryLimitBytes = StoreLimitBytes });
        var (full, changes) = (Path.Combine(directory, "full.vback"), Path.Combine(directory, "changes.vback"));
        string New(string name) => Path.Combine(directory, name);
        var environment = store.Environment;
        var results = new List<OperationMemory>();
        async Task Measure(string operation, Func<Task> run, string? made = null)
        {
            results.Add(new OperationMemory(operation, await AnonymousMemory.GrowthAsync(run).ConfigureAwait(false)));
            if (made != null)
                Directory.Delete(New(made), recursive: true);
        }

        BackupReport? report = null;
        await Measure(
            "backup", async () => report = await environment.BackupAsync(full, null, stop).ConfigureAwait(false)).ConfigureAwait(false);
        ChangeSome(store, report!.Pages / 100);
        await Measure(
            "incremental backup, 1 % of the pages",
            () => environment.BackupAsync(changes, new BackupOptions { Since = report!.BackupId }, stop).AsTask()).ConfigureAwait(false);
        await Measure("verification of a backup", () => BackupFile.VerifyAsync(full, stop).AsTask()).ConfigureAwait(false);
        await Measure(
            "restore of both", () => BackupFile.RestoreAsync([full, changes], New("restored"), null, stop).AsTask(), "restored").ConfigureAwait(false);
        await Measure("merge", () => BackupFile.MergeAsync([full, changes], New("merged.vback"), true, stop).AsTask()).ConfigureAwait(false);
        await Measure("copy", () => environment.CopyToAsync(New("copied"), null, stop).AsTask(), "copied").ConfigureAwait(false);
        await Measure("verification of the environment", () => Task.Run(environment.Verify, stop)).ConfigureAwait(false);
        await Measure(
            "compaction into a new directory", () => environment.CompactToAsync(New("dense"), null, stop).AsTask(), "dense").ConfigureAwait(false);
        store.DeleteMost();
        await Measure("compaction in place", () => environment.CompactAsync(null, stop).AsTask()).ConfigureAwait(false);
        store.Dispose();
        await Measure("salvage", () => Salvage.RunAsync(store.Directory, New("salvaged"), null, stop).AsTask(), "salvaged").ConfigureAwait(false);
        return results;
    }

    private static void ChangeSome(BackupStore store, long items)
    {
        var random = new Random(2);
        for (var left = items; left > 0; left -= 1000)
            store.Update((int)Math.Min(left, 1000), random);
        store.Environment.Flush();
    }
}
