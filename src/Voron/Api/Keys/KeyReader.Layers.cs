using Voron.Primitives;

namespace Voron;

/// <content>What tables need to read texts that are not parts of keys.</content>
public ref partial struct KeyReader
{
    /// <inheritdoc cref="Utf8Text.Read"/>
    internal static string? Decode(ReadOnlySpan<byte> utf8) => Utf8Text.Read(utf8);
}
