namespace Voron.Documents;

/// <summary>A file that belongs to a document.</summary>
/// <param name="Name">Its name among the attachments of the document.</param>
/// <param name="ContentType">The type of its content, such as <c>image/png</c>.</param>
/// <param name="Length">The number of bytes.</param>
/// <param name="StoredAt">When it was stored.</param>
/// <param name="Version">Another number after each time that it was stored, and a higher one.</param>
public sealed record Attachment(string Name, string ContentType, long Length, DateTimeOffset StoredAt, long Version)
{
    /// <summary>The content type of an attachment that was stored without one.</summary>
    public const string DefaultContentType = "application/octet-stream";
}

/// <summary>What is stored beside the content of an attachment.</summary>
internal sealed record AttachmentNote(string ContentType, DateTimeOffset StoredAt, long Version);
