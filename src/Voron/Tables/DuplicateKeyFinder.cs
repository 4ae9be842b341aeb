using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Voron.Tables;

/// <summary>Finds keys that two rows share, in memory that does not grow with the table.</summary>
/// <remarks>
/// Keeps half of the SHA-256 hash of each key. When there are too many hashes, it keeps every second one, selected by the last bits, and leaves the
/// others to further passes over all rows.
/// </remarks>
/// <param name="mostKeys">The maximum number of keys to keep, at 40 bytes each.</param>
/// <param name="mostFound">The maximum number of row pairs to return.</param>
internal sealed class DuplicateKeyFinder(int mostKeys, int mostFound)
{
    private readonly List<Entry> _entries = [];
    private readonly HashSet<(int Slot, long First, long Second)> _found = [];
    private ulong _parts = 1;
    private ulong _part;

    /// <summary>Adds a key of a row.</summary>
    public void Add(int slot, ReadOnlySpan<byte> key, long rowId)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(key, hash);
        var entry = new Entry(BinaryPrimitives.ReadUInt64LittleEndian(hash), BinaryPrimitives.ReadUInt64LittleEndian(hash[8..]), slot, rowId);
        if (!IsOfPart(entry))
            return;
        _entries.Add(entry);
        if (_entries.Count < mostKeys)
            return;
        TakeDuplicates();
        while (_entries.Count > mostKeys / 2)
        {
            _parts *= 2;
            _entries.RemoveAll(kept => !IsOfPart(kept));
        }
    }

    /// <summary>Ends a pass over all rows. Returns false if it was the last one; otherwise the caller adds all rows again.</summary>
    public bool TryBeginNextPass()
    {
        TakeDuplicates();
        _entries.Clear();

        // The half that was dropped when a part was split is left to a later pass, as a separate part.
        return ++_part < _parts;
    }

    /// <summary>The row pairs that share a key in an index, the lower row id first.</summary>
    public IEnumerable<(int Slot, long First, long Second)> Found => _found.OrderBy(pair => pair.Second);

    // Keeps one entry per key.
    private void TakeDuplicates()
    {
        _entries.Sort();
        var kept = 0;
        for (var i = 1; i < _entries.Count; i++)
        {
            if (!_entries[i].HasKeyOf(_entries[kept]))
                _entries[++kept] = _entries[i];
            else if (_found.Count < mostFound && _entries[i].RowId != _entries[kept].RowId)
                _found.Add((_entries[i].Slot, _entries[kept].RowId, _entries[i].RowId));
        }

        if (_entries.Count > 0)
            _entries.RemoveRange(kept + 1, _entries.Count - kept - 1);
    }

    private bool IsOfPart(Entry entry) => entry.Low % _parts == _part;

    private readonly record struct Entry(ulong Low, ulong High, int Slot, long RowId) : IComparable<Entry>
    {
        public bool HasKeyOf(Entry other) => Low == other.Low && High == other.High && Slot == other.Slot;

        public int CompareTo(Entry other) => (Low, High, Slot, RowId).CompareTo((other.Low, other.High, other.Slot, other.RowId));
    }
}
