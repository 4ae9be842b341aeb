using System.Buffers;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>Copies one tree to another environment in key order, in as many transactions as the caller begins.</summary>
/// <remarks>
/// Each kind of tree defines its entries. The position in the snapshot stays on the first entry not yet copied. The tree of the copy is opened in
/// each transaction, and created in the first one, even if there are no entries.
/// </remarks>
internal abstract class TreeCopy : IDisposable
{
    /// <summary>False when all entries have been copied.</summary>
    public bool HasMore { get; protected set; }

    /// <summary>Begins to copy a tree of a snapshot.</summary>
    /// <param name="reading">The snapshot, which stays open until the copying has ended.</param>
    /// <param name="name">The bytes of the tree's name.</param>
    /// <param name="kind">The kind of the tree.</param>
    public static TreeCopy Begin(ReadTransaction reading, byte[] name, TreeKind kind) => kind switch
    {
        TreeKind.Plain => new OfEntries(reading, name),
        TreeKind.FixedSize => new OfFixedValues(reading, Catalog.Decode(name)),
        TreeKind.IdSets => new OfIdSets(reading, name),
        TreeKind.ValueSets => new OfValueSets(reading, Catalog.Decode(name)),
    };

    /// <summary>Copies the next entries.</summary>
    /// <param name="writing">A transaction of the copy.</param>
    /// <param name="most">The number of bytes after which no further entry is copied.</param>
    /// <param name="stop">Ends the call between two entries.</param>
    /// <returns>The number of bytes copied.</returns>
    public long CopySome(WriteTransaction writing, long most, CancellationToken stop)
    {
        OpenCopy(writing);
        var bytes = 0L;
        for (; HasMore && bytes < most; HasMore = MoveNext())
        {
            stop.ThrowIfCancellationRequested();
            bytes += PutCurrent();
        }

        return bytes;
    }

    public abstract void Dispose();

    /// <summary>Opens the tree of the copy, and creates it if it is missing.</summary>
    protected abstract void OpenCopy(WriteTransaction writing);

    /// <summary>Puts the current entry into the opened copy.</summary>
    /// <returns>The number of its bytes.</returns>
    protected abstract long PutCurrent();

    /// <summary>Moves to the next entry; false at the end of the tree.</summary>
    protected abstract bool MoveNext();

    /// <summary>A tree of keys and values.</summary>
    private sealed class OfEntries : TreeCopy
    {
        private readonly byte[] _name;
        private readonly Cursor _cursor;
        private WriteTree _copy;

        public OfEntries(ReadTransaction reading, byte[] name)
        {
            _name = name;
            _ = reading.TryFindTree(name, out Tree tree);
            _cursor = tree.OpenCursor();
            HasMore = _cursor.SeekFirst();
        }

        public override void Dispose() => _cursor.Dispose();

        protected override void OpenCopy(WriteTransaction writing) => _copy = writing.CreateSystemTree(_name);

        protected override long PutCurrent()
        {
            _copy.Put(_cursor.Key, _cursor.Value);
            return _cursor.Key.Length + _cursor.ValueLength;
        }

        protected override bool MoveNext() => _cursor.MoveNext();
    }

    /// <summary>A fixed-size tree.</summary>
    private sealed class OfFixedValues : TreeCopy
    {
        private readonly FixedTree _tree;
        private readonly FixedCursor _cursor;
        private WriteFixedTree _copy;

        public OfFixedValues(ReadTransaction reading, string name)
        {
            _tree = reading.OpenFixedTree(name);
            _cursor = _tree.OpenCursor();
            HasMore = _cursor.SeekFirst();
        }

        public override void Dispose() => _cursor.Dispose();

        protected override void OpenCopy(WriteTransaction writing) => _copy = writing.CreateFixedTree(_tree.Name, _tree.ValueSize);

        protected override long PutCurrent()
        {
            _copy.Put(_cursor.Key, _cursor.Value);
            return ArrayKey.Size + _cursor.Value.Length;
        }

        protected override bool MoveNext() => _cursor.MoveNext();
    }

    /// <summary>A tree of id sets. An entry is a part of a set: a large set takes several transactions.</summary>
    private sealed class OfIdSets : TreeCopy
    {
        private const int IdsAtOnce = 2048;

        private readonly byte[] _name;
        private readonly IdKeyCursor _keys;
        private readonly long[] _ids = ArrayPool<long>.Shared.Rent(IdsAtOnce);
        private readonly byte[] _payloads = ArrayPool<byte>.Shared.Rent(IdsAtOnce);
        private WriteIdTree _copy;

        // The ids of the current key, and the next part of them.
        private IdCursor _set;
        private int _count;
        private bool _isFirstOfKey;

        public OfIdSets(ReadTransaction reading, byte[] name)
        {
            _name = name;
            _ = reading.TryFindTree(name, out IdTree tree);
            _keys = tree.OpenCursor();
            HasMore = _keys.SeekFirst() && BeginKey();
        }

        public override void Dispose()
        {
            _set.Dispose();
            _keys.Dispose();
            ArrayPool<long>.Shared.Return(_ids);
            ArrayPool<byte>.Shared.Return(_payloads);
        }

        protected override void OpenCopy(WriteTransaction writing) => _copy = writing.CreateSystemIdTree(_name);

        protected override long PutCurrent()
        {
            var ids = _ids.AsSpan(0, _count);
            var payloads = _payloads.AsSpan(0, _count);
            _copy.AddMany(_keys.Key, ids, payloads);
            return (_isFirstOfKey ? _keys.Key.Length : 0) + IdBlock.PackedBytes(ids, payloads);
        }

        protected override bool MoveNext()
        {
            _isFirstOfKey = false;
            return Fill() || (_keys.MoveNext() && BeginKey());
        }

        private bool BeginKey()
        {
            _set.Dispose();
            _set = _keys.OpenIds();
            _isFirstOfKey = true;
            if (!_set.SeekFirst() || !Fill())
                throw new CorruptionException($"The set of key {KeyText.Of(_keys.Key)} is empty, but a key is deleted with the last id of its set.");
            return true;
        }

        private bool Fill() => (_count = _set.Fill(_ids.AsSpan(0, IdsAtOnce), _payloads.AsSpan(0, IdsAtOnce))) > 0;
    }

    /// <summary>A tree of value sets. An entry is a value with its key: a large set takes several transactions.</summary>
    private sealed class OfValueSets : TreeCopy
    {
        private readonly string _name;
        private readonly ValueSetCursor _cursor;
        private WriteValueSetTree _copy;

        public OfValueSets(ReadTransaction reading, string name)
        {
            _name = name;
            _cursor = reading.OpenValueSetTree(name).OpenCursor();
            HasMore = _cursor.SeekFirst();
        }

        public override void Dispose() => _cursor.Dispose();

        protected override void OpenCopy(WriteTransaction writing) => _copy = writing.CreateValueSetTree(_name);

        protected override long PutCurrent()
        {
            _copy.Add(_cursor.Key, _cursor.Value);
            return _cursor.Value.Length;
        }

        protected override bool MoveNext() => _cursor.MoveNext();
    }
}
