using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Boundaries;

/// <summary>An environment in memory that can be reopened, and the operations and checks that the cases share.</summary>
internal sealed class BoundaryPlace : IDisposable
{
    private readonly ModelPlace _place = new(inMemory: true, reservation: 1L << 34);
    private readonly StorageOptions _options;

    public BoundaryPlace(int pageSize, int largeValueBytes = 16 << 10)
    {
        _options = new StorageOptions
        {
            PageSize = pageSize,
            LargeValueBytes = largeValueBytes,
            JournaledValueBytes = 0,
            BackgroundFlush = false,
            InitialJournalFileBytes = 256 << 10,
            MaxJournalFileBytes = 1 << 20,
            ScratchMemoryBytes = 16 << 20,
            KeyHeadCacheBytes = 1 << 20,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        Environment = _place.Open(_options);
    }

    public StorageEnvironment Environment { get; private set; }

    public int PageSize => _options.PageSizeOrDefault;

    public void Reopen()
    {
        Environment.Dispose();
        Environment = _place.Open(_options);
    }

    public void Write(Action<WriteTransaction> change)
    {
        using var writing = Environment.BeginWrite();
        change(writing);
        writing.Commit();
    }

    public void Verify()
    {
        var report = Environment.Verify();
        Require(report.IsSound, $"Verify finds {string.Join("; ", report.Problems.Take(5))}");
    }

    /// <summary>Checks that all entries are present: before and after a flush, and after reopening.</summary>
    public void Check(string tree, IReadOnlyDictionary<byte[], byte[]> entries)
    {
        CheckNow(tree, entries);
        Environment.Flush();
        CheckNow(tree, entries);
        Reopen();
        CheckNow(tree, entries);
        Verify();
    }

    public void Dispose()
    {
        Environment.Dispose();
        _place.Dispose();
    }

    public static byte[] Key(int length, byte fill = (byte)'k')
    {
        var key = new byte[length];
        key.AsSpan().Fill(fill);
        return key;
    }

    public static byte[] Value(int seed, int length) => SeededBytes.Make(seed, length);

    public static void Require(bool holds, string message) => BrokenPromiseException.Require(holds, message);

    /// <exception cref="BrokenPromiseException">Nothing was thrown, or another exception.</exception>
    public static T Throws<T>(Action action, string what)
        where T : Exception
    {
        try
        {
            action();
        }
        catch (T e)
        {
            return e;
        }
        throw new BrokenPromiseException($"{what}: no {typeof(T).Name} was thrown");
    }

    private void CheckNow(string tree, IReadOnlyDictionary<byte[], byte[]> entries)
    {
        using var reading = Environment.BeginRead();
        var opened = reading.OpenTree(tree);
        Require(opened.Count == entries.Count, $"'{tree}' counts {opened.Count} entries of {entries.Count}");
        foreach ((var key, var value) in entries)
        {
            var found = opened.TryGet(key, out var actual);
            Require(found && actual.SequenceEqual(value), $"'{tree}' is wrong for a key of {key.Length}, value of {value.Length} bytes");
            if (!opened.TryOpenStream(key, out var stream))
                throw new BrokenPromiseException($"there is no stream of {value.Length} bytes");
            using (stream)
            {
                Require(stream.Length == value.Length, $"a stream has {stream.Length} bytes of {value.Length}");
                var streamed = new byte[value.Length];
                stream.ReadExactly(streamed);
                Require(streamed.AsSpan().SequenceEqual(value), $"a stream has other bytes than its value of {value.Length}");
                Require(stream.ReadByte() < 0, "a stream continues beyond its end");
            }
        }
        var scanned = 0;
        foreach (var entry in opened.GetEntries())
        {
            var isKnown = entries.TryGetValue(entry.Key.ToArray(), out var value);
            Require(isKnown && entry.Value.SequenceEqual(value), "a scan finds an entry that was not put");
            scanned++;
        }
        Require(scanned == entries.Count, $"a scan finds {scanned} entries of {entries.Count}");
    }

    /// <summary>Returns an empty dictionary that orders keys by their bytes.</summary>
    public static SortedDictionary<byte[], byte[]> NewEntries() =>
        new(Comparer<byte[]>.Create((left, right) => left.AsSpan().SequenceCompareTo(right)));
}
