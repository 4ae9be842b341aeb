using System.Text.Json;

namespace Voron.Documents.Scanning;

/// <summary>Compares names of properties.</summary>
internal static class JsonNames
{
    /// <summary>Returns whether the reader is on a property of a name. One with half of a surrogate pair is compared as it is written.</summary>
    public static bool Equals(ref Utf8JsonReader reader, ReadOnlySpan<byte> name)
    {
        if (!reader.ValueIsEscaped)
            return reader.ValueSpan.SequenceEqual(name);
        using var text = new JsonText(ref reader);
        return text.Bytes.SequenceEqual(name);
    }
}
