using System.Buffers.Binary;

namespace Voron.Benchmarks.Measurement;

/// <summary>One run of deleting two tenths of a tree that was loaded in order: one tenth as a range, the other through a cursor.</summary>
internal sealed record RangeDeleteRun(long Entries, TenthDeleted Range, TenthDeleted Cursor)
{
    public const int KeyBytes = sizeof(long);
    public const int ValueBytes = 100;

    private const string TreeName = "items";
    private const int EntriesPerCommit = 100_000;

    public static RangeDeleteRun Measure(string directory, long entries, bool rangeFirst)
    {
        using var place = new WorkArea(directory);
        using var environment = StorageEnvironment.Open(place.Path);
        Fill(environment, entries);
        environment.Flush();

        // The third tenth, and the seventh: both are far from the ends of the tree, and from each other.
        var tenth = entries / 10;
        TenthDeleted range = null!;
        if (rangeFirst)
            range = Delete(environment, tree => DeleteRange(tree, 2 * tenth, 3 * tenth));
        var cursor = Delete(environment, tree => DeleteByCursor(tree, 6 * tenth, 7 * tenth));
        if (!rangeFirst)
            range = Delete(environment, tree => DeleteRange(tree, 2 * tenth, 3 * tenth));
        using var reading = environment.BeginRead();
        if (range.Entries != tenth || cursor.Entries != tenth || reading.OpenTree(TreeName).Count != entries - (2 * tenth))
            throw new BenchmarkException($"Of twice {tenth} entries, {range.Entries} and {cursor.Entries} were deleted.");
        return new RangeDeleteRun(entries, range, cursor);
    }

    private static void Fill(StorageEnvironment environment, long entries)
    {
        var random = new Random(1);
        Span<byte> key = stackalloc byte[KeyBytes];
        Span<byte> value = stackalloc byte[ValueBytes];
        for (var entry = 0L; entry < entries;)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(TreeName);
            for (var end = Math.Min(entries, entry + EntriesPerCommit); entry < end; entry++)
            {
                BinaryPrimitives.WriteInt64BigEndian(key, entry);
                random.NextBytes(value);
                tree.Put(key, value);
            }

            writing.Commit();
        }
    }

    private static TenthDeleted Delete(StorageEnvironment environment, Func<WriteTree, long> delete)
    {
        environment.Flush();
        var before = environment.GetStatistics().JournalBytes;
        var began = Stopwatch.GetTimestamp();
        using var writing = environment.BeginWrite();
        var deleted = delete(writing.OpenTree(TreeName));
        writing.Commit();
        var elapsed = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        return new TenthDeleted(deleted, elapsed, environment.GetStatistics().JournalBytes - before);
    }

    private static long DeleteRange(WriteTree tree, long first, long end)
    {
        Span<byte> from = stackalloc byte[KeyBytes];
        Span<byte> before = stackalloc byte[KeyBytes];
        BinaryPrimitives.WriteInt64BigEndian(from, first);
        BinaryPrimitives.WriteInt64BigEndian(before, end);
        return tree.DeleteRange(KeyRange.From(from).Before(before));
    }

    private static long DeleteByCursor(WriteTree tree, long first, long end)
    {
        Span<byte> from = stackalloc byte[KeyBytes];
        BinaryPrimitives.WriteInt64BigEndian(from, first);
        var deleted = 0L;
        using var cursor = tree.OpenCursor();
        for (var found = cursor.Seek(from); found && BinaryPrimitives.ReadInt64BigEndian(cursor.Key) < end; found = cursor.MoveNext())
        {
            if (cursor.Delete())
                deleted++;
        }

        return deleted;
    }
}

/// <summary>The entries that were deleted, the time with the durable commit, and the bytes that were written to the journal meanwhile.</summary>
internal sealed record TenthDeleted(long Entries, double Milliseconds, long JournalBytes);
