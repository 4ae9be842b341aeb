using System.Diagnostics;

namespace Voron.Trees.Pages;

/// <summary>A place between keys, for an end of a range. It allocates no memory, even for the place after all keys with a prefix.</summary>
/// <remarks>
/// The place is immediately before a byte string: the given bytes or the first of them, and possibly one more byte.
/// <code>
/// before "ab"                  "ab"
/// after "ab"                   "ab" 00          the smallest string above "ab"
/// after the prefix "ab"        "a" 63           the last byte below FF is incremented, the bytes after it are dropped
/// after the prefix FF FF       256              above every byte: no key is after this place
/// </code>
/// The default is before all keys, as is the place before the empty string: no key is empty.
/// </remarks>
internal readonly ref struct KeyBound
{
    private const int NoByte = -1;
    private const int AboveAllBytes = 256;

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly int _lastByte;

    private KeyBound(ReadOnlySpan<byte> bytes, int lastByte)
    {
        _bytes = bytes;
        _lastByte = lastByte;
    }

    /// <summary>The place after all keys.</summary>
    public static KeyBound End => new(default, AboveAllBytes);

    /// <summary>True if no key is before this place.</summary>
    public bool IsStart => _bytes.IsEmpty && _lastByte == 0;

    /// <summary>True if no key is after this place.</summary>
    public bool IsEnd => _lastByte == AboveAllBytes;

    /// <summary>The length of the string that follows this place. Not defined for the end.</summary>
    public int Length => _bytes.Length + (_lastByte == NoByte ? 0 : 1);

    /// <summary>Returns the place immediately before a key.</summary>
    public static KeyBound Before(ReadOnlySpan<byte> key) => new(key, key.IsEmpty ? 0 : NoByte);

    /// <summary>Returns the place immediately after a key.</summary>
    public static KeyBound After(ReadOnlySpan<byte> key) => new(key, 0);

    /// <summary>Returns the place immediately after all keys that begin with a prefix.</summary>
    public static KeyBound AfterPrefix(ReadOnlySpan<byte> prefix)
    {
        var raised = prefix.LastIndexOfAnyExcept(byte.MaxValue);
        return raised < 0 ? End : new KeyBound(prefix[..raised], prefix[raised] + 1);
    }

    /// <summary>Returns the string that follows this place, without a copy, if it consists of the caller's bytes alone.</summary>
    public bool TryGetBytes(out ReadOnlySpan<byte> bytes)
    {
        bytes = _bytes;
        return _lastByte == NoByte;
    }

    /// <summary>Copies the first bytes of the string that follows this place: keys below the string are before the place.</summary>
    public void CopyTo(scoped Span<byte> destination)
    {
        Debug.Assert(!IsEnd, "No string follows the last place.");
        _bytes[..Math.Min(_bytes.Length, destination.Length)].CopyTo(destination);
        if (_lastByte != NoByte && destination.Length > _bytes.Length)
            destination[_bytes.Length] = (byte)_lastByte;
    }

    /// <summary>Returns true if the key is before this place. The empty key is before every place.</summary>
    public bool IsAfter(scoped ReadOnlySpan<byte> key)
    {
        var order = key.SequenceCompareTo(_bytes);
        if (order <= 0)
            return order < 0 || _lastByte != NoByte;
        return _lastByte > 0 && key.StartsWith(_bytes) && key[_bytes.Length] < _lastByte;
    }

    /// <summary>Returns a negative number if this place is before the other, and 0 if no key can be between them.</summary>
    public int CompareTo(scoped KeyBound other)
    {
        if (_bytes.Length > other._bytes.Length)
            return -other.CompareTo(this);

        var order = _bytes.SequenceCompareTo(other._bytes[.._bytes.Length]);
        if (order != 0)
            return order;
        if (_bytes.Length == other._bytes.Length)
            return _lastByte.CompareTo(other._lastByte);
        if (_lastByte != other._bytes[_bytes.Length])
            return _lastByte.CompareTo(other._bytes[_bytes.Length]);
        return Length - other.Length;
    }
}
