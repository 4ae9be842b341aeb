using System.Text.Json.Serialization;

namespace Voron.Tool;

/// <summary>An entry as a line of JSON: text where the bytes are text, otherwise base64 under a name of its own.</summary>
internal sealed record EntryLine
{
    [JsonPropertyName("tree")]
    public string? Tree { get; init; }

    [JsonPropertyName("k")]
    public string? Key { get; init; }

    [JsonPropertyName("k64")]
    public string? KeyBytes { get; init; }

    [JsonPropertyName("v")]
    public string? Value { get; init; }

    [JsonPropertyName("v64")]
    public string? ValueBytes { get; init; }

    /// <summary>Returns the line of an entry.</summary>
    public static EntryLine Of(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var isKeyText = KeyText.TryGetText(key, out var keyText);
        var isValueText = KeyText.TryGetText(value, out var valueText);
        return new EntryLine
        {
            Key = isKeyText ? keyText : null,
            KeyBytes = isKeyText ? null : Convert.ToBase64String(key),
            Value = isValueText ? valueText : null,
            ValueBytes = isValueText ? null : Convert.ToBase64String(value),
        };
    }
}
