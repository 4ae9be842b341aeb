namespace Voron.Tables;

/// <summary>A copy of a key, whose memory is reused for the next key.</summary>
internal struct KeyCopy
{
    private const int LeastBytes = 32;

    private byte[]? _bytes;
    private int _length;

    /// <summary>The key; empty if none was taken. Valid until the next one is taken.</summary>
    public readonly ReadOnlySpan<byte> Value => _bytes.AsSpan(0, _length);

    /// <summary>Copies a key.</summary>
    public void Take(ReadOnlySpan<byte> key)
    {
        if (_bytes == null || _bytes.Length < key.Length)
            _bytes = new byte[Math.Max(key.Length, 2 * (_bytes?.Length ?? LeastBytes / 2))];
        key.CopyTo(_bytes);
        _length = key.Length;
    }
}
