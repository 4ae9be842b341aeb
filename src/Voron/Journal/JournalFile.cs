using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>A journal file in one of its lives.</summary>
internal sealed class JournalFile
{
    /// <summary>The greatest number that a new file gets: far from where adding one could overflow, and never reached by counting.</summary>
    public const long MaxNewIndex = 999_999_999_999;

    public const string NamePrefix = "journal-";
    private const string NameSuffix = ".voron";
    private const string UnnamedSuffix = NameSuffix + ".new";

    private readonly IDisk _disk;
    private DiskFile? _handle;

    /// <param name="handle">The file where it is open already.</param>
    public JournalFile(IDisk disk, string name, long length, DiskFile? handle = null)
    {
        _disk = disk;
        Name = name;
        Length = length;
        _handle = handle;
    }

    /// <summary>What it is called now: while it is being made, a name of <see cref="UnnamedOf"/>.</summary>
    public string Name { get; set; }

    /// <summary>
    /// The file, opened when it is not. For the thread that writes the journal, while the file is current; for the holder of the file
    /// set's lock before and after that.
    /// </summary>
    public DiskFile Handle => _handle ??= _disk.Open(Name, DiskOpen.Existing, DiskAccess.WriteThrough);

    /// <summary>Closes the file until it is written again: full files cost no descriptor.</summary>
    public void Close()
    {
        if (PlantedFault.KeepJournalsOpen)
            return;
        _handle?.Dispose();
        _handle = null;
    }

    /// <summary>Bytes that are zeroed or written, headers included.</summary>
    public long Length { get; set; }

    /// <summary>Where the last record ends; of a file that recovery found, the last one that it read.</summary>
    public long UsedBytes
    {
        get => Volatile.Read(ref _usedBytes);
        set => Volatile.Write(ref _usedBytes, value);
    }

    private long _usedBytes;

    /// <summary>Where the records begin that replay would need.</summary>
    public long StartOffset
    {
        get => Volatile.Read(ref _startOffset);
        set => Volatile.Write(ref _startOffset, value);
    }

    private long _startOffset = JournalFormat.FirstRecordOffset;

    /// <summary>Bytes of the records that replay would need.</summary>
    public long LiveBytes => PlantedFault.CountWholeJournal ? Length : Math.Max(0, UsedBytes - StartOffset);

    public UInt128 Incarnation { get; set; }

    public long Epoch { get; set; }

    /// <summary>
    /// Whether both copies of the header are whole. A file with the first alone must not be used again: its next life would begin with a write
    /// over that copy, and a power cut during it would leave none.
    /// </summary>
    public bool HasBothHeaders { get; set; }

    public static string NameOf(long index) => NumberedName.Of(NamePrefix, index, NameSuffix);

    /// <summary>What a file is called before it has its name: until its headers are durable.</summary>
    public static string UnnamedOf(long index) => NumberedName.Of(NamePrefix, index, UnnamedSuffix);

    /// <summary>The number in a journal file's name, or -1.</summary>
    public static long IndexOf(string name) => NumberedName.Parse(name, NamePrefix, NameSuffix);

    /// <summary>The number in the name of a journal file that has not got its name yet, or -1.</summary>
    public static long UnnamedIndexOf(string name) => NumberedName.Parse(name, NamePrefix, UnnamedSuffix);
}

/// <summary>A journal file as recovery finds it: its header, what it seals, and whether both copies of the header are whole.</summary>
internal sealed record JournalFileInfo(string Name, long FileLength, JournalFileHeader Header, JournalSeal[] Seals, bool HasBothHeaders);
