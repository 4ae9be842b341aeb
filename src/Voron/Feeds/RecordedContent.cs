namespace Voron.Feeds;

/// <summary>What a feed records of a change, beside the key.</summary>
[Flags]
public enum RecordedContent
{
    /// <summary>The key alone.</summary>
    KeysOnly = 0,

    /// <summary>The value, or the row, as the change has left it.</summary>
    NewValues = 1,

    /// <summary>The row as it was before the change. Only tables have it.</summary>
    OldValues = 2,
}
