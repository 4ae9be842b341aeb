namespace Voron.Torture.Tables;

/// <summary>A range of keys, as the model has it.</summary>
internal sealed class ModelRange
{
    private readonly string _text;
    private readonly byte[]? _from;
    private readonly byte[]? _to;
    private readonly bool _isPrefix;

    private ModelRange(string? from, string? to, bool isPrefix)
    {
        _text = $"{(isPrefix ? "prefix " : "")}{Hex(from)}..{Hex(to)}";
        _from = from == null ? null : ModelKey.ToBytes(from);
        _to = to == null ? null : ModelKey.ToBytes(to);
        _isPrefix = isPrefix;
    }

    /// <summary>Draws a range; often one whose ends are keys of the entries, or near them.</summary>
    public static ModelRange Draw(Random random, IReadOnlyList<ModelEntry> entries)
    {
        switch (random.Next(6))
        {
            case 1:
                return new ModelRange(DrawKey(random, entries), null, isPrefix: true);
            case 2:
                return new ModelRange(DrawKey(random, entries), null, isPrefix: false);
            case 3:
                return new ModelRange(null, DrawKey(random, entries), isPrefix: false);
            case 4 or 5:
                return new ModelRange(DrawKey(random, entries), DrawKey(random, entries), isPrefix: false);
            default:
                return new ModelRange(null, null, isPrefix: false);
        }
    }

    public KeyRange ToKeyRange() => (_from, _to) switch
    {
        _ when _isPrefix => KeyRange.Prefix(_from),
        (null, null) => KeyRange.All,
        (_, null) => KeyRange.From(_from),
        (null, _) => KeyRange.Before(_to),
        _ => KeyRange.From(_from).Intersect(KeyRange.Before(_to)),
    };

    public bool Contains(string key)
    {
        var bytes = ModelKey.ToBytes(key).AsSpan();
        return _isPrefix
            ? bytes.StartsWith(_from)
            : (_from == null || bytes.SequenceCompareTo(_from) >= 0) && (_to == null || bytes.SequenceCompareTo(_to) < 0);
    }

    public override string ToString() => _text;

    private static string DrawKey(Random random, IReadOnlyList<ModelEntry> entries)
    {
        var key = entries.Count == 0 ? "k" : entries[random.Next(entries.Count)].Key;
        return random.Next(4) switch
        {
            1 => key[..random.Next(key.Length + 1)],
            2 => key + (char)random.Next(256),
            _ => key,
        };
    }

    private static string Hex(string? key) => key == null ? "" : Convert.ToHexString(ModelKey.ToBytes(key));
}
