using System.Text;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>
/// The entries added to a tree and removed from it ahead of a query, which returns the entries that existed when it began: otherwise, a query
/// whose caller moves each row ahead would never end.
/// </summary>
/// <remarks>
/// Its memory grows with the entries changed ahead of the query. A rollback to a savepoint needs no notification: only the first change counts.
/// </remarks>
internal sealed class ChangesAheadOfQuery : IEntryListener
{
    private readonly Dictionary<(long Id, string Key), bool> _wasThere = [];
    private byte[] _key = [];
    private int _keyLength;
    private long _id = -1;

    /// <summary>True if the query runs in descending order.</summary>
    public bool IsBackward { get; set; }

    /// <summary>Records the query's current entry.</summary>
    public void Move(ReadOnlySpan<byte> key, long id)
    {
        if (_key.Length < key.Length)
            _key = new byte[Math.Max(key.Length, 2 * _key.Length)];
        key.CopyTo(_key);
        (_keyLength, _id) = (key.Length, id);
    }

    /// <inheritdoc/>
    public void Note(ReadOnlySpan<byte> key, long id, bool wasThere)
    {
        if (IsAhead(key, id))
            _wasThere.TryAdd((id, Encoding.Latin1.GetString(key)), wasThere);
    }

    /// <summary>Returns whether an entry was added since the query began.</summary>
    public bool IsNew(ReadOnlySpan<byte> key, long id) =>
        _wasThere.Count > 0 && !PlantedFault.MeetMovedRows
        && _wasThere.TryGetValue((id, Encoding.Latin1.GetString(key)), out var wasThere) && !wasThere;

    private bool IsAhead(ReadOnlySpan<byte> key, long id)
    {
        if (_id < 0)
            return true;
        var order = key.SequenceCompareTo(_key.AsSpan(0, _keyLength));
        if (order == 0)
            order = id.CompareTo(_id);
        return IsBackward ? order < 0 : order > 0;
    }
}
