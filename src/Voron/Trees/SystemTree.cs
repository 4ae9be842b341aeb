using System.Buffers.Binary;

namespace Voron.Trees;

/// <summary>
/// The trees of the engine's own: their names in the catalog begin with FF, a byte that UTF-8 never has, so no user can name one. They come last,
/// and stand in no list of names. The second byte says what a tree is.
/// </summary>
internal static class SystemTree
{
    /// <summary>The length in bytes of the name of a dropped tree: FF, D, and the id of the tree in big-endian order.</summary>
    public const int DroppedNameBytes = 2 + sizeof(uint);

    private const byte Mark = 0xFF;
    private const byte Dropped = (byte)'D';

    /// <summary>The place before all system trees.</summary>
    public static ReadOnlySpan<byte> First => [Mark];

    /// <summary>The place before all dropped trees.</summary>
    public static ReadOnlySpan<byte> FirstDropped => [Mark, Dropped];

    public static bool Is(ReadOnlySpan<byte> name) => name.StartsWith(First);

    /// <summary>Returns whether a tree was dropped, and loses its pages step by step. Its number of entries is not kept up to date.</summary>
    public static bool IsDropped(ReadOnlySpan<byte> name) => name.StartsWith(FirstDropped) && name.Length == DroppedNameBytes;

    /// <summary>Returns whether a name is that of a system tree of a kind that this engine does not know.</summary>
    public static bool IsUnknown(ReadOnlySpan<byte> name) => Is(name) && !IsDropped(name);

    /// <summary>Writes the name under which a dropped tree stays until all of its pages are free.</summary>
    public static ReadOnlySpan<byte> DroppedName(uint treeId, Span<byte> buffer)
    {
        FirstDropped.CopyTo(buffer);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[FirstDropped.Length..], treeId);
        return buffer[..DroppedNameBytes];
    }

    /// <summary>Returns the id in the name of a dropped tree.</summary>
    public static uint DroppedId(ReadOnlySpan<byte> name) => BinaryPrimitives.ReadUInt32BigEndian(name[FirstDropped.Length..]);

    /// <summary>Describes a system tree for messages.</summary>
    public static string Describe(ReadOnlySpan<byte> name) => IsDropped(name)
        ? $"dropped tree {DroppedId(name)}"
        : $"system tree {KeyText.Of(name)}";
}
