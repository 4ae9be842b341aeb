using System.Text;

namespace Voron.Documents;

/// <summary>The ids of documents: 1 to 200 bytes in UTF-8.</summary>
internal static class DocumentId
{
    /// <summary>The number of bytes that suffice for the key of any id: a zero in a text takes two.</summary>
    public const int MaxKeyBytes = 2 * MaxBytes + 2;

    private const int MaxBytes = 200;

    /// <exception cref="DocumentFormatException">There is no id, or a too long one.</exception>
    public static string Check(string? id)
    {
        if (string.IsNullOrEmpty(id))
            throw new DocumentFormatException("The document has no id: it needs a property 'id' with a text or a number, or an id beside it.");
        return Encoding.UTF8.GetByteCount(id) <= MaxBytes
            ? id
            : throw new DocumentFormatException($"The id '{id[..40]}...' has {Encoding.UTF8.GetByteCount(id)} bytes in UTF-8, and may have {MaxBytes}.");
    }

    /// <summary>Returns the key of an id; of one that no document can have, a key that no document has.</summary>
    public static ReadOnlySpan<byte> KeyOf(string id, Span<byte> buffer)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        return Encoding.UTF8.GetByteCount(id) <= MaxBytes ? new KeyWriter(buffer).Add(id).Written : "\uffff"u8;
    }
}
