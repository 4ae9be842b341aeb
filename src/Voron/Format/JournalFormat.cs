namespace Voron.Format;

/// <summary>Constants of journal files. Everything in these files starts and ends at a multiple of <see cref="Block"/>.</summary>
internal static class JournalFormat
{
    /// <summary>The unit of writing in bytes: the alignment that unbuffered I/O requires, and at least a sector.</summary>
    public const int Block = 4096;

    /// <summary>The offset of the first record: after the two copies of the file's header.</summary>
    public const int FirstRecordOffset = 2 * Block;

    /// <summary>"VoronJnl", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x6C6E4A6E6F726F56;

    /// <summary>"VoronRec", read as a little-endian number.</summary>
    public const ulong RecordMarker = 0x6365526E6F726F56;

    /// <summary>The first version: states of 104 bytes, no lineage, no features.</summary>
    public const uint Version1 = 1;

    /// <summary>The version of new environments: of journals, journal snapshots and the header file, which change together.</summary>
    public const uint Version = 2;

    /// <summary>The features that this engine can read and write.</summary>
    public const FormatFeatures KnownFeatures =
        FormatFeatures.IdSets | FormatFeatures.FixedSizeTrees | FormatFeatures.Tables | FormatFeatures.ChangeFeeds | FormatFeatures.CompressedValues
        | FormatFeatures.ValueSets;

    /// <summary>The versions that this engine can read and write, for messages.</summary>
    public const string KnownVersions = "versions 1 and 2";

    public static bool IsKnown(uint version) => version is Version1 or Version;

    public static long AlignUp(long length) => (length + Block - 1) & ~(long)(Block - 1);
}
