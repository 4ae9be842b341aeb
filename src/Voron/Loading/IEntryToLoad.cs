namespace Voron.Loading;

/// <summary>What a caller puts into a bulk load: an entry, or something from which one is made.</summary>
internal interface IEntryToLoad
{
    /// <summary>Makes the entry, which is valid until the next one is made.</summary>
    /// <returns>False if there is nothing to load.</returns>
    bool TryMake(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
}
