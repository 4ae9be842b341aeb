namespace Voron.Recording;

/// <summary>The parts of each change that a feed records in addition to the key. The numbers are stored on disk.</summary>
[Flags]
internal enum RecordedParts : byte
{
    None = 0,

    /// <summary>The value, or the row, as it is after the change.</summary>
    New = 1,

    /// <summary>The row as it was before the change.</summary>
    Old = 2,
}
