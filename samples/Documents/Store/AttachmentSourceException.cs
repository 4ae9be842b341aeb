using System.Globalization;

namespace Voron.Documents;

/// <summary>The source of an attachment broke off. Nothing of the attachment was stored: the one stored before remains.</summary>
public sealed class AttachmentSourceException : IOException
{
    internal AttachmentSourceException(string documentId, string attachmentName, long bytesRead, Exception cause)
        : base(
            string.Create(
                CultureInfo.InvariantCulture,
                $"The source of attachment '{attachmentName}' of document '{documentId}' broke off after {bytesRead} bytes: {cause.Message} Nothing of it was stored."),
            cause)
    {
        DocumentId = documentId;
        AttachmentName = attachmentName;
        BytesRead = bytesRead;
    }

    /// <summary>The id of the document.</summary>
    public string DocumentId { get; }

    /// <summary>The name of the attachment.</summary>
    public string AttachmentName { get; }

    /// <summary>The number of bytes that the source had given.</summary>
    public long BytesRead { get; }
}
