using System.Text;
using System.Text.Json;
using Voron.Documents.Scanning;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>Documents on their way into a collection.</summary>
/// <remarks>
/// A batch is checked, and what the indexes need of it is found, while it is filled, so that the writer does not wait for it. Clear it to use it again: it
/// keeps its memory. One thread may use it at a time.
/// </remarks>
public sealed class DocumentBatch
{
    private const int SmallBytes = 256 << 10;
    private const int BytesPerValue = 32;
    private const int BytesPerEntry = 120;

    private static readonly DocumentScanner Ids = new([], []);

    private readonly Collection _collection;
    private readonly List<Entry> _entries = [];
    private readonly Dictionary<string, int> _byId = new(StringComparer.Ordinal);
    private Value[] _values = new Value[64];
    private byte[] _bytes = new byte[4096];
    private int _valueCount;
    private int _bytesUsed;

    internal DocumentBatch(Collection collection)
    {
        _collection = collection;
        Shape = collection.Shape;
    }

    /// <summary>The number of documents.</summary>
    public int Count => _entries.Count;

    /// <summary>True if the batch has not grown beyond what some documents of usual sizes need.</summary>
    internal bool IsSmall => _bytes.Length + BytesPerValue * _values.Length + BytesPerEntry * _entries.Capacity + Words.Capacity <= SmallBytes;

    /// <summary>The shape of the collection for which the values were found.</summary>
    internal CollectionShape Shape { get; private set; }

    /// <summary>The words of the documents.</summary>
    internal WordCounts Words { get; } = new();

    internal Entry this[int document] => _entries[document];

    /// <summary>Adds a document. Of those with the same id, the last one counts.</summary>
    /// <param name="json">A JSON object in UTF-8, which must not change until the batch is stored.</param>
    /// <param name="id">The id; null to take the property <c>id</c> of the document.</param>
    /// <returns>The id.</returns>
    /// <exception cref="DocumentFormatException">The text is no JSON object, or has no id. The batch is as it was.</exception>
    public string Add(ReadOnlyMemory<byte> json, string? id = null)
    {
        if (_entries.Count == 0)
            Shape = _collection.Shape;
        return Scan(json, id);
    }

    /// <summary>Returns the id that a document will have, and adds nothing.</summary>
    /// <inheritdoc cref="Add(ReadOnlyMemory{byte}, string)"/>
    public static string IdOf(ReadOnlyMemory<byte> json, string? id = null)
    {
        var sink = new IdSink { FoundId = id };
        Ids.Scan(json.Span, ref sink);
        return DocumentId.Check(sink.FoundId);
    }

    /// <summary>
    /// Does what is left to do when the batch has all its documents. The call that stores them does it otherwise, which is later if calls wait for
    /// each other.
    /// </summary>
    public void Prepare()
    {
        // A single document is written word by word.
        if (_entries.Count > 1)
            Words.InOrder();
    }

    /// <summary>Takes all documents out.</summary>
    public void Clear()
    {
        _entries.Clear();
        _byId.Clear();
        Words.Clear();
        _valueCount = 0;
        _bytesUsed = 0;
    }

    /// <summary>Finds the values again if they were found for another shape.</summary>
    internal void PrepareFor(CollectionShape shape)
    {
        if (shape == Shape)
            return;
        var entries = _entries.ToArray();
        Clear();
        Shape = shape;
        foreach (var entry in entries)
            Scan(entry.Json, entry.Id);
    }

    /// <summary>Adds the words of a stored document, and no values.</summary>
    internal void AddText(in Document document)
    {
        var firstPosting = Words.PostingCount;
        var sink = new Sink(this, document.Id);
        Shape.Text!.Scan(document.Json.Span, ref sink);
        _entries.Add(new Entry(document.Id, document.Json, 0, 0, firstPosting, Words.PostingCount, sink.Length, false));
    }

