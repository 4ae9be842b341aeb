using System.Buffers.Binary;
using Voron.Torture.Recorded;

namespace Voron.KillTarget;

/// <summary>
/// Derives the changes of each commit from its number alone, so that the process that survives a kill knows the expected contents.
/// </summary>
public static class KillWorkload
{
    public const string TreeName = "items";
    public const string CounterName = "counter";
    public const string FixedName = "fixed";
    public const string IdsName = "ids";
    public const string SetsName = "sets";

    /// <summary>A tree that is filled, and dropped in steps. No commit has a number for that.</summary>
    public const string DroppedName = "dropped";

    /// <summary>A fixed-size tree that is filled, and dropped in steps.</summary>
    public const string DroppedFixedName = "dropped, fixed";

    /// <summary>The number of bytes of the values in the tree <see cref="FixedName"/>.</summary>
    public const int FixedValueBytes = 40;

    /// <summary>The environment variable that names a fault to plant in the engine.</summary>
    public const string FaultVariable = "VORON_PLANTED_FAULT";

    /// <summary>
    /// The maximum number of commits under way at once, which may be present after a kill although they were not acknowledged.
    /// </summary>
    public const int MaxUnderWay = 4;

    // Small enough that the feed is cut in the background.
    private const long MaxFeedBytes = 256 << 10;
    private const int RecordedKeys = 400;
    private const int LargeKinds = 9;
    private const int FirstLargeKey = 10_000;
    private const int LargeKeys = 24;

    /// <summary>Returns options with limits so small that flushes, journal snapshots and file growth happen all the time.</summary>
    public static StorageOptions Options() => new()
    {
        InitialJournalFileBytes = 128 << 10,
        MaxJournalFileBytes = 512 << 10,
        FlushThresholdBytes = 96 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(15),
        JournalLimitBytes = 8 << 20,
        MaxGrowthBytes = 1 << 20,
        StatusInterval = TimeSpan.FromMilliseconds(10),
        PagesOfDrop = 2,
    };

    /// <summary>Returns the number of the newest commit in the environment, 0 if there is none.</summary>
    public static long Newest(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(CounterName, out var tree) && tree.TryGet("newest"u8, out var value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;
    }

    /// <summary>Returns whether a commit puts a large value, for which the data file may have to grow.</summary>
    public static bool IsLarge(long number) => RandomOf(number).Next(10) >= LargeKinds;

    public static void Apply(WriteTransaction writing, long number)
    {
        var items = writing.CreateTree(TreeName);
        Span<byte> name = stackalloc byte[sizeof(long)];
        foreach (var (key, length) in Changes(number))
        {
            BinaryPrimitives.WriteInt64BigEndian(name, key);
            if (length < 0)
                items.Delete(name);
            else
                items.Put(name, Value(number, key, length));
        }

        var numbers = writing.CreateFixedTree(FixedName, FixedValueBytes);
        foreach (var (first, last, isPut) in FixedChanges(number))
        {
            if (!isPut)
                numbers.DeleteRange(first, last);
            for (var key = first; isPut && key <= last; key++)
                numbers.Put(key, Value(number, key, FixedValueBytes));
        }

        var ids = writing.CreateIdTree(IdsName);
        foreach (var (key, id, isAdded) in IdChanges(number))
        {
            if (isAdded)
                ids.Add([key], id, (byte)number);
            else
                ids.Remove([key], id);
        }

        var sets = writing.CreateValueSetTree(SetsName);
        Span<byte> member = stackalloc byte[sizeof(int)];
        foreach (var (key, value, isAdded) in SetChanges(number))
        {
            BinaryPrimitives.WriteInt32BigEndian(member, value);
            if (isAdded)
                sets.Add([key], member);
            else
                sets.Remove([key], member);
        }

        var recorded = RecordedStore.Create(writing, MaxFeedBytes);
        foreach (var (key, isPut) in RecordedChanges(number))
        {
            if (isPut)
            {
                recorded.Put(RecordedStore.KeyOf(key), RecordedRow.ValueOf((int)number));
                RecordedStore.Upsert(writing, new RecordedRow(key, (int)number));
            }
            else
            {
                recorded.Delete(RecordedStore.KeyOf(key));
                RecordedStore.Delete(writing, key);
            }
        }

        Span<byte> counter = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(counter, number);
        writing.CreateTree(CounterName).Put("newest"u8, counter);
    }

    /// <summary>Puts leaves and values of their own pages for many steps of a drop.</summary>
    /// <returns>The name of the tree.</returns>
    public static string FillDropped(WriteTransaction writing, Random random)
    {
        if (random.Next(3) == 2)
        {
            var numbers = writing.CreateFixedTree(DroppedFixedName, FixedValueBytes);
            for (var i = random.Next(1_000, 8_000); i > 0; i--)
                numbers.Put(random.NextInt64(10_000), new byte[FixedValueBytes]);
            return DroppedFixedName;
        }

        var tree = writing.CreateTree(DroppedName);
        Span<byte> key = stackalloc byte[sizeof(int)];
        for (var i = random.Next(1_000, 4_000); i > 0; i--)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, i);
            tree.Put(key, new byte[i % 50 == 0 ? random.Next(20_000) : random.Next(900)]);
        }

