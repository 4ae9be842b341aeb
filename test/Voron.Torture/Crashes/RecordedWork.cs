using System.Collections.Immutable;
using Voron.Feeds;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

/// <summary>Work on a <see cref="RecordedStore"/> for suites that have no model of it: what it has before a change is read from it.</summary>
internal static class RecordedWork
{
    private const int MostChanges = 9;

    /// <summary>Returns whether the environment has the tables, the tree and the feed.</summary>
    public static bool IsIn(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(RecordedStore.TreeName, out _);
    }

    /// <summary>Makes some changes of the tables and of the tree that the feed records.</summary>
    public static void Change(WriteTransaction writing, Tape choices)
    {
        var content = writing.TryOpenTree(RecordedStore.TreeName, out _) ? Read(writing) : RecordedData.Empty;
        for (var i = choices.Next(1, MostChanges); choices.GoesOn(i > 0); i--)
        {
            var change = RecordedChange.Draw(choices);
            change.ApplyTo(writing, content);
            content = change.ApplyTo(content);
        }
    }

    /// <summary>Cuts the feed, or trains a dictionary for the tree, if there is one; otherwise returns false.</summary>
    /// <param name="environment">The environment, in which no write transaction is open.</param>
    /// <param name="trains">True to train a dictionary.</param>
    public static bool TryMaintain(StorageEnvironment environment, bool trains)
    {
        if (!IsIn(environment))
            return false;
        if (trains)
            return environment.TrainDictionaryAsync(RecordedStore.TreeName).AsTask().GetAwaiter().GetResult();
        return environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult() > 0;
    }

    /// <exception cref="CrashViolationException">The tables, the feed and the tree do not agree.</exception>
    public static void Check(StorageEnvironment environment, string when)
    {
        if (RecordedCheck.FindFault(environment) is { } fault)
            throw new CrashViolationException($"{when}, {fault}");
    }

    private static Dictionary<int, int> ReadRows(WriteTransaction writing)
    {
        var rows = new Dictionary<int, int>();
        foreach (var row in writing.OpenTable(RecordedStore.Rows).Scan())
            rows.Add(row.Key, row.Number);
        foreach (var row in writing.OpenTable(RecordedStore.Numbered).Scan())
            rows.Add(row.Key, row.Number);
        return rows;
    }

    private static RecordedData Read(WriteTransaction writing)
    {
        var entries = ImmutableSortedDictionary.CreateBuilder<int, int>();
        foreach (var entry in writing.OpenTree(RecordedStore.TreeName).GetEntries())
            entries.Add(System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(entry.Key), RecordedRow.NumberOf(entry.Value));
        return RecordedData.Empty.WithEntries(entries.ToImmutable()).WithRows(ReadRows(writing).ToImmutableSortedDictionary());
    }
}
