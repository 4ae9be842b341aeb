using System.Text.Json;
using System.Text.Json.Serialization;

namespace Voron.Documents;

/// <summary>What a collection is made of. Stored in the environment.</summary>
/// <param name="Name">The name of the collection.</param>
/// <param name="Version">Rises with each change of the indexes.</param>
/// <param name="Indexes">The paths that are indexed.</param>
/// <param name="Text">The text index; null if there is none.</param>
public sealed record CollectionSettings(string Name, int Version, IReadOnlyList<string> Indexes, TextSettings? Text = null)
{
    internal byte[] ToBytes() => JsonSerializer.SerializeToUtf8Bytes(this, SettingsContext.Default.CollectionSettings);

    internal static CollectionSettings FromBytes(ReadOnlySpan<byte> bytes) =>
        JsonSerializer.Deserialize(bytes, SettingsContext.Default.CollectionSettings)
        ?? throw new JsonException("The settings of a collection are null.");
}

/// <summary>A text index.</summary>
/// <param name="Fields">The paths of the fields whose words it has.</param>
/// <param name="Number">Its number in the collection, which no other text index has had.</param>
public sealed record TextSettings(IReadOnlyList<string> Fields, int Number);

[JsonSerializable(typeof(AttachmentNote))]
[JsonSerializable(typeof(CollectionSettings))]
internal sealed partial class SettingsContext : JsonSerializerContext;