        return DroppedName;
    }

    /// <summary>Returns the keys of recorded entries and rows that a commit puts, with its number, or deletes, in this order.</summary>
    public static IEnumerable<(int Key, bool IsPut)> RecordedChanges(long number)
    {
        var random = new Random((int)(number * 32_452_843 % int.MaxValue));
        var isPut = random.Next(4) > 0;
        for (var i = random.Next(8) == 0 ? random.Next(100) : random.Next(4); i > 0; i--)
            yield return (random.Next(RecordedKeys), isPut);
    }

    /// <summary>Returns the ids that a commit adds to the set of a key, with its number as payload, or removes from it, in this order.</summary>
    public static IEnumerable<(byte Key, long Id, bool IsAdded)> IdChanges(long number)
    {
        var random = new Random((int)(number * 15_485_863 % int.MaxValue));
        var (key, first, stride) = ((byte)random.Next(3), random.NextInt64(4_000), random.Next(3) == 0 ? 1L << 34 : random.Next(1, 40));
        var isAdded = random.Next(3) > 0;
        for (var i = random.Next(4) == 0 ? random.Next(300) : random.Next(4); i > 0; i--)
            yield return (key, first + i * stride, isAdded);
        yield return (key, number, true);
    }

    /// <summary>
    /// Returns the values that a commit adds to the set of a key or removes from it, in this order. Sets grow large, and small again.
    /// </summary>
    public static IEnumerable<(byte Key, int Value, bool IsAdded)> SetChanges(long number)
    {
        var random = new Random((int)(number * 49_979_687 % int.MaxValue));
        var (key, first) = ((byte)random.Next(4), random.Next(2_000));
        var isAdded = number / 40 % 3 > 0 || random.Next(3) == 0;
        for (var i = random.Next(4) == 0 ? random.Next(400) : random.Next(4); i > 0; i--)
            yield return (key, first + i, isAdded);
    }

    /// <summary>Returns the ranges of keys of the fixed-size tree that a commit puts or deletes, in this order.</summary>
    public static IEnumerable<(long First, long Last, bool IsPut)> FixedChanges(long number)
    {
        var random = new Random((int)(number * 104_729 % int.MaxValue));
        for (var i = random.Next(4); i > 0; i--)
        {
            var key = random.NextInt64(-800, 800);
            yield return random.Next(6) switch
            {
                0 => (key, key + random.Next(300), false),
                1 => (key, key + random.Next(60), true),
                2 => (number, number, true),
                _ => (key, key, random.Next(3) > 0),
            };
        }
    }

    /// <summary>Returns the keys that a commit sets, each with the length of its value, or deletes (-1). Each key occurs once.</summary>
    public static IEnumerable<(long Key, int Length)> Changes(long number)
    {
        var random = RandomOf(number);
        var kind = random.Next(10);
        if (kind >= LargeKinds)
        {
            yield return (FirstLargeKey + random.Next(LargeKeys), 60_000 + random.Next(200_000));
            yield break;
        }

        var seen = new HashSet<long>();
        for (var i = kind < 4 ? 1 : 5 + random.Next(60); i > 0; i--)
        {
            var key = random.Next(3_000);
            if (seen.Add(key))
                yield return (key, kind == 8 ? -1 : random.Next(12) == 0 ? random.Next(9_000) : random.Next(200));
        }
    }

    public static byte[] Value(long number, long key, int length)
    {
        var bytes = new byte[length];
        new Random((int)((number * 31 + key) % int.MaxValue)).NextBytes(bytes);
        return bytes;
    }

    private static Random RandomOf(long number) => new((int)(number * 7919 % int.MaxValue));
}
