namespace Voron.Recording;

/// <summary>The kind of a change in a feed. The numbers are stored.</summary>
internal enum RecordedOperation : byte
{
    None = 0,
    Put = 1,
    Insert = 2,
    Update = 3,
    Delete = 4,
    DeleteRange = 5,
    Drop = 6,
    Rename = 7,
    AddSource = 8,
    RemoveSource = 9,
}
