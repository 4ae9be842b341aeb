using Voron.Journal;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Damage;

namespace Voron.Torture.Salvaging;

/// <summary>One thing that has happened to a file.</summary>
internal sealed record StoreDamage(string File, string What, int Offset, int Length, byte Mask)
{
    private const string Gone = "gone";
    private const string Cut = "cut";
    private const string Zeroed = "zeroed";
    private const string Flipped = "flipped";
    private const string Unreadable = "unreadable";
    private const string ReadOnce = "readable only once";

    /// <summary>True if one page of the data file is hit, and no other place.</summary>
    public bool IsOfPage => File == ForgedStore.DataFile && What is Zeroed or Flipped or Unreadable or ReadOnce;

    public bool IsGone => What == Gone;

    public bool IsCut => What == Cut;

    /// <summary>True if the bytes are as they were, but reads of them fail.</summary>
    public bool FailsReads => What is Unreadable or ReadOnce;

    /// <summary>True if all reads of the place fail.</summary>
    public bool IsNeverRead => What == Unreadable;

    public long Page => Offset / ForgedStore.PageSize;

    public bool HitsJournal => JournalFile.IndexOf(File) >= 0 || File.StartsWith("rewrite-", StringComparison.Ordinal);

    /// <summary>Chooses a damage; null if there is no file any more.</summary>
    /// <param name="files">The files, some of which may be damaged.</param>
    /// <param name="records">The records of the journal: many cuts are between two of them.</param>
    /// <param name="choices">The choices.</param>
    public static StoreDamage? Choose(StoreFiles files, IReadOnlyList<RecordPlace> records, Tape choices)
    {
        var names = files.Names.Where(name => files[name].Length > 0).ToList();
        if (names.Count == 0)
            return null;
        var file = choices.Next(2) == 0 && names.Contains(ForgedStore.DataFile) ? ForgedStore.DataFile : names[choices.Next(names.Count)];
        var length = files[file].Length;
        switch (choices.Next(10))
        {
            case 9 or 8:
                var place = choices.Next(Math.Max(1, length / ForgedStore.PageSize)) * ForgedStore.PageSize;
                return new StoreDamage(file, choices.Next(2) == 0 ? Unreadable : ReadOnce, place, ForgedStore.PageSize, 0);
            case 7:
                return new StoreDamage(file, Gone, 0, 0, 0);
            case 6:
                List<int> places = [.. records.Where(record => record.File == file && record.Offset < length).Select(record => (int)record.Offset)];
                var isBetween = places.Count > 0 && choices.Next(3) > 0;
                return new StoreDamage(file, Cut, isBetween ? places[choices.Next(places.Count)] : choices.Next(length), 0, 0);
            case 5:
                return new StoreDamage(file, Zeroed, choices.Next(length / ForgedStore.PageSize) * ForgedStore.PageSize, ForgedStore.PageSize, 0);
            default:
                // Most bytes of a block are near its beginning, or near its end.
                var block = choices.Next(Math.Max(1, length / ForgedStore.PageSize)) * ForgedStore.PageSize;
                var at = block + choices.Next(Math.Min(ForgedStore.PageSize, length - block));
                return new StoreDamage(file, Flipped, at, 1, (byte)(1 << choices.Next(8)));
        }
    }

    public StoreFiles Apply(StoreFiles files)
    {
        if (What == Gone)
            return files.Without(name => name == File);
        if (What == Cut)
            return files.With(File, files[File][..Offset]);
        if (FailsReads)
            return files;
        var bytes = (byte[])files[File].Clone();
        for (var i = Offset; i < Math.Min(bytes.Length, Offset + Length); i++)
            bytes[i] = What == Zeroed ? (byte)0 : (byte)(bytes[i] ^ Mask);
        return files.With(File, bytes);
    }

    public override string ToString() => $"{File}: {What} at {Offset}{(Mask == 0 ? "" : $", bits {Mask:X2}")}";
}
