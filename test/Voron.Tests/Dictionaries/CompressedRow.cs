using System.Text.Json.Serialization;

namespace Voron.Tests.Dictionaries;

/// <summary>A row with a text.</summary>
internal sealed record CompressedRow(string Id, string Text);

[JsonSerializable(typeof(CompressedRow))]
internal sealed partial class CompressedRowContext : JsonSerializerContext;