    /// <summary>Passes the keys of a document on to an index. A document without a value has a key as well, so that an index has all documents in order.</summary>
    internal void WriteKeys(int document, int index, ref IndexKeys keys)
    {
        var entry = _entries[document];
        var found = false;
        for (var i = entry.FirstValue; i < entry.EndValue; i++)
        {
            ref var value = ref _values[i];
            if (value.Index != index)
                continue;
            ValueKey.Write(value.Kind, value.Number, _bytes.AsSpan(value.Start, value.Length), ref keys.Begin());
            found = true;
        }

        if (!found)
            ValueKey.WriteMissing(ref keys.Begin());
    }

    private static string TextOf(ref Utf8JsonReader value)
    {
        using var text = new JsonText(ref value);
        return Encoding.UTF8.GetString(text.Bytes);
    }

    private string Scan(ReadOnlyMemory<byte> json, string? id)
    {
        var (firstValue, firstByte, firstPosting) = (_valueCount, _bytesUsed, Words.PostingCount);
        try
        {
            var sink = new Sink(this, id);
            Shape.Scanner.Scan(json.Span, ref sink);
            id = DocumentId.Check(sink.FoundId);
            if (!_byId.TryAdd(id, _entries.Count))
            {
                _entries[_byId[id]] = _entries[_byId[id]] with { IsReplaced = true };
                _byId[id] = _entries.Count;
            }

            _entries.Add(new Entry(id, json, firstValue, _valueCount, firstPosting, Words.PostingCount, sink.Length, false));
            return id;
        }
        catch
        {
            (_valueCount, _bytesUsed) = (firstValue, firstByte);
            Words.Truncate(firstPosting);
            throw;
        }
    }

    private void Add(int index, ref Utf8JsonReader value)
    {
        var kind = ValueKey.KindOf(ref value);
        var start = _bytesUsed;
        if (kind == ScalarKind.Text)
        {
            using var text = new JsonText(ref value);
            var cut = ValueKey.Cut(text.Bytes);
            if (_bytesUsed + cut.Length > _bytes.Length)
                Array.Resize(ref _bytes, 2 * (_bytes.Length + cut.Length));
            cut.CopyTo(_bytes.AsSpan(_bytesUsed));
            _bytesUsed += cut.Length;
        }

        if (_valueCount == _values.Length)
            Array.Resize(ref _values, 2 * _valueCount);
        var number = kind == ScalarKind.Number ? value.GetDouble() : 0;
        _values[_valueCount++] = new Value { Index = index, Kind = kind, Number = number, Start = start, Length = _bytesUsed - start };
    }

    /// <summary>A document.</summary>
    /// <param name="Id">Its id.</param>
    /// <param name="Json">The JSON.</param>
    /// <param name="FirstValue">Its first value.</param>
    /// <param name="EndValue">Behind its last value.</param>
    /// <param name="FirstPosting">Its first word.</param>
    /// <param name="EndPosting">Behind its last word.</param>
    /// <param name="Length">The number of words in its text.</param>
    /// <param name="IsReplaced">True if a later one has the same id.</param>
    internal readonly record struct Entry(
        string Id, ReadOnlyMemory<byte> Json, int FirstValue, int EndValue, int FirstPosting, int EndPosting, int Length, bool IsReplaced);

    private struct IdSink : IScanSink
    {
        public string? FoundId { get; set; }

        public void Id(ref Utf8JsonReader value) => FoundId ??= TextOf(ref value);

        public readonly void Value(int index, ref Utf8JsonReader value)
        {
        }

        public readonly void Text(ref Utf8JsonReader value)
        {
        }
    }

    private struct Sink(DocumentBatch batch, string? id) : IScanSink
    {
        public string? FoundId { get; private set; } = id;

        public int Length { get; private set; }

        public void Id(ref Utf8JsonReader value) => FoundId ??= TextOf(ref value);

        public readonly void Value(int index, ref Utf8JsonReader value) => batch.Add(index, ref value);

        public void Text(ref Utf8JsonReader value) => Length += batch.Words.Add(batch._entries.Count, ref value);
    }

    private struct Value
    {
        public int Index;
        public ScalarKind Kind;
        public double Number;
        public int Start;
        public int Length;
    }
}
