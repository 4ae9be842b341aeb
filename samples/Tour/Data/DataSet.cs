using System.Text;

namespace Tour.Data;

/// <summary>The entries that the stores are filled with, and what the stores have to answer.</summary>
internal sealed class DataSet
{
    private readonly List<Member> _members;
    private readonly int[] _shuffled;

    /// <param name="description">What it is, and where it comes from.</param>
    /// <param name="members">The entries, as their files have them.</param>
    /// <param name="groups">The beginnings of keys that belong together.</param>
    /// <param name="sample">The key of an entry to show.</param>
    /// <param name="random">Chooses the order of random reads.</param>
    public DataSet(string description, IEnumerable<Member> members, IEnumerable<string> groups, string sample, Random random)
    {
        Description = description;

        // A key of two files counts once.
        var keys = new HashSet<string>(StringComparer.Ordinal);
        _members = [.. members.Where(member => keys.Add(Encoding.UTF8.GetString(member.Key)))];
        Content = _members.Aggregate(default(Digest), static (sum, member) => sum + Digest.Of(member));
        Prefixes = PrefixesOf(_members, groups);
        random.Shuffle(Prefixes);
        _shuffled = [.. Enumerable.Range(0, _members.Count)];
        random.Shuffle(_shuffled);
        Sample = _members.Find(member => member.Key.AsSpan().SequenceEqual(Encoding.UTF8.GetBytes(sample))) ?? _members[_members.Count / 2];
    }

    /// <summary>What it is, and where it comes from.</summary>
    public string Description { get; }

    public int Count => _members.Count;

    public long Bytes => _members.Sum(static member => (long)member.Key.Length + member.Text.Length);

    /// <summary>An entry to show.</summary>
    public Member Sample { get; }

    /// <summary>The content of a store that has each entry once.</summary>
    public Digest Content { get; }

    /// <summary>The groups, in random order.</summary>
    public KeyPrefix[] Prefixes { get; }

    public IReadOnlyList<Member> Members => _members;

    /// <summary>Returns an entry in random order, which repeats itself behind the last one.</summary>
    public Member Shuffled(long index) => _members[_shuffled[index % _members.Count]];

    /// <summary>Returns an entry of an endless sequence in which no key comes twice: behind the last entry, the keys get a number.</summary>
    public Member EntryAt(long index)
    {
        var (round, place) = Math.DivRem(index, _members.Count);
        var member = _members[(int)place];
        return round == 0 ? member : member with { Key = [.. member.Key, .. Encoding.UTF8.GetBytes($"~{round}")] };
    }

    /// <summary>Returns the content of a store that has the first entries of the endless sequence.</summary>
    public Digest ContentOf(long entries)
    {
        var sum = default(Digest);
        for (var i = 0L; i < entries; i++)
            sum += Digest.Of(EntryAt(i));
        return sum;
    }

    private static KeyPrefix[] PrefixesOf(List<Member> members, IEnumerable<string> groups)
    {
        var sorted = members.ToArray();
        Array.Sort(sorted, static (left, right) => left.Key.AsSpan().SequenceCompareTo(right.Key));
        var prefixes = new List<KeyPrefix>();
        foreach (var group in groups)
        {
            var start = Encoding.UTF8.GetBytes(group);
            var end = start.ToArray();
            end[^1]++;
            var expected = default(Digest);
            for (var i = FirstFrom(sorted, start); i < sorted.Length && sorted[i].Key.AsSpan().StartsWith(start); i++)
                expected = expected.ThenBy(sorted[i].Key, sorted[i].Text);
            if (expected.Count > 0)
                prefixes.Add(new(start, end, expected));
        }

        return [.. prefixes];
    }

    private static int FirstFrom(Member[] sorted, byte[] key)
    {
        var (low, high) = (0, sorted.Length);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (sorted[middle].Key.AsSpan().SequenceCompareTo(key) < 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }
}
