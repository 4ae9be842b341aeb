using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Snapshots;

/// <summary>A state on which readers may begin, with the other data that they need.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct PublishedState
{
    public const int Size = 192;

    /// <summary>Increases with every publication, and whenever versions are detached or the map moves.</summary>
    [FieldOffset(0)]
    public long Sequence;

    [FieldOffset(8)]
    public EnvironmentState State;

    /// <summary>The map that contains all pages of the state that have no version.</summary>
    [FieldOffset(136)]
    public byte* Map;

    /// <summary>The position at which the journal continues after the state's transaction.</summary>
    [FieldOffset(144)]
    public JournalPosition JournalEnd;
}
