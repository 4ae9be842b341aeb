using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>A value to be stored in a tree: its bytes, or only its length if the caller writes the bytes in place.</summary>
internal readonly unsafe ref struct NewValue
{
    // The header of a compressed value in an extent of its own.
    private readonly PackedValue _outside;

    public NewValue(int pageSize, int keyLength, ReadOnlySpan<byte> source)
        : this(pageSize, keyLength, source.Length)
    {
        Source = source;
    }

    /// <summary>Creates a value that the caller writes after space for it has been reserved.</summary>
    public NewValue(int pageSize, int keyLength, int length)
    {
        Length = length;
        Kind = TreeLimits.IsInline(pageSize, keyLength, length) ? ValueKind.Inline : ValueKind.Overflow;
    }

    /// <summary>Creates a value already stored in its own extent: the leaf stores the reference.</summary>
    public NewValue(ref LargeExtentReference reference)
    {
        Source = MemoryMarshal.AsBytes(new ReadOnlySpan<LargeExtentReference>(ref reference));
        Length = LargeExtentReference.Size;
        Kind = ValueKind.LargeExtent;
    }

    /// <summary>Creates the content stored after a key in a tree of sets.</summary>
    public static NewValue Extended(ReadOnlySpan<byte> behind) => new(behind, behind.Length, ValueKind.Extended);

    /// <summary>Creates a compressed value, stored in the leaf or in an extent of its own according to its form.</summary>
    /// <param name="header">The header, which contains the form.</param>
    /// <param name="packed">The header, followed by the compressed block.</param>
    public static NewValue Packed(PackedValue header, ReadOnlySpan<byte> packed)
    {
        if (header.Form == ExtendedForm.Packed)
            return new NewValue(packed, packed.Length, ValueKind.Extended);
        var block = packed[PackedValue.Size..];
        return new NewValue(block, block.Length, ValueKind.Extended, header);
    }

    private NewValue(ReadOnlySpan<byte> source, int length, ValueKind kind, PackedValue outside = default)
    {
        Source = source;
        Length = length;
        Kind = kind;
        _outside = outside;
    }

    /// <summary>True if the bytes are stored in an overflow extent.</summary>
    public bool HasExtent => Kind == ValueKind.Overflow || _outside.Form == ExtendedForm.PackedOutside;

    /// <summary>The bytes to copy; empty if the caller writes them later.</summary>
    public ReadOnlySpan<byte> Source { get; }

    public int Length { get; }

    public ValueKind Kind { get; }

    /// <summary>The number of bytes stored in the leaf after the key.</summary>
    public int InlineLength => Kind == ValueKind.Overflow ? OverflowReference.Size
        : HasExtent ? PackedValue.Size + OverflowReference.Size
        : Length;

    public NewValue WithSource(ReadOnlySpan<byte> source) => new(source, Length, Kind, _outside);

    /// <summary>Writes the leaf's part of a value in an overflow extent: the header of a compressed value, and the reference.</summary>
    public void WriteReference(byte* place, OverflowReference reference)
    {
        if (Kind == ValueKind.Extended)
        {
            Unsafe.WriteUnaligned(place, _outside);
            place += PackedValue.Size;
        }

        Unsafe.WriteUnaligned(place, reference);
    }

    public void CopyTo(byte* destination) => Source.CopyTo(new Span<byte>(destination, Source.Length));
}
