using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>A journal file in one of its lives.</summary>
internal sealed class JournalFile
{
    public const string NamePrefix = "journal-";
    public const string NameSuffix = ".voron";

    public JournalFile(string name, DiskFile handle, long length)
    {
        Name = name;
        Handle = handle;
        Length = length;
    }

    public string Name { get; }

    public DiskFile Handle { get; }

    /// <summary>Bytes that are zeroed or written, headers included.</summary>
    public long Length { get; set; }

    /// <summary>Bytes that have records, the headers before them included; of a file that recovery found, all of them.</summary>
    public long UsedBytes
    {
        get => Volatile.Read(ref _usedBytes);
        set => Volatile.Write(ref _usedBytes, value);
    }

    private long _usedBytes;

    public UInt128 Incarnation { get; set; }

    public long LifeNumber { get; set; }

    public static string NameOf(long index) => $"{NamePrefix}{index:D8}{NameSuffix}";

    /// <summary>The number in a journal file's name, or -1.</summary>
    public static long IndexOf(string name) =>
        name.StartsWith(NamePrefix, StringComparison.Ordinal) && name.EndsWith(NameSuffix, StringComparison.Ordinal)
        && long.TryParse(name.AsSpan(NamePrefix.Length, name.Length - NamePrefix.Length - NameSuffix.Length), out var index)
            ? index
            : -1;
}

/// <summary>A journal file as recovery finds it: its header, and what it seals.</summary>
internal sealed record JournalFileInfo(string Name, long FileLength, JournalFileHeader Header, JournalSeal[] Seals);
