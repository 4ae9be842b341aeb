using System.Globalization;
using System.Text;
using Voron.Documents.Scanning;

namespace Voron.Documents.Text;

/// <summary>
/// The words of a collection: a tree of id sets from words to documents, with the number of times as payload, and a fixed-size tree of the documents' lengths
/// in words. Both change in the transaction that changes the documents.
/// </summary>
internal sealed class TextIndex
{
    /// <summary>The tree of what there is to know of text indexes beyond their trees.</summary>
    public const string StateTree = "documents/text";

    private const string Words = "words";
    private const string Lengths = "lengths";
    private const int MaxKeptBytes = 256 << 10;

    private readonly DocumentScanner _texts;
    private readonly byte[] _totalKey;
    private readonly byte[] _builtKey;

    /// <param name="collection">The name of the collection.</param>
    /// <param name="settings">The settings.</param>
    /// <param name="texts">Finds the text fields, and nothing else.</param>
    public TextIndex(string collection, TextSettings settings, DocumentScanner texts)
    {
        _texts = texts;
        WordsTree = $"{StateTree}/{collection}/{settings.Number}/{Words}";
        LengthsTree = $"{StateTree}/{collection}/{settings.Number}/{Lengths}";
        _totalKey = TotalKey(settings.Number);
        _builtKey = BuiltKey(settings.Number);
    }

    public string WordsTree { get; }

    public string LengthsTree { get; }

    // The words that a document had which the thread has just replaced.
    [field: ThreadStatic]
    private static WordCounts? OldWords { get; set; }

    /// <summary>Returns a number that no text index of the store has had.</summary>
    public static long NextNumber(WriteTransaction writing) => writing.OpenTree(StateTree).Add("number"u8, 1);

