using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>A journal file in one of its epochs.</summary>
internal sealed class JournalFile
{
    /// <summary>The greatest number of a new file: far below the value where adding one could overflow, and never reached by counting.</summary>
    public const long MaxNewIndex = 999_999_999_999;

    public const string NamePrefix = "journal-";
    private const string NameSuffix = ".voron";
    private const string UnnamedSuffix = NameSuffix + ".new";

    private readonly IDisk _disk;
    private DiskFile? _handle;

    /// <param name="handle">The handle if the file is already open.</param>
    public JournalFile(IDisk disk, string name, long length, DiskFile? handle = null)
    {
        _disk = disk;
        Name = name;
        Length = length;
        _handle = handle;
    }

    /// <summary>The current name: while the file is being made, a name from <see cref="UnnamedOf"/>, or empty if it has none at all.</summary>
    public string Name { get; set; }

    /// <summary>
    /// The handle of the file, opened if necessary. Used by the threads that lead the journal while the file is current, and by the holder
    /// of the file set's lock before and after that.
    /// </summary>
    public DiskFile Handle => _handle ??= _disk.Open(Name, DiskOpen.Existing, DiskAccess.WriteThrough);

    /// <summary>Closes the file until it is written again, so that full files need no descriptor.</summary>
    public void Close()
    {
        _handle?.Dispose();
        _handle = null;
    }

    /// <summary>The length in bytes. All blocks are allocated, but not all need be written.</summary>
    public long Length { get; set; }

    /// <summary>
    /// The number of bytes from the start that are known to be written, in this epoch or an earlier one. Used as
    /// <see cref="Handle"/> is.
    /// </summary>
    public long WrittenBytes { get; set; }

    /// <summary>The end of the last record; for a file that recovery found, of the last record that recovery read.</summary>
    public long UsedBytes
    {
        get => Volatile.Read(ref _usedBytes);
        set => Volatile.Write(ref _usedBytes, value);
    }

    private long _usedBytes;

    /// <summary>The start of the records that replay would need.</summary>
    public long StartOffset
    {
        get => Volatile.Read(ref _startOffset);
        set => Volatile.Write(ref _startOffset, value);
    }

    private long _startOffset = JournalFormat.FirstRecordOffset;

    /// <summary>The number of bytes of the records that replay would need.</summary>
    public long LiveBytes => PlantedFault.CountWholeJournal ? Length : Math.Max(0, UsedBytes - StartOffset);

    public RandomId Incarnation { get; set; }

    public long Epoch { get; set; }

    /// <summary>The format version of the file's header, and therefore of the records that it may contain.</summary>
    public uint Version { get; set; }

    /// <summary>
    /// True if both copies of the header are valid. A file with only the first copy must not be reused: its next epoch would begin by
    /// overwriting that copy, and a power cut during that write would leave none.
    /// </summary>
    public bool HasBothHeaders { get; set; }

    public static string NameOf(long index) => NumberedName.Of(NamePrefix, index, NameSuffix);

    /// <summary>Returns the name of a file until its headers are durable and it receives its final name.</summary>
    public static string UnnamedOf(long index) => NumberedName.Of(NamePrefix, index, UnnamedSuffix);

    /// <summary>Returns whether a journal file can have that name, now or while it is being made.</summary>
    public static bool IsName(string name) => IndexOf(name) >= 0 || UnnamedIndexOf(name) >= 0;

    /// <summary>Returns the number in a journal file's name, or -1.</summary>
    public static long IndexOf(string name) => NumberedName.Parse(name, NamePrefix, NameSuffix);

    /// <summary>Returns the number in the name of a journal file that does not have its final name yet, or -1.</summary>
    public static long UnnamedIndexOf(string name) => NumberedName.Parse(name, NamePrefix, UnnamedSuffix);
}
