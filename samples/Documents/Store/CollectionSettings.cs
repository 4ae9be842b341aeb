using System.Text.Json.Serialization;

namespace Voron.Documents;

/// <summary>The indexes of a collection.</summary>
/// <param name="Name">The name of the collection.</param>
/// <param name="Version">Rises with each change of the indexes and of the text index, up to 65,535.</param>
/// <param name="Indexes">The paths that are indexed.</param>
/// <param name="Text">The text index; null if there is none.</param>
public sealed record CollectionSettings(string Name, int Version, IReadOnlyList<string> Indexes, TextSettings? Text = null)
{
    /// <summary>The path of the time at which a document ends; null if documents do not end.</summary>
    public string? ExpiryPath { get; init; }

    /// <summary>How documents are compressed.</summary>
    public ValueCompression Compression { get; init; }
}

/// <summary>A text index.</summary>
/// <param name="Fields">The paths of the fields whose words it has.</param>
/// <param name="Number">Its number, which no other text index of the store has had.</param>
public sealed record TextSettings(IReadOnlyList<string> Fields, long Number);

[JsonSerializable(typeof(AttachmentNote))]
[JsonSerializable(typeof(StoredSettings))]
internal sealed partial class SettingsContext : JsonSerializerContext;
