namespace Voron.Format;

/// <summary>The location of the bytes of a value. Two bits of a leaf record.</summary>
internal enum ValueKind
{
    /// <summary>After the key, in the leaf.</summary>
    Inline = 0,

    /// <summary>In an extent of overflow pages; the record holds an <see cref="OverflowReference"/>.</summary>
    Overflow = 1,

    /// <summary>In an extent without page headers; the record holds a <see cref="LargeExtentReference"/>.</summary>
    LargeExtent = 2,

    /// <summary>No value, but something else under the key: the first byte behind it is an <see cref="ExtendedForm"/>.</summary>
    Extended = 3,
}
