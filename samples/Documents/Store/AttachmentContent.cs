namespace Voron.Documents;

/// <summary>An attachment that is open for reading. It sees the attachment as it was when it was opened, even if it is replaced or deleted.</summary>
/// <remarks>Its snapshot stays open until it is disposed: the pages that it may read are not used again meanwhile.</remarks>
public sealed class AttachmentContent : IDisposable
{
    private readonly ReadTransaction _reading;

    internal AttachmentContent(ReadTransaction reading, Attachment attachment, Stream stream)
    {
        _reading = reading;
        Attachment = attachment;
        Stream = stream;
    }

    /// <summary>What is known of the attachment.</summary>
    public Attachment Attachment { get; }

    /// <summary>The content. It can seek, and ends with this object.</summary>
    public Stream Stream { get; }

    /// <summary>Ends the stream and its snapshot.</summary>
    public void Dispose()
    {
        Stream.Dispose();
        _reading.Dispose();
    }
}
