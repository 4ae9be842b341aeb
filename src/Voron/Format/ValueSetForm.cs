namespace Voron.Format;

/// <summary>The form of a set of values: the first byte of its key's value.</summary>
internal enum ValueSetForm : byte
{
    /// <summary>A set of one value, which follows.</summary>
    One = 1,

    /// <summary>A set of few values: a <see cref="FewValuesHeader"/>, the offsets of the values in order, and the values.</summary>
    Few = 2,

    /// <summary>A set whose values are stored in the companion of the tree: a <see cref="LargeSetReference"/>.</summary>
    Large = 3,
}
