namespace Voron.Format;

/// <summary>The form of a leaf record of the kind <see cref="ValueKind.Extended"/>: the first byte after its key.</summary>
internal enum ExtendedForm : byte
{
    /// <summary>A set of one id: the payload follows in one byte, then the id in 1 to 8 bytes.</summary>
    OneId = 1,

    /// <summary>A set of few ids: a <see cref="FewIdsHeader"/>, followed by one block of ids.</summary>
    FewIds = 2,

    /// <summary>A set with pages of its own: an <see cref="IdSetReference"/>.</summary>
    IdSet = 3,

    // 4 and 5 have never been used.

    /// <summary>A compressed value in the leaf: a <see cref="PackedValue"/>, followed by the block.</summary>
    Packed = 6,

    /// <summary>A compressed value in an extent of its own: a <see cref="PackedValue"/>, followed by an <see cref="OverflowReference"/>.</summary>
    PackedOutside = 7,
}
