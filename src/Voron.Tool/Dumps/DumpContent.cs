namespace Voron.Tool.Dumps;

/// <summary>What a dump has: the sizes of its parts, and what an environment may refuse.</summary>
/// <param name="Sections">Its trees and tables. One without a name has the entries without a tree.</param>
/// <param name="ShortestKey">The length of the shortest key in bytes.</param>
/// <param name="LongestKey">The length of the longest key in bytes.</param>
/// <param name="LongestSetValue">The length of the longest value of a set in bytes.</param>
internal sealed record DumpContent(IReadOnlyDictionary<DumpSection, SectionSize> Sections, int ShortestKey, int LongestKey, int LongestSetValue)
{
    /// <summary>The number of entries.</summary>
    public long Entries => Sections.Values.Sum(size => size.Entries);
}

/// <summary>The entries of a tree or a table in a dump.</summary>
internal sealed class SectionSize
{
    public long Entries { get; private set; }

    /// <summary>The number of bytes of keys and values.</summary>
    public long Bytes { get; private set; }

    /// <summary>True if, after each line that begins the tree, its keys are in ascending order. Dumps of this tool are.</summary>
    public bool IsSorted { get; private set; } = true;

    /// <summary>Adds an entry.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="before">The line before it.</param>
    public void Add(in DumpEntry entry, in DumpEntry before)
    {
        Entries++;
        Bytes += entry.Bytes;
        IsSorted &= before.Value == null || before.Key.AsSpan().SequenceCompareTo(entry.Key) < 0;
    }
}
