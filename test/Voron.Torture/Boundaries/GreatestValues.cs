using System.Runtime.InteropServices;
using Voron.Simulation.Harness;
using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>Values of around 2^31 - 1 bytes, on real files.</summary>
/// <remarks>Each case takes seconds, and some GiB in the directory for temporary files.</remarks>
internal static class GreatestValues
{
    /// <summary>Room for a value that grows at the end of the file, and for one that replaces it.</summary>
    public const long NeededBytes = 10L << 30;

    private const long Most = int.MaxValue;
    private const string TreeName = "greatest";

    private static readonly byte[] Key = [1];

    public static IReadOnlyList<(string Name, Action Run)> All { get; } = [.. Make()];

    private static IEnumerable<(string Name, Action Run)> Make()
    {
        foreach (var length in new[] { Most, Most - 1 })
        {
            yield return ($"a value of {length} bytes from a stream that does not know its length", () => FromStream(length, isSeekable: false));
            yield return ($"a value of {length} bytes in one piece", () => InOnePiece((int)length));
        }
        yield return ($"a value of {Most} bytes from a stream", () => FromStream(Most, isSeekable: true));
        yield return ($"a value of {Most + 1} bytes", TooLong);
        foreach (var operation in GreatestOperations.All)
            yield return operation;
    }

    private static void FromStream(long length, bool isSeekable) => Run(environment =>
    {
        Put(environment, length, isSeekable);
        return length;
    });

    private static unsafe void InOnePiece(int length) => Run(environment =>
    {
        var memory = (byte*)NativeMemory.Alloc((nuint)length);
        try
        {
            var value = new Span<byte>(memory, length);
            Pattern.Fill(0, value);
            using var writing = environment.BeginWrite();
            writing.CreateTree(TreeName).Put(Key, value);
            writing.Commit();
        }
        finally
        {
            NativeMemory.Free(memory);
        }
        return length;
    });

    // Refused at once if the stream reports its length, otherwise when it has gone too far; the earlier value stays.
    private static void TooLong() => Run(environment =>
    {
        const int before = 100_000;
        Put(environment, before, isSeekable: true);
        Throws<ArgumentException>(() => Put(environment, Most + 1, isSeekable: true), "a stream that is too long");
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(TreeName);
            Throws<ArgumentException>(
                () => tree.PutAsync(Key, new Pattern(Most + 1, isSeekable: false)).AsTask().GetAwaiter().GetResult(),
                "a stream that continues too long");
            tree.Put([2], [2]);
            Require(tree.Delete([2]), "the transaction does not continue");
            writing.Commit();
        }
        return before;
    });

    /// <summary>Puts a value from a stream.</summary>
    public static void Put(StorageEnvironment environment, long length, bool isSeekable)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(TreeName);
        var put = tree.PutAsync(Key, new Pattern(length, isSeekable)).AsTask().GetAwaiter().GetResult();
        Require(put == length, $"{put} bytes of {length} were put");
        writing.Commit();
    }

    /// <summary>Puts a value, checks it before and after reopening, deletes it and checks that all of its pages are free.</summary>
    private static void Run(Func<StorageEnvironment, long> put)
    {
        var directory = Directory.CreateTempSubdirectory("voron-greatest-").FullName;
        var options = new StorageOptions { BackgroundFlush = false, ScrubInterval = Timeout.InfiniteTimeSpan };
        try
        {
            long length;
            using (var environment = StorageEnvironment.Open(directory, options))
            {
                length = put(environment);
                Check(environment, length);
            }
            using (var environment = StorageEnvironment.Open(directory, options))
            {
                Check(environment, length);
                CheckSound(environment);
                using (var writing = environment.BeginWrite())
                {
                    Require(writing.OpenTree(TreeName).Delete(Key), "the value cannot be deleted");
                    writing.Commit();
                }
                environment.Flush();
                var used = CheckSound(environment);
                Require(used * environment.GetStatistics().PageSize < 1 << 20, $"{used} pages are used when nothing is left");
            }
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static long CheckSound(StorageEnvironment environment)
    {
        var report = environment.Verify();
        Require(report.IsSound, $"Verify finds {string.Join("; ", report.Problems.Take(5))}");
        return report.UsedPages;
    }

    /// <summary>Checks that a value can be read, from a stream and in one piece, and no other in its tree.</summary>
    public static void Check(StorageEnvironment environment, long length)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(TreeName);
        Require(tree.Count == 1, $"there are {tree.Count} values");
        if (!tree.TryOpenStream(Key, out var stream))
            throw new BrokenPromiseException("there is no stream of the value");
        var buffer = new byte[1 << 20];
        var expected = new byte[buffer.Length];
        using (stream)
        {
            Require(stream.Length == length, $"the stream has {stream.Length} bytes of {length}");
            for (long at = 0; at < length;)
            {
                var part = (int)Math.Min(buffer.Length, length - at);
                stream.ReadExactly(buffer, 0, part);
                Pattern.Fill(at, expected.AsSpan(0, part));
                Require(buffer.AsSpan(0, part).SequenceEqual(expected.AsSpan(0, part)), $"the stream has other bytes between {at} and {at + part}");
                at += part;
            }
            Require(stream.ReadByte() < 0, "the stream continues beyond its end");
        }
        var found = tree.TryGet(Key, out var value);
        Require(found && value.Length == length, $"the value has {value.Length} bytes of {length}");
        for (var at = 0; at < value.Length; at += Math.Min(expected.Length, value.Length - at))
        {
            var part = expected.AsSpan(0, Math.Min(expected.Length, value.Length - at));
            Pattern.Fill(at, part);
            Require(value.Slice(at, part.Length).SequenceEqual(part), $"the value has other bytes behind {at}");
        }
    }
}
