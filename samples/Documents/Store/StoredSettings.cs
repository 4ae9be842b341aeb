using System.Text.Json;

namespace Voron.Documents;

/// <summary>The settings of a collection as they are stored.</summary>
/// <param name="Now">The settings.</param>
/// <param name="Before">The settings that the table may still have, if the change to the new ones has broken off; the last ones first.</param>
internal sealed record StoredSettings(CollectionSettings Now, IReadOnlyList<CollectionSettings> Before)
{
    public static StoredSettings FromBytes(ReadOnlySpan<byte> bytes) =>
        JsonSerializer.Deserialize(bytes, SettingsContext.Default.StoredSettings) ?? throw new JsonException("The settings of a collection are null.");

    public byte[] ToBytes() => JsonSerializer.SerializeToUtf8Bytes(this, SettingsContext.Default.StoredSettings);
}
