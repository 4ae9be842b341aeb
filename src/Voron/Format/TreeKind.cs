namespace Voron.Format;

/// <summary>What the entries of a tree are. Kept in the <see cref="TreeHeader"/>; a tree keeps its kind.</summary>
internal enum TreeKind : byte
{
    /// <summary>Keys and values of any bytes.</summary>
    Plain = 0,

    /// <summary>A sorted set of byte strings under each key.</summary>
    ValueSets = 1,

    /// <summary>A sorted set of 64-bit ids under each key.</summary>
    IdSets = 2,

    /// <summary>64-bit keys and values of a fixed size.</summary>
    FixedSize = 3,
}
