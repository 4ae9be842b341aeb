namespace Voron.Sorting;

/// <summary>An item of a buffer, which names the place of its key there.</summary>
internal interface IKeyedItem
{
    /// <summary>The offset of the key in the buffer. Items that arrive later have larger ones.</summary>
    int Offset { get; }

    /// <summary>In bytes.</summary>
    int KeyLength { get; }
}
