using System.Buffers.Binary;

namespace Voron.Torture.Crashes;

internal enum FixedChangeKind
{
    /// <summary>Puts some keys in a row.</summary>
    Put,

    Delete,
    DeleteRange,
    Read,
}

/// <summary>A change of a fixed-size tree: drawn in advance, and made in a transaction and in its model.</summary>
/// <param name="Kind">What is done.</param>
/// <param name="First">The first key.</param>
/// <param name="Last">The last key.</param>
/// <param name="Number">The number of the first value that is put.</param>
internal readonly record struct FixedChange(FixedChangeKind Kind, long First, long Last, int Number)
{
    private const int Keys = 400;

    public static FixedChange Draw(Random random, FixedContent content)
    {
        var key = random.NextInt64(-Keys, Keys);
        var number = random.Next();
        switch (random.Next(16))
        {
            case < 5:
                return new FixedChange(FixedChangeKind.Put, key, key, number);
            case < 8:
                return Append(content, random.Next(1, 60), number);
            case < 9:
                return new FixedChange(FixedChangeKind.Put, key, key + random.Next(150), number);
            case < 13:
                return new FixedChange(FixedChangeKind.Delete, key, key, 0);
            case < 15:
                var first = random.Next(4) == 0 ? long.MinValue : key;
                return new FixedChange(FixedChangeKind.DeleteRange, first, random.Next(4) == 0 ? long.MaxValue : key + random.Next(Keys / 2), 0);
            default:
                return new FixedChange(FixedChangeKind.Read, key, key, 0);
        }
    }

    /// <summary>Returns a change that adds entries behind all others.</summary>
    public static FixedChange Append(FixedContent content, int count, int number)
    {
        var first = content.Entries.IsEmpty ? -Keys : content.Entries.Keys.Last() + 1;
        return new FixedChange(FixedChangeKind.Put, first, first + count - 1, number);
    }

    /// <summary>Makes the change in a transaction.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="before">What it has before.</param>
    /// <exception cref="CrashViolationException">The tree is wrong about what it has.</exception>
    public void ApplyTo(WriteFixedTree tree, FixedContent before)
    {
        switch (Kind)
        {
            case FixedChangeKind.Put:
                Put(tree);
                break;
            case FixedChangeKind.Delete:
                Require(tree.Delete(First) == before.Entries.ContainsKey(First), tree, "is wrong about having had the key");
                break;
            case FixedChangeKind.DeleteRange:
                var count = before.Entries.Count - ApplyTo(before).Entries.Count;
                Require(tree.DeleteRange(First, Last) == count, tree, "is wrong about the size of the range");
                break;
            default:
                Read(tree, before);
                break;
        }
    }

    /// <summary>Returns the content after the change.</summary>
    public FixedContent ApplyTo(FixedContent content)
    {
        var (first, last, number) = (First, Last, Number);
        switch (Kind)
        {
            case FixedChangeKind.Put:
                var entries = content.Entries.ToBuilder();
                for (var key = first; key <= last; key++)
                    entries[key] = unchecked(number + (int)(key - first));
                return content.With(entries.ToImmutable());
            case FixedChangeKind.Delete:
                return content.With(content.Entries.Remove(first));
            case FixedChangeKind.DeleteRange:
                return content.With(content.Entries.RemoveRange(content.Entries.Keys.Where(key => key >= first && key <= last)));
            default:
                return content;
        }
    }

    private void Put(WriteFixedTree tree)
    {
        Span<byte> value = stackalloc byte[tree.ValueSize];
        for (var key = First; key <= Last; key++)
        {
            FixedContent.Fill(value, unchecked(Number + (int)(key - First)));
            if (value.Length == sizeof(long) && key % 2 == 0)
                new WriteFixedTree<long>(tree).Put(key, BinaryPrimitives.ReadInt64LittleEndian(value));
            else
                tree.Put(key, value);
        }
    }

    private void Read(WriteFixedTree tree, FixedContent before)
    {
        Span<byte> expected = stackalloc byte[before.ValueSize];
        var found = tree.TryGet(First, out var value);
        Require(found == before.Entries.TryGetValue(First, out var number), tree, "is wrong about having the key");
        FixedContent.Fill(expected, number);
        Require(!found || value.SequenceEqual(expected), tree, "has a wrong value of the key");
        Require(tree.Count == before.Entries.Count, tree, $"counts {tree.Count} entries of {before.Entries.Count}");
        var hasLast = tree.TryGetLast(out var last, out _);
        Require(hasLast == !before.Entries.IsEmpty && (!hasLast || last == before.Entries.Keys.Last()), tree, "has another last key");
    }

    private void Require(bool holds, WriteFixedTree tree, string violation)
    {
        if (!holds)
            throw new CrashViolationException($"{Kind} of {First} to {Last}: the fixed-size tree '{tree.Name}' {violation}.");
    }
}
