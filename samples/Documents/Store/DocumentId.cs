using System.Text;

namespace Voron.Documents;

/// <summary>The ids of documents: 1 to 200 bytes in UTF-8.</summary>
internal static class DocumentId
{
    /// <summary>The number of bytes that suffice for the key of any id: a zero in a text takes two.</summary>
    public const int MaxKeyBytes = 2 * MaxBytes + 2;

    private const int MaxBytes = 200;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Returns an id if it is one.</summary>
    /// <exception cref="DocumentFormatException">There is no id, it is too long, or it has half of a surrogate pair.</exception>
    public static string Check(string? id)
    {
        if (string.IsNullOrEmpty(id))
            throw new DocumentFormatException("The document has no id: it needs a property 'id' with a text or a number, or an id beside it.");
        if (BytesOf(id) is not { } bytes)
            throw new DocumentFormatException($"The id '{id}' has half of a surrogate pair, which UTF-8 cannot have. Give the document another id.");
        return bytes <= MaxBytes ? id : throw new DocumentFormatException($"The id '{id[..40]}...' has {bytes} bytes in UTF-8, and may have {MaxBytes}.");
    }

    /// <summary>Returns the key of an id; of one that no document can have, a key that no document has.</summary>
    public static ReadOnlySpan<byte> KeyOf(string id, Span<byte> buffer)
    {
        ArgumentNullException.ThrowIfNull(id);
        if (id.Length == 0)
            throw new ArgumentException("The id of a document is empty: it has 1 to 200 bytes in UTF-8.");
        return BytesOf(id) <= MaxBytes ? new KeyWriter(buffer).Add(id).Written : "\uffff"u8;
    }

    private static int? BytesOf(string id)
    {
        try
        {
            return Strict.GetByteCount(id);
        }
        catch (EncoderFallbackException)
        {
            return null;
        }
    }
}
