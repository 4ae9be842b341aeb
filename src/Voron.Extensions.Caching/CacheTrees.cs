using System.Buffers;
using System.Buffers.Binary;

namespace Voron.Extensions.Caching;

/// <summary>
/// The entries of a cache in a write transaction: a tree of values behind their times, and an index of the same keys behind the time of their
/// expiration.
/// </summary>
internal readonly ref struct CacheTrees
{
    private const int IndexKeyLength = sizeof(long) + CacheKey.MaxLength;

    private readonly WriteTree _entries;
    private readonly WriteTree _expiry;

    public CacheTrees(WriteTransaction writing, VoronCacheOptions options)
    {
        writing.Durability = options.Durability;
        _entries = writing.CreateTree(options.TreeName);
        _expiry = writing.CreateTree(ExpiryName(options));
    }

    public static string ExpiryName(VoronCacheOptions options) => $"{options.TreeName}.expiry";

    /// <summary>Sets an entry, and returns the number of bytes by which the values have grown.</summary>
    public long Set(ReadOnlySpan<byte> key, CacheEntryTimes times, in ReadOnlySequence<byte> value)
    {
        var length = checked((int)(CacheEntryTimes.Size + value.Length));
        var entry = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            times.Write(entry);
            value.CopyTo(entry.AsSpan(CacheEntryTimes.Size));
            var removed = RemoveFromIndex(key);
            _entries.Put(key, entry.AsSpan(0, length));
            AddToIndex(key, times.Expires);
            return value.Length - removed;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(entry);
        }
    }

    /// <summary>Removes an entry, and returns the number of bytes of its value.</summary>
    public long Remove(ReadOnlySpan<byte> key)
    {
        var removed = RemoveFromIndex(key);
        _entries.Delete(key);
        return removed;
    }

    /// <summary>Notes an access to an entry, unless the entry has gone or does not slide.</summary>
    public void Touch(ReadOnlySpan<byte> key, long accessedAt)
    {
        if (!_entries.TryGet(key, out var entry) || CacheEntryTimes.Read(entry) is not { Sliding: > 0 } times)
            return;
        var moved = times.AccessedAt(accessedAt);
        if (moved.Expires <= times.Expires)
            return;

        // The value is the same, but the spans of a transaction end with its next write.
        Set(key, moved, new ReadOnlySequence<byte>(entry[CacheEntryTimes.Size..].ToArray()));
    }

    /// <summary>Removes entries that expire first.</summary>
    /// <param name="expiredAt">Those that expire at this time or earlier are removed.</param>
    /// <param name="excessBytes">Others are removed too until this number of bytes of values has gone.</param>
    /// <param name="limit">The maximum number of entries to remove.</param>
    /// <returns>The number of entries removed, and of bytes of their values.</returns>
    public (int Entries, long Bytes) RemoveFirst(long expiredAt, long excessBytes, int limit)
    {
        var count = 0;
        var bytes = 0L;
        Span<byte> buffer = stackalloc byte[IndexKeyLength];
        using var cursor = _expiry.OpenCursor();
        while (count < limit && cursor.SeekFirst())
        {
            if (BinaryPrimitives.ReadInt64BigEndian(cursor.Key) > expiredAt && bytes >= excessBytes)
                break;
            var indexKey = buffer[..cursor.Key.Length];
            cursor.Key.CopyTo(indexKey);
            bytes += Remove(indexKey[sizeof(long)..]);
            count++;

            // An entry of the index that belongs to no value must not be found again.
            _expiry.Delete(indexKey);
        }

        return (count, bytes);
    }

    private long RemoveFromIndex(ReadOnlySpan<byte> key)
    {
        if (!_entries.TryGet(key, out var entry))
            return 0;
        var length = entry.Length - CacheEntryTimes.Size;
        Span<byte> indexKey = stackalloc byte[IndexKeyLength];
        _expiry.Delete(IndexKey(key, CacheEntryTimes.Read(entry).Expires, indexKey));
        return length;
    }

    private void AddToIndex(ReadOnlySpan<byte> key, long expires)
    {
        Span<byte> indexKey = stackalloc byte[IndexKeyLength];
        _expiry.Put(IndexKey(key, expires, indexKey), default);
    }

    private static ReadOnlySpan<byte> IndexKey(ReadOnlySpan<byte> key, long expires, Span<byte> buffer)
    {
        BinaryPrimitives.WriteInt64BigEndian(buffer, expires);
        key.CopyTo(buffer[sizeof(long)..]);
        return buffer[..(sizeof(long) + key.Length)];
    }
}
