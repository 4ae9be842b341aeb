using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Recognizes the files of a journal by their content: a file that has only their name may belong to another program.</summary>
internal static unsafe class JournalSign
{
    /// <summary>The places at which a journal file contains a magic number: the copies of its header, and its first record.</summary>
    private static readonly long[] Places = [0, JournalFormat.Block, JournalFormat.FirstRecordOffset];

    /// <summary>Returns whether a file has the magic number of a journal file, or of a record, at a place where a journal contains one.</summary>
    public static bool IsOn(DiskFile file) =>
        Array.Exists(Places, place => ReadAt(file, place) is JournalFormat.FileMagic or JournalFormat.RecordMarker);

    /// <summary>Returns whether a file is empty, or contains only zeros at all places where a journal contains a magic number.</summary>
    public static bool IsBlank(DiskFile file) => Array.TrueForAll(Places, place => ReadAt(file, place) == 0);

    /// <summary>Returns the first eight bytes of a file, as a little-endian number; zeros after its end.</summary>
    public static ulong FirstBytes(DiskFile file) => ReadAt(file, 0);

    private static ulong ReadAt(DiskFile file, long offset)
    {
        ulong bytes = 0;
        var count = (int)Math.Clamp(file.Length - offset, 0, sizeof(ulong));
        if (count > 0)
            file.Read(offset, new Span<byte>(&bytes, count));
        return bytes;
    }
}
