using System.Text.Json.Serialization;

namespace Voron.Documents.Web;

internal sealed record Problem(string Type, string Title, int Status, string Detail);

internal sealed record IndexAnswer(string Path, string State, long Keys, long Bytes);

internal sealed record CollectionAnswer(string Name, long Documents, long Bytes, IReadOnlyList<IndexAnswer> Indexes, string? ExpiryPath, IReadOnlyList<string> TextFields);

internal sealed record CollectionsAnswer(IReadOnlyList<CollectionAnswer> Collections);

internal sealed record StatsAnswer(long DataFileBytes, long JournalBytes, long CommittedTransactions, int OpenReaders, IReadOnlyList<CollectionAnswer> Collections);

internal sealed record StoredAnswer(string Id, string Version);

internal sealed record RefusedLine(long Line, string Reason);

internal sealed record BulkAnswer(long Stored, long Refused, IReadOnlyList<RefusedLine> RefusedLines);

internal sealed record AttachmentAnswer(string Name, string ContentType, long Length, DateTimeOffset StoredAt);

internal sealed record AttachmentsAnswer(IReadOnlyList<AttachmentAnswer> Attachments);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(Problem))]
[JsonSerializable(typeof(CollectionAnswer))]
[JsonSerializable(typeof(CollectionsAnswer))]
[JsonSerializable(typeof(StatsAnswer))]
[JsonSerializable(typeof(StoredAnswer))]
[JsonSerializable(typeof(BulkAnswer))]
[JsonSerializable(typeof(AttachmentAnswer))]
[JsonSerializable(typeof(AttachmentsAnswer))]
internal sealed partial class ServerContext : JsonSerializerContext;
