namespace Voron.Format;

/// <summary>
/// The features that an environment uses and that not every engine of its format version knows. Stored in the header file from version 2 on.
/// </summary>
[Flags]
internal enum FormatFeatures : uint
{
    None = 0,

    /// <summary>Trees of id sets.</summary>
    IdSets = 1,

    /// <summary>Trees of values of a fixed size.</summary>
    FixedSizeTrees = 2,

    /// <summary>Tables.</summary>
    Tables = 4,

    /// <summary>Change feeds.</summary>
    ChangeFeeds = 8,

    /// <summary>Compressed values.</summary>
    CompressedValues = 16,

    /// <summary>The change log.</summary>
    ChangeLog = 32,

    /// <summary>The history of the journal as a feed.</summary>
    FeedHistory = 64,

    /// <summary>Trees of value sets.</summary>
    ValueSets = 128,
}
