using System.Runtime.InteropServices;

namespace Voron.Documents.Text;

/// <summary>The numbers of words of documents, many in each value of a fixed-size tree, so that a query finds those of neighbours at once.</summary>
internal ref struct LengthBlocks
{
    /// <summary>The size of a value: an eighth of the smallest page.</summary>
    public const int BytesPerBlock = 512;

    private const int LengthsPerBlock = BytesPerBlock / sizeof(int);

    private readonly WriteFixedTree _tree;
    private readonly int[] _block = new int[LengthsPerBlock];
    private long _key = -1;

    /// <param name="tree">The tree, to change it.</param>
    public LengthBlocks(WriteFixedTree tree) => _tree = tree;

    /// <summary>Sets the length of a document. <see cref="Save"/> must follow.</summary>
    /// <returns>The length that it had.</returns>
    public int Set(long number, int length)
    {
        var (key, at) = PlaceOf(number);
        if (key != _key)
        {
            Save();
            _key = key;
            if (!_tree.TryCopyTo(key, MemoryMarshal.AsBytes(_block.AsSpan())))
                Array.Clear(_block);
        }

        var before = _block[at];
        _block[at] = length;
        return before;
    }

    public readonly void Save()
    {
        if (_key < 0)
            return;
        if (_block.AsSpan().IndexOfAnyExcept(0) < 0)
            _tree.Delete(_key);
        else
            _tree.Put(_key, MemoryMarshal.AsBytes(_block.AsSpan()));
    }

    private static (long Key, int At) PlaceOf(long number) => (number / LengthsPerBlock, (int)(number % LengthsPerBlock));

    /// <summary>Reads the lengths of documents.</summary>
    /// <param name="tree">The tree.</param>
    internal struct Reader(FixedTree tree)
    {
        private readonly int[] _block = new int[LengthsPerBlock];
        private long _key = -1;

        /// <summary>Returns the length of a document; 0 if it has none.</summary>
        public int Get(long number)
        {
            var (key, at) = PlaceOf(number);
            if (key != _key)
            {
                if (!tree.TryCopyTo(key, MemoryMarshal.AsBytes(_block.AsSpan())))
                    Array.Clear(_block);
                _key = key;
            }

            return _block[at];
        }
    }
}
