using System.Buffers;
using System.Text.Json;

namespace Voron.Documents.Scanning;

/// <summary>The text of a value of JSON in UTF-8, without escapes; of a number, as it is written.</summary>
/// <remarks>A text with half of a surrogate pair, which JSON allows as an escape and UTF-8 cannot have, stays as it is written.</remarks>
internal ref struct JsonText : IDisposable
{
    private byte[]? _rented;

    /// <param name="value">A reader on the value, which is not read from several buffers.</param>
    public JsonText(ref Utf8JsonReader value)
    {
        if (!value.ValueIsEscaped)
        {
            Bytes = value.ValueSpan;
            return;
        }

        _rented = ArrayPool<byte>.Shared.Rent(value.ValueSpan.Length);
        try
        {
            Bytes = _rented.AsSpan(0, value.CopyString(_rented));
        }
        catch (InvalidOperationException)
        {
            Bytes = value.ValueSpan;
        }
    }

    /// <summary>The bytes. Valid until the object is disposed.</summary>
    public ReadOnlySpan<byte> Bytes { get; private set; }

    public void Dispose()
    {
        if (_rented == null)
            return;
        ArrayPool<byte>.Shared.Return(_rented);
        _rented = null;
        Bytes = default;
    }
}
