namespace Voron.Format;

/// <summary>What a feed records of each change, beside its key. The numbers are stored.</summary>
[Flags]
internal enum RecordedParts : byte
{
    None = 0,

    /// <summary>The value, or the row, as it is after the change.</summary>
    New = 1,

    /// <summary>The row as it was before the change.</summary>
    Old = 2,
}
