using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>A value to be stored in a tree: its bytes, or only its length if the caller will write them in place.</summary>
internal readonly unsafe ref struct NewValue
{
    public NewValue(int pageSize, int keyLength, ReadOnlySpan<byte> source)
        : this(pageSize, keyLength, source.Length)
    {
        Source = source;
    }

    /// <summary>Creates a value that the caller writes after room for it has been made.</summary>
    public NewValue(int pageSize, int keyLength, int length)
    {
        Length = length;
        Kind = TreeLimits.IsInline(pageSize, keyLength, length) ? ValueKind.Inline : ValueKind.Overflow;
    }

    /// <summary>Creates a value that is already in its own extent: the leaf stores the reference.</summary>
    public NewValue(ref LargeExtentReference reference)
    {
        Source = MemoryMarshal.AsBytes(new ReadOnlySpan<LargeExtentReference>(ref reference));
        Length = LargeExtentReference.Size;
        Kind = ValueKind.LargeExtent;
    }

    /// <summary>Creates what is behind a key of a tree of sets.</summary>
    public static NewValue Extended(ReadOnlySpan<byte> behind) => new(behind, behind.Length, ValueKind.Extended);

    private NewValue(ReadOnlySpan<byte> source, int length, ValueKind kind)
    {
        Source = source;
        Length = length;
        Kind = kind;
    }

    /// <summary>The bytes to copy; empty when there are none yet.</summary>
    public ReadOnlySpan<byte> Source { get; }

    public int Length { get; }

    public ValueKind Kind { get; }

    /// <summary>The number of bytes that go into the leaf after the key.</summary>
    public int InlineLength => Kind == ValueKind.Overflow ? OverflowReference.Size : Length;

    public NewValue WithSource(ReadOnlySpan<byte> source) => new(source, Length, Kind);

    public void CopyTo(byte* destination) => Source.CopyTo(new Span<byte>(destination, Source.Length));
}
