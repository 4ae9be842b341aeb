using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Transactions;

/// <summary>A state that readers may begin on, with what they need beside it.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct PublishedState
{
    public const int Size = 192;

    /// <summary>Rises with every publication, and whenever versions are detached or the map moves.</summary>
    [FieldOffset(0)]
    public long Sequence;

    [FieldOffset(8)]
    public EnvironmentState State;

    /// <summary>The map that has all pages of the state that have no version.</summary>
    [FieldOffset(112)]
    public byte* Map;

    /// <summary>Where the journal goes on behind the state's transaction.</summary>
    [FieldOffset(128)]
    public JournalPosition JournalEnd;
}
