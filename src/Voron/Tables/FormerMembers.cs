using System.Diagnostics;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>Removes the ids of tables that have left a shared index, in short transactions while others write.</summary>
/// <remarks>
/// The record of a former member stores the key from which its ids remain. A step removes ids and moves that key in one transaction, so the next step
/// continues where the last one ended, even after a restart.
/// </remarks>
internal static class FormerMembers
{
    private const int IdsTogether = 1024;

    /// <summary>Removes all ids of former members. If a damaged page prevents this for a member, logs it and skips the member.</summary>
    /// <param name="environment">The environment.</param>
    /// <param name="maxHold">The time for which a step holds the writer.</param>
    /// <param name="stop">Ends the call between two steps.</param>
    public static async ValueTask RemoveIdsAsync(StorageEnvironment environment, TimeSpan maxHold, CancellationToken stop)
    {
        var passed = new HashSet<SharedPlace>();
        using (var reading = environment.BeginRead())
        {
            if (!reading.TryFindTree(SystemTree.Schemas, out Tree schemas) || !TryFind(schemas, passed, out _, out _))
                return;
        }

        var pace = new StepPace(maxHold);
        while (true)
        {
            using var writing = await environment.BeginWriteAsync(stop).ConfigureAwait(false);
            pace.Begin();
            if (writing.FindSystemTree(SystemTree.Schemas) is not { } schemas || !TryFind(schemas, passed, out var place, out var from))
                return;
            try
            {
                Step(writing, schemas, place, from, pace.ReadingTime);
                pace.EndReading();
                var commit = writing.CommitAsync(CancellationToken.None);
                pace.End();
                await commit.ConfigureAwait(false);
            }
            catch (CorruptionException e)
            {
                // The remaining ids have no effect, and the caller has done everything else.
                passed.Add(place);
                TableLog.FormerMemberLeft(environment.Logger, place.Number, environment.Path, e.Message, e);
            }
        }
    }

    private static bool TryFind(Tree schemas, HashSet<SharedPlace> passed, out SharedPlace place, out byte[] from)
    {
        foreach (var entry in schemas.Prefix(SchemaKeys.Members))
        {
            if (!SchemaKeys.TryReadMember(entry.Key, out place) || passed.Contains(place) || SharedMembers.RestOf(entry.Value) is not { } rest)
                continue;
            from = rest;
            return true;
        }

        (place, from) = (default, []);
        return false;
    }

    private static void Step(WriteTransaction writing, WriteTree schemas, SharedPlace place, byte[] from, TimeSpan hold)
    {
        if (RemoveIds(writing, place, from, hold) is { } end)
            SharedMembers.SaveRest(schemas, place, end);
        else
            schemas.Delete(SchemaKeys.Member(place));
    }

    // Returns the key at which the next step continues; null at the end.
    private static byte[]? RemoveIds(WriteTransaction writing, SharedPlace place, byte[] from, TimeSpan hold)
    {
        if (writing.FindSystemIdTree(place.TreeName) is not { } tree)
            return null;
        var began = Stopwatch.GetTimestamp();
        var ids = new long[IdsTogether];
        using var keys = tree.OpenCursor();
        var found = keys.Seek(from);
        for (var isFirst = true; found; isFirst = false)
        {
            var key = keys.Key.ToArray();
            if (!isFirst && Stopwatch.GetElapsedTime(began) >= hold)
                return key;
            var count = Take(keys, place, ids);
            if (count > 0)
                tree.RemoveMany(key, ids.AsSpan(0, count));
            found = count < ids.Length ? keys.MoveNext() : keys.Seek(key);
        }

        return null;
    }

    private static int Take(IdKeyCursor keys, SharedPlace place, Span<long> taken)
    {
        var last = PlantedFault.RemoveNextMember ? place.LastId + RowIdBytes.Max + 1 : place.LastId;
        using var ids = keys.OpenIds();
        var count = 0;
        for (var found = ids.Seek(place.FirstId); found && ids.Id <= last && count < taken.Length; found = ids.MoveNext())
            taken[count++] = ids.Id;
        return count;
    }
}
