using System.Buffers.Binary;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Voron.Tables;

namespace Voron.Documents;

// The attachments of all documents of a collection are in one tree, which the first of them creates. A key has the number of the document, then a byte
// that tells notes from contents, then the name; so the attachments of a document are one range, and a document that is stored again keeps them.
public sealed partial class Collection
{
    private const string AttachmentTrees = "documents/attachments/";
    private const int MaxAttachmentNameBytes = 200;
    private const byte Notes = 0;
    private const byte Contents = 1;

    private string AttachmentsTree => AttachmentsTreeOf(Settings.Name);

    /// <summary>Stores an attachment, in place of the one with the same name if there is one.</summary>
    /// <remarks>The source is read before the transaction begins, so that a slow one keeps no writer waiting. The version of the document stays.</remarks>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="source">The content, which is read to its end.</param>
    /// <param name="contentType">The type of the content; null for <see cref="Attachment.DefaultContentType"/>.</param>
    /// <param name="cancellationToken">Cancels the call. Nothing is stored then.</param>
    /// <exception cref="KeyNotFoundException">There is no document of that id, or it was deleted meanwhile.</exception>
    /// <exception cref="ArgumentException">The name is empty or too long, or the content type is none.</exception>
    /// <exception cref="AttachmentSourceException">The source broke off.</exception>
    public async ValueTask<Attachment> PutAttachmentAsync(
        string id, string name, Stream source, string? contentType = null, CancellationToken cancellationToken = default)
    {
        CheckAttachmentName(name);
        CheckContentType(contentType);
        ArgumentNullException.ThrowIfNull(source);
        if (!TryGet(id, out _))
            throw NoDocument(id);
        using var staged = await StageAsync(id, name, source, cancellationToken).ConfigureAwait(false);
        return await WriteAsync(
            (Collection: this, id, name, staged, contentType),
            static (writing, _, put) => put.Collection.PutAttachment(writing, put.id, put.name, put.staged, put.contentType),
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens an attachment for reading; null when the document has none of that name, or does not exist.</summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name of the attachment.</param>
    public AttachmentContent? OpenAttachment(string id, string name)
    {
        CheckNotEmpty(name);
        var reading = _environment.BeginRead();
        try
        {
            if (TryGet(reading.OpenTable(Definition), id, out var document)
                && reading.TryOpenTree(AttachmentsTree, out var tree)
                && tree.TryGet(KeyOf(document.Number, Notes, name), out var note)
                && tree.TryOpenStream(KeyOf(document.Number, Contents, name), out var stream))
            {
                var content = new AttachmentContent(reading, ToAttachment(name, note, stream.Length), stream);
                reading = default;
                return content;
            }

            return null;
        }
        finally
        {
            // Of an attachment that was opened, the returned object ends it.
            reading.Dispose();
        }
    }

    /// <summary>Returns the attachments of a document in the order of their names; none when it does not exist.</summary>
    /// <param name="id">The id of the document.</param>
    public IReadOnlyList<Attachment> GetAttachments(string id)
    {
        using var reading = _environment.BeginRead();
        var attachments = new List<Attachment>();
        if (!TryGet(reading.OpenTable(Definition), id, out var document) || !reading.TryOpenTree(AttachmentsTree, out var tree))
            return attachments;
        var prefix = KeyOf(document.Number, Notes, "");
        foreach (var entry in tree.Prefix(prefix))
        {
            var name = Encoding.UTF8.GetString(entry.Key[prefix.Length..]);
            tree.TryGetLength(KeyOf(document.Number, Contents, name), out var length);
            attachments.Add(ToAttachment(name, entry.Value, length));
        }

        return attachments;
    }

    /// <summary>Deletes an attachment; false when the document has none of that name, or does not exist.</summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="name">The name of the attachment.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for its turn.</param>
    public async ValueTask<bool> DeleteAttachmentAsync(string id, string name, CancellationToken cancellationToken = default)
    {
        CheckNotEmpty(name);
        return await WriteAsync(
            (Collection: this, id, name),
            static (writing, _, delete) => delete.Collection.DeleteAttachment(writing, delete.id, delete.name),
            cancellationToken).ConfigureAwait(false);
    }

    internal static string AttachmentsTreeOf(string collection) => AttachmentTrees + collection;

    private static KeyNotFoundException NoDocument(string id) => new($"There is no document '{id}'.");

    private static void CheckNotEmpty(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (name.Length == 0)
            throw new ArgumentException($"The name of an attachment is empty: it has 1 to {MaxAttachmentNameBytes} bytes in UTF-8.");
    }

    private static void CheckAttachmentName(string name)
    {
        CheckNotEmpty(name);
        if (Encoding.UTF8.GetByteCount(name) > MaxAttachmentNameBytes)
        {
            throw new ArgumentException(
                $"The name of an attachment has at most {MaxAttachmentNameBytes} bytes in UTF-8, but '{name[..40]}...' has {Encoding.UTF8.GetByteCount(name)}.");
        }
    }

    // It becomes a header of an answer.
    private static void CheckContentType(string? type)
    {
        if (type != null && (type.Any(char.IsControl) || !MediaTypeHeaderValue.TryParse(type, out _)))
        {
            var shown = string.Concat(type.Select(static each => char.IsControl(each) ? ' ' : each));
            throw new ArgumentException($"'{shown}' is no content type. Use one such as image/png.");
        }
    }

    private static byte[] KeyOf(long number, byte kind, string name)
    {
        var key = new byte[sizeof(long) + 1 + Encoding.UTF8.GetByteCount(name)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        key[sizeof(long)] = kind;
        Encoding.UTF8.GetBytes(name, key.AsSpan(sizeof(long) + 1));
        return key;
    }

    private static Attachment ToAttachment(string name, ReadOnlySpan<byte> note, long length)
    {
        var (contentType, storedAt, version) = JsonSerializer.Deserialize(note, SettingsContext.Default.AttachmentNote)
            ?? throw new JsonException($"The note of attachment '{name}' is null.");
        return new Attachment(name, contentType, length, storedAt, version);
    }

    private async ValueTask<StagedValue> StageAsync(string id, string name, Stream source, CancellationToken cancellationToken)
    {
        var counted = new SourceStream(source);
        await using (counted.ConfigureAwait(false))
        {
            try
            {
                return await _environment.StageAsync(counted, cancellationToken).ConfigureAwait(false);
            }
            catch (Exception) when (counted.Failure != null)
            {
                throw new AttachmentSourceException(id, name, counted.BytesRead, counted.Failure);
            }
        }
    }

    private Attachment PutAttachment(WriteTransaction writing, string id, string name, StagedValue staged, string? contentType)
    {
        if (!TryGet(writing.OpenTable(Definition).AsReadOnly(), id, out var document))
            throw NoDocument(id);
        var tree = writing.CreateTree(AttachmentsTree);
        var note = new AttachmentNote(contentType ?? Attachment.DefaultContentType, DateTimeOffset.UtcNow, writing.TransactionId);
        tree.Put(KeyOf(document.Number, Notes, name), JsonSerializer.SerializeToUtf8Bytes(note, SettingsContext.Default.AttachmentNote));
        tree.Put(KeyOf(document.Number, Contents, name), staged);
        return new Attachment(name, note.ContentType, staged.Length, note.StoredAt, note.Version);
    }

    private bool DeleteAttachment(WriteTransaction writing, string id, string name)
    {
        if (!TryGet(writing.OpenTable(Definition).AsReadOnly(), id, out var document) || !writing.TryOpenTree(AttachmentsTree, out var tree))
            return false;
        return tree.Delete(KeyOf(document.Number, Notes, name)) & tree.Delete(KeyOf(document.Number, Contents, name));
    }

    /// <summary>Deletes the attachments of a document.</summary>
    internal static void DeleteAttachments(WriteTransaction writing, string collection, long number)
    {
        if (writing.TryOpenTree(AttachmentsTreeOf(collection), out var tree))
            tree.DeleteRange(KeyRange.Prefix(KeyOf(number)));
    }

    private static byte[] KeyOf(long number)
    {
        var key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
