
namespace Voron.Trees.Pages;

/// <summary>Describes the layout of records. Implemented by empty structs, so that search and editing are compiled for each layout.</summary>
internal unsafe interface IRecordLayout
{
    /// <summary>The offset of the key in a record.</summary>
    static abstract int KeyOffset { get; }

    static abstract int KeyLength(byte* record);

    static abstract int RecordSize(byte* record);
}
