using Voron.Testing;

namespace Voron.Format;

/// <summary>The shape of a block of ids, which determines its layout. The first id is stored outside the block.</summary>
/// <remarks>
/// <code>
/// | gaps minus one, in equal width, lowest bits first | payloads in equal width, from a byte boundary on |
/// </code>
/// <para>
/// Widths are in bits. Width 0 takes no bytes: all ids are consecutive, or all payloads are 0. Payloads are separate from the gaps, because they
/// would widen every gap.
/// </para>
/// <para>
/// The tail of a set has gaps of 16 or 32 bits and payloads of 8 bits, and its payloads begin after the space for the gaps of a full block. An id can
/// therefore be appended without moving any bytes.
/// </para>
/// </remarks>
/// <param name="Count">The number of ids.</param>
/// <param name="GapWidth">The width of a gap in bits.</param>
/// <param name="PayloadWidth">The width of a payload in bits.</param>
/// <param name="IsTail">Whether the block is the tail of a set.</param>
internal readonly record struct IdBlockShape(int Count, int GapWidth, int PayloadWidth, bool IsTail = false)
{
    /// <summary>The maximum number of ids in a block.</summary>
    public const int MaxIds = 128;

    /// <summary>The width in bits of the largest gap, from id 0 to the largest id, minus one.</summary>
    public const int MaxGapWidth = 63;

    public const int MaxPayloadWidth = 8;

    /// <summary>The width of the gaps of a tail: this one, or <see cref="LargeTailGapWidth"/>.</summary>
    public const int TailGapWidth = 16;

    public const int LargeTailGapWidth = 32;

    /// <summary>The capacity of a block is a multiple of this many bytes.</summary>
    public const int CapacityUnit = 16;

    /// <summary>The number of bytes of the gaps.</summary>
    public int GapBytes => ((Count - 1) * GapWidth + 7) >> 3;

    public int PayloadBytes => (Count * PayloadWidth + 7) >> 3;

    /// <summary>The offset of the payloads in the block.</summary>
    public int PayloadOffset => IsTail ? MaxIds * GapWidth >> 3 : GapBytes;

    /// <summary>The number of bytes from the start of the block to the end of the last payload.</summary>
    public int Size => PayloadOffset + PayloadBytes;

    /// <summary>The number of bytes that the block needs. A tail needs as many as a full block.</summary>
    public int Capacity => RoundUp(IsTail ? MaxIds * (GapWidth + PayloadWidth) >> 3 : Size);

    /// <summary>Whether a block can have this shape.</summary>
    public bool IsPossible => Count is > 0 and <= MaxIds && (IsTail
        ? GapWidth is TailGapWidth or LargeTailGapWidth && PayloadWidth == MaxPayloadWidth
        : GapWidth is >= 0 and <= MaxGapWidth && PayloadWidth is >= 0 and <= MaxPayloadWidth);

    /// <summary>Returns whether a block of that many bytes can have this shape.</summary>
    public bool FitsIn(int capacity) => IsPossible && (Size <= capacity || PlantedFault.TrustBlockWidth);

    public static int RoundUp(int bytes) => (bytes + CapacityUnit - 1) & -CapacityUnit;
}