    /// <summary>Returns the number of the text index that a tree belongs to; null if it belongs to none of the collection.</summary>
    public static long? NumberOf(string tree, string collection)
    {
        var prefix = $"{StateTree}/{collection}/";
        if (!tree.StartsWith(prefix, StringComparison.Ordinal) || tree[prefix.Length..].Split('/') is not [var number, Words or Lengths])
            return null;
        return long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var parsed) ? parsed : null;
    }

    /// <summary>Forgets the state of an index. Its trees are dropped by their names.</summary>
    public static void Forget(WriteTransaction writing, long number)
    {
        var state = writing.OpenTree(StateTree);
        state.Delete(TotalKey(number));
        state.Delete(BuiltKey(number));
    }

    /// <summary>Creates the trees. The documents that there are come in by <see cref="TextIndexBuild"/>.</summary>
    public void Create(WriteTransaction writing)
    {
        if (writing.TryOpenIdTree(WordsTree, out _))
            return;
        writing.CreateIdTree(WordsTree);
        writing.CreateFixedTree(LengthsTree, LengthBlocks.BytesPerBlock);
        var state = writing.OpenTree(StateTree);
        state.Increment(_totalKey, 0);
        state.Increment(_builtKey, 0);
    }

    /// <summary>Returns the number of the last document that the index has while it is built; null when it has all.</summary>
    public long? BuiltThrough(ReadTransaction reading) =>
        reading.OpenTree(StateTree).TryGet(_builtKey, out var built) ? BitConverter.ToInt64(built) : null;

    /// <inheritdoc cref="BuiltThrough(ReadTransaction)"/>
    public long? BuiltThrough(WriteTransaction writing) =>
        writing.OpenTree(StateTree).TryGet(_builtKey, out var built) ? BitConverter.ToInt64(built) : null;

    /// <summary>Notes how far the index is built; null when it has all documents.</summary>
    public void SetBuiltThrough(WriteTransaction writing, long? number)
    {
        var state = writing.OpenTree(StateTree);
        if (number is { } built)
            state.Put(_builtKey, BitConverter.GetBytes(built));
        else
            state.Delete(_builtKey);
    }

    /// <summary>Returns the number of words in all documents.</summary>
    public long TotalWords(ReadTransaction reading) => reading.OpenTree(StateTree).TryGet(_totalKey, out var total) ? BitConverter.ToInt64(total) : 0;

    /// <summary>Brings the words of documents into the index, in place of those that they had.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="batch">The documents.</param>
    /// <param name="numbers">Their numbers; 0 for those that are not stored.</param>
    /// <param name="replaced">The documents that were stored before, with the place in the batch of what replaces them; null if there are none.</param>
    public void Put(WriteTransaction writing, DocumentBatch batch, ReadOnlySpan<long> numbers, List<(int Place, Document Old)>? replaced)
    {
        var built = BuiltThrough(writing) ?? long.MaxValue;
        var words = writing.OpenIdTree(WordsTree);
        HashSet<int>? unchanged = null;
        if (replaced != null)
        {
            unchanged = [];
            var old = TakeOldWords();
            foreach (var (place, document) in replaced)
            {
                if (document.Number <= built)
                    RemoveOld(words, batch, place, document, old, unchanged);
            }
        }

        if (batch.Count == 1)
            PutOne(words, batch, numbers[0], built, unchanged);
        else
            new PostingWriter(batch.Words, numbers, built, unchanged).Write(words);
        PutLengths(writing, batch, numbers, built);
    }

    /// <summary>Takes the words of a document out.</summary>
    public void Remove(WriteTransaction writing, in Document document)
    {
        var built = BuiltThrough(writing) ?? long.MaxValue;
        if (document.Number > built)
            return;
        var counts = TakeOldWords();
        Count(document, counts);
        var words = writing.OpenIdTree(WordsTree);
        foreach (var posting in counts.Postings)
            words.Remove(counts.Word(posting.Word), document.Number);
        var lengths = new LengthBlocks(writing.OpenFixedTree(LengthsTree));
        var before = lengths.Set(document.Number, 0);
        lengths.Save();
        writing.OpenTree(StateTree).Increment(_totalKey, -before);
    }

    /// <summary>Passes the text fields of a document on.</summary>
    public void Scan<TSink>(ReadOnlySpan<byte> json, ref TSink sink)
        where TSink : IScanSink, allows ref struct => _texts.Scan(json, ref sink);

    private static byte[] TotalKey(long number) => Encoding.UTF8.GetBytes($"{number}/total");

    private static byte[] BuiltKey(long number) => Encoding.UTF8.GetBytes($"{number}/built");

    private static WordCounts TakeOldWords() => OldWords is { } kept && kept.Capacity <= MaxKeptBytes ? kept : OldWords = new WordCounts();

    private static void PutOne(WriteIdTree words, DocumentBatch batch, long number, long built, HashSet<int>? unchanged)
    {
        if (number > built)
            return;
        var postings = batch.Words.Postings;
        for (var i = 0; i < postings.Length; i++)
        {
            if (unchanged?.Contains(i) != true)
                words.Add(batch.Words.Word(postings[i].Word), number, PostingWriter.ToPayload(postings[i].Times));
        }
    }

    // Removes the words that the new text does not have, and notes those that occur in it as often as before.
    private void RemoveOld(WriteIdTree words, DocumentBatch batch, int place, in Document document, WordCounts old, HashSet<int> unchanged)
    {
        Count(document, old);
        var entry = batch[place];
        var now = batch.Words.Postings[entry.FirstPosting..entry.EndPosting];
        for (var i = 0; i < now.Length; i++)
        {
            var times = old.Take(batch.Words.Word(now[i].Word));
            if (times > 0 && PostingWriter.ToPayload(times) == PostingWriter.ToPayload(now[i].Times))
                unchanged.Add(entry.FirstPosting + i);
        }

        foreach (var posting in old.Postings)
        {
            if (posting.Times > 0)
                words.Remove(old.Word(posting.Word), document.Number);
        }
    }

    private void PutLengths(WriteTransaction writing, DocumentBatch batch, ReadOnlySpan<long> numbers, long built)
    {
        var lengths = new LengthBlocks(writing.OpenFixedTree(LengthsTree));
        var change = 0L;
        for (var i = 0; i < numbers.Length; i++)
        {
            if (numbers[i] != 0 && numbers[i] <= built)
                change += batch[i].Length - lengths.Set(numbers[i], batch[i].Length);
        }

        lengths.Save();
        writing.OpenTree(StateTree).Increment(_totalKey, change);
    }

    private void Count(in Document document, WordCounts counts)
    {
        counts.Clear();
        var sink = new CountSink(counts);
        _texts.Scan(document.Json.Span, ref sink);
    }

    private readonly struct CountSink(WordCounts counts) : IScanSink
    {
        public void Id(ref System.Text.Json.Utf8JsonReader value)
        {
        }

        public void Value(int index, ref System.Text.Json.Utf8JsonReader value)
        {
        }

        public void Text(ref System.Text.Json.Utf8JsonReader value) => counts.Add(0, ref value);
    }
}
