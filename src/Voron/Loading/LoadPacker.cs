using Voron.Compression;
using Voron.Format;
using Voron.Transactions;

namespace Voron.Loading;

/// <summary>Compresses the values of a private tree, and trains its dictionaries, as ordinary transactions and the background do otherwise.</summary>
/// <remarks>
/// The thread of the load trains, from values that it has seen so far: of all that are to be sorted, or else of the first ones. Dictionaries are
/// installed when the tree is complete and durable, just before its adoption. Used by one thread at a time.
/// </remarks>
/// <param name="compression">How the values are compressed.</param>
/// <param name="stop">Cancels the training.</param>
internal sealed class LoadPacker(TreeCompression compression, CancellationToken stop) : TreePacker
{
    private readonly TreePacking _tree = new()
    {
        Settings = compression.Settings,
        Dictionary = compression.Newest?.Number ?? 0,
        Ratio = compression.Newest?.Ratio ?? 0,
    };

    private readonly List<TrainedDictionary> _trained = [];
    private readonly List<byte[]> _samples = [];
    private readonly Random _random = new(1);
    private readonly ValueStrings _strings = new();
    private byte[] _dictionary = compression.Newest?.Bytes ?? [];
    private DictionaryIndex? _index;
    private long _seen;

    /// <summary>The dictionaries that were trained, to be installed in this order.</summary>
    public IReadOnlyList<TrainedDictionary> Trained => _trained;

    /// <summary>The numbers of the dictionaries that values have.</summary>
    public IEnumerable<int> Numbers =>
        (compression.Newest == null ? [] : new[] { compression.Newest.Number }).Concat(_trained.Select(static trained => trained.Number));

    /// <summary>Notes a value that will be put. Each of them is among the samples with the same probability.</summary>
    public void Sample(ReadOnlySpan<byte> value)
    {
        if (value.Length is < PackedValue.LeastBytes or > TrainedDictionary.LongestSample)
            return;
        _seen++;
        if (_samples.Count < TrainedDictionary.Samples)
            _samples.Add(value.ToArray());
        else if (_random.NextInt64(_seen) is < TrainedDictionary.Samples and var place)
            _samples[(int)place] = value.ToArray();
    }

    protected override TreePacking Find(uint treeId) => _tree;

    protected override DictionaryIndex FindIndex(uint treeId, int number) => _index ??= new DictionaryIndex(_dictionary, _strings);

    protected override void Want(uint treeId)
    {
        var settings = _tree.Settings;
        var isThorough = settings.Mode == (byte)ValueCompression.Thorough;
        if (TrainedDictionary.TryTrain(settings.LastDictionary + 1, _samples, _dictionary, isThorough, stop) is not { } trained)
            return;
        _trained.Add(trained);
        settings.LastDictionary++;
        (_tree.Settings, _tree.Dictionary, _tree.Ratio) = (settings, trained.Number, trained.Ratio);
        (_dictionary, _index) = (trained.Bytes, null);
    }
}
