using System.Buffers;
using Voron.Documents.Scanning;

namespace Voron.Documents.Text;

/// <summary>Brings the words of a batch into a tree of id sets, word by word in their order, so that each set and each page is found once.</summary>
/// <param name="counts">The words.</param>
/// <param name="numbers">The numbers of the documents; 0 for those that are not stored.</param>
/// <param name="last">The last number that the index has.</param>
/// <param name="unchanged">The places of postings that the index has as they are; null for none.</param>
internal readonly ref struct PostingWriter(WordCounts counts, ReadOnlySpan<long> numbers, long last, HashSet<int>? unchanged)
{
    private readonly ReadOnlySpan<long> _numbers = numbers;

    /// <summary>The number of times as a payload: from 255 on, it is no more exact.</summary>
    public static byte ToPayload(int times) => (byte)Math.Min(times, byte.MaxValue);

    public void Write(WriteIdTree words)
    {
        var ids = ArrayPool<long>.Shared.Rent(_numbers.Length);
        var payloads = ArrayPool<byte>.Shared.Rent(_numbers.Length);
        foreach (var word in counts.InOrder())
        {
            var first = Collect(word, ids.AsSpan(0, _numbers.Length), payloads.AsSpan(0, _numbers.Length));
            if (first < _numbers.Length)
                words.AddMany(counts.Word(word), ids.AsSpan(first, _numbers.Length - first), payloads.AsSpan(first, _numbers.Length - first));
        }

        ArrayPool<long>.Shared.Return(ids);
        ArrayPool<byte>.Shared.Return(payloads);
    }

    // The postings come backwards. New documents have ascending numbers, replaced ones have older numbers.
    private int Collect(int word, Span<long> ids, Span<byte> payloads)
    {
        var at = ids.Length;
        var isSorted = true;
        for (var i = counts.LastPosting(word); i >= 0; i = counts.Postings[i].Before)
        {
            ref readonly var posting = ref counts.Postings[i];
            var number = _numbers[posting.Document];
            if (number == 0 || number > last || unchanged?.Contains(i) == true)
                continue;
            at--;
            isSorted &= at == ids.Length - 1 || number < ids[at + 1];
            ids[at] = number;
            payloads[at] = ToPayload(posting.Times);
        }

        if (!isSorted)
            ids[at..].Sort(payloads[at..]);
        return at;
    }
}
