using System.Buffers.Binary;
using System.Text.Json;
using Voron.Documents.Text;

namespace Voron.Documents.Scanning;

/// <summary>Counts the words of documents. One object counts many batches: it keeps its memory.</summary>
internal sealed class WordCounts
{
    private const int FirstCapacity = 1024;

    private readonly byte[] _buffer = new byte[WordReader.MaxWordBytes];

    // The words, one behind the other; where each one is; and, for each slot of the hash table, the number of its word and 1.
    private byte[] _bytes = new byte[8 * FirstCapacity];
    private KnownWord[] _words = new KnownWord[FirstCapacity];
    private int[] _slots = new int[2 * FirstCapacity];
    private Posting[] _postings = new Posting[FirstCapacity];
    private int _bytesUsed;

    // The words in the order of their bytes, those that there were when they were sorted last, and the first eight bytes of each.
    private int[] _order = [];
    private ulong[] _heads = [];
    private int _sorted;

    /// <summary>About the number of bytes that the object has.</summary>
    public int Capacity => _bytes.Length + sizeof(int) * (3 * _words.Length + _slots.Length + 4 * _postings.Length + 3 * _order.Length);

    /// <summary>The number of words that differ.</summary>
    public int WordCount { get; private set; }

    /// <summary>The number of pairs of a word and a document.</summary>
    public int PostingCount { get; private set; }

    public ReadOnlySpan<Posting> Postings => _postings.AsSpan(0, PostingCount);

    public ReadOnlySpan<byte> Word(int word) => _bytes.AsSpan(_words[word].Start, _words[word].Length);

    public void Clear()
    {
        Array.Clear(_slots);
        WordCount = 0;
        PostingCount = 0;
        _bytesUsed = 0;
        _sorted = 0;
    }

    /// <summary>Returns the words in the order of their bytes. They are sorted once, unless more come.</summary>
    public ReadOnlySpan<int> InOrder()
    {
        if (_sorted != WordCount)
            Sort();
        return _order.AsSpan(0, WordCount);
    }

    /// <summary>Counts the words of a value: of a text, or of a number as it is written.</summary>
    /// <param name="document">The number of the document, not less than that of the call before.</param>
    /// <param name="value">A reader on the value.</param>
    /// <returns>The number of words, with those that occur again.</returns>
    public int Add(int document, ref Utf8JsonReader value)
    {
        if (value.TokenType is not (JsonTokenType.String or JsonTokenType.Number))
            return 0;
        using var text = new JsonText(ref value);
        var words = new WordReader(text.Bytes, _buffer);
        var count = 0;
        for (; words.MoveNext(); count++)
            Add(document, words.Current);
        return count;
    }

    /// <summary>Returns how often a word occurs in the last document that has it, and makes the number 0; 0 if none has it.</summary>
    public int Take(ReadOnlySpan<byte> word)
    {
        var slot = _slots[SlotOf(word)];
        if (slot == 0)
            return 0;
        ref var posting = ref _postings[_words[slot - 1].LastPosting];
        var times = posting.Times;
        posting.Times = 0;
        return times;
    }

    /// <summary>Returns the last posting of a word. The ones before it follow by <see cref="Posting.Before"/>.</summary>
    public int LastPosting(int word) => _words[word].LastPosting;

    /// <summary>Takes the last postings back.</summary>
    /// <param name="count">The number of those that stay.</param>
    public void Truncate(int count)
    {
        while (PostingCount > count)
        {
            ref var posting = ref _postings[--PostingCount];
            _words[posting.Word].LastPosting = posting.Before;
        }
    }

    private void Add(int document, ReadOnlySpan<byte> word)
    {
        ref var slot = ref _slots[SlotOf(word)];
        if (slot == 0)
            slot = NewWord(word) + 1;
        ref var known = ref _words[slot - 1];
        if (known.LastPosting >= 0 && _postings[known.LastPosting].Document == document)
        {
            _postings[known.LastPosting].Times++;
            return;
        }

        if (PostingCount == _postings.Length)
            Array.Resize(ref _postings, 2 * PostingCount);
        _postings[PostingCount] = new Posting { Word = slot - 1, Document = document, Times = 1, Before = known.LastPosting };
        known.LastPosting = PostingCount++;
        if (2 * WordCount > _slots.Length)
            Rehash();
    }

    private int NewWord(ReadOnlySpan<byte> word)
    {
        if (_bytesUsed + word.Length > _bytes.Length)
            Array.Resize(ref _bytes, 2 * (_bytes.Length + word.Length));
        if (WordCount == _words.Length)
            Array.Resize(ref _words, 2 * WordCount);
        word.CopyTo(_bytes.AsSpan(_bytesUsed));
        _words[WordCount] = new KnownWord { Start = _bytesUsed, Length = word.Length, LastPosting = -1 };
        _bytesUsed += word.Length;
        return WordCount++;
    }

    private int SlotOf(ReadOnlySpan<byte> word)
    {
        // Seeded in each process, so that no text can be made that fills one place.
        var hash = new HashCode();
        hash.AddBytes(word);
        var mask = _slots.Length - 1;
        var at = hash.ToHashCode() & mask;
        while (_slots[at] != 0 && !Word(_slots[at] - 1).SequenceEqual(word))
            at = (at + 1) & mask;
        return at;
    }

    private void Sort()
    {
        if (_order.Length < WordCount)
        {
            _order = new int[_words.Length];
            _heads = new ulong[_words.Length];
        }

        for (var word = 0; word < WordCount; word++)
        {
            _order[word] = word;
            _heads[word] = HeadOf(Word(word));
        }

        Array.Sort(_heads, _order, 0, WordCount);
        for (int first = 0, end; first < WordCount; first = end)
        {
            end = first + 1;
            while (end < WordCount && _heads[end] == _heads[first])
                end++;
            if (end - first > 1)
                _order.AsSpan(first, end - first).Sort((left, right) => Word(left).SequenceCompareTo(Word(right)));
        }

        _sorted = WordCount;
    }

    // A number that is in the same order as the words, except that words with the same eight bytes have the same number.
    private static ulong HeadOf(ReadOnlySpan<byte> word)
    {
        if (word.Length >= sizeof(ulong))
            return BinaryPrimitives.ReadUInt64BigEndian(word);
        var head = 0UL;
        for (var i = 0; i < word.Length; i++)
            head |= (ulong)word[i] << (8 * (sizeof(ulong) - 1 - i));
        return head;
    }

    private void Rehash()
    {
        _slots = new int[2 * _slots.Length];
        for (var word = 0; word < WordCount; word++)
            _slots[SlotOf(Word(word))] = word + 1;
    }

    /// <summary>A word in a document.</summary>
    public struct Posting
    {
        public int Word { get; init; }

        public int Document { get; init; }

        public int Times { get; set; }

        /// <summary>The posting of the same word in a document before; -1 if there is none.</summary>
        public int Before { get; init; }
    }

    private struct KnownWord
    {
        public int Start;
        public int Length;
        public int LastPosting;
    }
}
