using Voron.Simulation.Harness;

namespace Voron.Torture.Model;

/// <summary>
/// Overwrites large values again and again. They are written to pages that no snapshot has: the pages of overwritten values become usable
/// after a flush, and have to be reused.
/// </summary>
internal sealed class LargeOverwrites(ModelSettings settings, Random random, ModelHistory history, ModelVersions versions)
{
    private const string OverwrittenName = "overwritten";

    /// <summary>The number of overwritten values, relative to those that are live or wait for a flush.</summary>
    private const int OverwriteFactor = 8;

    /// <summary>The allowed growth of the file, relative to the bytes of values that are live or wait for a flush.</summary>
    private const int MaxGrowth = 2;

    /// <summary>Pages in addition to values: those of trees and of section maps.</summary>
    private const int OtherPages = 64;

    /// <summary>In milliseconds.</summary>
    private const long FlushPatience = 30_000;

    /// <summary>Overwrites some values, which remain, and checks the growth of the file. No reader may be open.</summary>
    public void Make(StorageEnvironment environment)
    {
        var keys = random.Next(1, 5);
        var length = settings.Options.LargeValueBytes + random.Next(100_000);
        var between = random.Next(1, 6);
        history.Note($"overwrite {keys} values of {length} bytes, with a flush after {between}");
        FlushAll(environment);
        var before = environment.GetStatistics().PageCount;
        for (var i = 0; i < OverwriteFactor * (keys + between); i++)
        {
            Overwrite(environment, i % keys, length);
            if (i % between == 0)
                FlushAll(environment);
        }

        FlushAll(environment);
        long bytes = keys + between;
        bytes *= length;
        var grown = (environment.GetStatistics().PageCount - before) * settings.Options.PageSizeOrDefault;
        var most = MaxGrowth * bytes + OtherPages * settings.Options.PageSizeOrDefault;
        BrokenPromiseException.Require(
            grown <= most,
            $"Of {keys} values of {length} bytes, overwritten {OverwriteFactor} times and flushed after {between}, the file grew by {grown} bytes, more than {most}.");
    }

    public void Delete(StorageEnvironment environment)
    {
        using var deleting = environment.BeginWrite();
        var id = deleting.TransactionId;
        deleting.DeleteTree(OverwrittenName);
        deleting.Commit();
        Take(id, versions.Newest.Drop(OverwrittenName));
    }

    // A scrub holds a snapshot for a slice of its work, longer if its thread gets no processor, and holds flushes back meanwhile.
    private static void FlushAll(StorageEnvironment environment)
    {
        var started = Environment.TickCount64;
        while (true)
        {
            environment.Flush();
            var statistics = environment.GetStatistics();
            if (statistics.CheckpointTransactionId == statistics.PublishedTransactionId)
                return;
            BrokenPromiseException.Require(
                Environment.TickCount64 - started < FlushPatience,
                $"No flush goes beyond transaction {statistics.CheckpointTransactionId} of {statistics.PublishedTransactionId}, and no reader is open.");
            Thread.Sleep(1);
        }
    }

    private void Overwrite(StorageEnvironment environment, int key, int length)
    {
        history.Add("overwrite");
        var entry = Pad.Draw(random, [(byte)key], length);
        using var writing = environment.BeginWrite();
        var id = writing.TransactionId;
        writing.CreateTree(OverwrittenName).Put(entry.Key, entry.Value);
        writing.Commit();
        Take(id, versions.Newest.Create(OverwrittenName).Put(OverwrittenName, entry));
    }

    private void Take(long id, ModelState state)
    {
        versions.Add(id, state);
        versions.Acknowledge(id);
    }
}
