using System.Buffers.Binary;
using Voron;

namespace Tour.Crash;

/// <summary>
/// What the child process commits, so that its parent can tell which commits exist, and whether they are whole. A commit has a caller and
/// a number. It puts several entries into one tree, and its number into another one.
/// </summary>
internal static class CommitTrail
{
    public const int Callers = 8;

    private const string Entries = "entries";
    private const string Last = "last";
    private const int EntriesPerCommit = 6;
    private const int KeyBytes = 3 * sizeof(int);
    private const int MaxValueBytes = 400;

    public static StorageOptions Options => new() { Trees = { Entries, Last } };

    public static void Write(WriteTransaction writing, int caller, int number)
    {
        var entries = writing.OpenTree(Entries);
        var key = (stackalloc byte[KeyBytes]);
        var value = (stackalloc byte[MaxValueBytes]);
        for (var part = 0; part < EntriesPerCommit; part++)
            entries.Put(KeyOf(key, caller, number, part), ValueOf(value, caller, number, part));
        var last = (stackalloc byte[sizeof(int)]);
        BinaryPrimitives.WriteInt32LittleEndian(last, number);
        writing.OpenTree(Last).Put([(byte)caller], last);
    }

    /// <summary>Returns the number of each caller's newest commit.</summary>
    public static int[] ReadLast(ReadTransaction reading)
    {
        var last = new int[Callers];
        var tree = reading.OpenTree(Last);
        for (var caller = 0; caller < Callers; caller++)
            last[caller] = tree.TryGet([(byte)caller], out var number) ? BinaryPrimitives.ReadInt32LittleEndian(number) : 0;
        return last;
    }

    /// <summary>
    /// Whether all commits up to the newest ones exist, each with all of its entries and the right bytes, and no entry of another one.
    /// </summary>
    public static bool IsWhole(ReadTransaction reading)
    {
        var last = ReadLast(reading);
        var entries = reading.OpenTree(Entries);
        if (entries.Count != last.Sum(static number => (long)number) * EntriesPerCommit)
            return false;

        // Entries come in the order of callers, numbers and parts.
        var (caller, number, part) = (0, 0, EntriesPerCommit);
        var key = (stackalloc byte[KeyBytes]);
        var value = (stackalloc byte[MaxValueBytes]);
        foreach (var entry in entries.GetEntries())
        {
            if (++part >= EntriesPerCommit)
                (number, part) = (number + 1, 0);
            while (number > last[caller])
                (caller, number) = (caller + 1, 1);
            if (!entry.Key.SequenceEqual(KeyOf(key, caller, number, part)) || !entry.Value.SequenceEqual(ValueOf(value, caller, number, part)))
                return false;
        }

        return true;
    }

    private static ReadOnlySpan<byte> KeyOf(Span<byte> buffer, int caller, int number, int part)
    {
        var key = new KeyWriter(buffer);
        key.Add(caller);
        key.Add(number);
        key.Add(part);
        return key.Written;
    }

    // Bytes that follow from the key, and are different for each.
    private static ReadOnlySpan<byte> ValueOf(Span<byte> buffer, int caller, int number, int part)
    {
        var random = new Random(HashCodeOf(caller, number, part));
        var value = buffer[..random.Next(1, MaxValueBytes)];
        random.NextBytes(value);
        return value;
    }

    // The same in both processes, which HashCode is not.
    private static int HashCodeOf(int caller, int number, int part) => unchecked(((number * 31) + part) * 1_000_003 + caller);
}
