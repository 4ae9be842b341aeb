namespace Voron.Feeds;

/// <summary>The content that a feed records for a change in addition to the key.</summary>
[Flags]
public enum RecordedContent
{
    /// <summary>The key alone.</summary>
    KeysOnly = 0,

    /// <summary>The value or the row after the change.</summary>
    NewValues = 1,

    /// <summary>The row before the change. Only changes of tables contain it.</summary>
    OldValues = 2,
}
