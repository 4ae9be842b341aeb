namespace Voron.Testing;

/// <content>Faults of compressed values.</content>
internal static partial class PlantedFault
{
    /// <summary>A value is decompressed with the newest dictionary of its tree instead of the one with which it was compressed.</summary>
    public static readonly bool UnpackWithNewestDictionary = Is(nameof(UnpackWithNewestDictionary));

    /// <summary>A recompression drops all dictionaries but the newest, although values still name them.</summary>
    public static readonly bool DropNamedDictionaries = Is(nameof(DropNamedDictionaries));

    /// <summary>A cache keeps all that was ever added.</summary>
    public static readonly bool CacheWithoutLimit = Is(nameof(CacheWithoutLimit));
}
