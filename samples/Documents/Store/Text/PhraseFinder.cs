using System.Text.Json;
using Voron.Documents.Scanning;
using Voron.Tables;

namespace Voron.Documents.Text;

/// <summary>Finds the documents that have a phrase: those that have all of its words are read, and their texts looked through.</summary>
/// <param name="index">The text index.</param>
/// <param name="table">The documents.</param>
/// <param name="words">The words of the snapshot.</param>
internal readonly ref struct PhraseFinder(TextIndex index, Table<long, Document> table, IdTree words)
{
    /// <param name="phrase">The phrase, of at least two words.</param>
    /// <param name="read">Receives the number of documents that were read.</param>
    public Postings Find(TextQuery.Phrase phrase, ref long read)
    {
        var places = new WordPlaces(phrase.Words);
        var ids = new List<long>();
        var times = new List<byte>();
        var clauses = new TextClause[places.Words.Count];
        for (var i = 0; i < clauses.Length; i++)
            clauses[i] = new TextClause([new Postings(words, places.Words[i])], [0]);
        var all = new Intersection(clauses);
        for (var number = all.Seek(0); number != long.MaxValue; number = all.Seek(number + 1))
        {
            read++;
            places.Clear();
            if (table.TryGetReader(number, out var row))
                index.Scan(DocumentCodec.JsonOf(ref row), ref places);
            if (places.Count > 0)
            {
                ids.Add(number);
                times.Add(PostingWriter.ToPayload(places.Count));
            }
        }

        foreach (var clause in clauses)
            clause.Dispose();
        return new Postings(ids, times);
    }

    // Counts how often the words of a phrase follow each other in a text, each time also where they overlap.
    private sealed class WordPlaces : IScanSink
    {
        private readonly int[] _phrase;
        private readonly List<int> _text = [];
        private readonly byte[] _buffer = new byte[WordReader.MaxWordBytes];

        public WordPlaces(IReadOnlyList<byte[]> phrase)
        {
            _phrase = new int[phrase.Count];
            for (var i = 0; i < phrase.Count; i++)
            {
                var known = IndexOf(phrase[i]);
                if (known < 0)
                {
                    known = Words.Count;
                    Words.Add(phrase[i]);
                }

                _phrase[i] = known;
            }
        }

        /// <summary>The words of the phrase, each once.</summary>
        public List<byte[]> Words { get; } = [];

        public int Count { get; private set; }

        public void Clear() => Count = 0;

        public void Id(ref Utf8JsonReader value)
        {
        }

        public void Value(int index, ref Utf8JsonReader value)
        {
        }

        // A phrase does not go beyond a field.
        public void Text(ref Utf8JsonReader value)
        {
            if (value.TokenType is not (JsonTokenType.String or JsonTokenType.Number))
                return;
            _text.Clear();
            using var text = new JsonText(ref value);
            for (var words = new WordReader(text.Bytes, _buffer); words.MoveNext();)
                _text.Add(IndexOf(words.Current));
            var rest = System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_text);
            for (; rest.Length >= _phrase.Length; rest = rest[1..])
                Count += rest.StartsWith(_phrase) ? 1 : 0;
        }

        private int IndexOf(ReadOnlySpan<byte> word)
        {
            for (var i = 0; i < Words.Count; i++)
            {
                if (word.SequenceEqual(Words[i]))
                    return i;
            }

            return -1;
        }
    }
}
