using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Unicode;

namespace Voron.Tables;

/// <summary>Writes the fields of a row one after the other, for an <see cref="IRowCodec{TRow}"/>.</summary>
/// <remarks>
/// <para>
/// A row has two parts, each with its fields in the order in which they are written: numbers and times are in the fixed part; text, bytes and
/// everything else without a fixed size are in the variable part. The order between the two parts does not matter, but within each part it must be
/// the order in which <see cref="RowReader"/> reads. Types are not stored.
/// </para>
/// <para>
/// A fixed-size field has the same size for every value. If only such fields change, the row is updated in place, so put counters and states there.
/// Write the field that grows most last, because only the fields after it move.
/// </para>
/// <para>The writer allocates nothing once the buffers of the transaction are large enough for its rows.</para>
/// </remarks>
public readonly ref partial struct RowWriter
{
    /// <summary>Up to this length, reserving space for the longest encoding is cheaper than counting the bytes first.</summary>
    private const int ShortText = 256;

    private const int MaxBytesPerCharacter = 3;

    private readonly RowBuffer? _buffer;

    internal RowWriter(RowBuffer buffer) => _buffer = buffer;

    private RowBuffer Buffer
    {
        get
        {
            var buffer = _buffer;
            if (buffer == null)
                ThrowDefault();
            return buffer;
        }
    }

    /// <summary>Writes a text as a variable field: its UTF-8 bytes.</summary>
    /// <exception cref="ArgumentNullException">The text is null: see <see cref="WriteNullableString"/>.</exception>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate. Nothing was written.</exception>
    /// <inheritdoc cref="WriteBytes"/>
    public void WriteString(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        WriteString(value.AsSpan());
    }

    /// <summary>Writes a text as a variable field: its UTF-8 bytes.</summary>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate. Nothing was written.</exception>
    /// <inheritdoc cref="WriteBytes"/>
    public void WriteString(scoped ReadOnlySpan<char> value)
    {
        var buffer = Buffer;
        buffer.BeginField();
        var room = value.Length <= ShortText ? MaxBytesPerCharacter * value.Length : Encoding.UTF8.GetByteCount(value);
        var status = Utf8.FromUtf16(value, buffer.GetSpan(room), out var read, out var length, replaceInvalidSequences: false);
        if (status != OperationStatus.Done)
        {
            buffer.DiscardField();
            ThrowSurrogate(read, nameof(value));
        }

        buffer.Advance(length);
        buffer.EndField();
    }

    /// <summary>Writes a text or null as a variable field. An empty text is not null.</summary>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate. Nothing was written.</exception>
    /// <inheritdoc cref="WriteBytes"/>
    public void WriteNullableString(string? value)
    {
        if (value == null)
            WriteNull();
        else
            WriteString(value.AsSpan());
    }

    /// <summary>Writes bytes as a variable field.</summary>
    /// <exception cref="InvalidOperationException">
    /// A field that was begun with <see cref="BeginBytes"/> has not ended, the row already has 255 variable fields or exceeds the maximum length of
    /// an array, or the writer is the default value.
    /// </exception>
    public void WriteBytes(scoped ReadOnlySpan<byte> value)
    {
        var buffer = Buffer;
        buffer.BeginField();
        value.CopyTo(buffer.GetSpan(value.Length));
        buffer.Advance(value.Length);
        buffer.EndField();
    }

    /// <summary>Writes a null variable field, of text or of bytes.</summary>
    /// <inheritdoc cref="WriteBytes"/>
    public void WriteNull() => Buffer.AddNull();

    /// <summary>
    /// Begins a variable field of bytes whose length is not known in advance. It consists of everything that is written to the result until
    /// <see cref="EndBytes"/>; fixed-size fields can be written meanwhile.
    /// </summary>
    /// <returns>A buffer writer for this field only, for serializers. It must not be kept.</returns>
    /// <inheritdoc cref="WriteBytes"/>
    public IBufferWriter<byte> BeginBytes()
    {
        var buffer = Buffer;
        buffer.BeginField();
        return buffer;
    }

    /// <summary>Ends the field that <see cref="BeginBytes"/> has begun.</summary>
    /// <exception cref="InvalidOperationException">No field was begun, or the writer is the default value.</exception>
    public void EndBytes() => Buffer.EndField();

    [DoesNotReturn]
    private static void ThrowSurrogate(int index, string parameter) => throw new ArgumentException(
        $"The text has half of a surrogate pair at index {index}, which UTF-8 cannot represent.", parameter);

    [DoesNotReturn]
    private static void ThrowDefault() => throw new InvalidOperationException("The row writer is the default value: a table passes one to the codec.");
}
