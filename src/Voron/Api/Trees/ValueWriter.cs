using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// Writes a value of unknown length, piece by piece: a buffer writer for <c>Utf8JsonWriter</c>, <c>Encoding.GetBytes</c> and serializers.
/// </summary>
/// <remarks>
/// <para>
/// The bytes become the value of the key when <see cref="Complete"/> is called; <see cref="Dispose"/> without it discards them. Until then, the tree
/// does not change and cannot be deleted, and the transaction can neither be committed nor create a savepoint. A rollback ends the writer. A value of
/// 256 KiB or more is written to the data file as it grows, if it is a large one (<see cref="StorageOptions.LargeValueBytes"/>); otherwise the bytes
/// are collected in a pooled buffer and copied to their page once.
/// </para>
/// <para>
/// A handle: copies refer to the same writer, and after its end each of them throws. It is not a <c>ref struct</c>, because <c>Utf8JsonWriter</c>
/// keeps its buffer writer in a field, as an interface. Converting the handle to that interface allocates one small object; everything else allocates
/// nothing once the pools are filled.
/// </para>
/// <example>
/// <code>
/// using (var writer = tree.OpenWriter(key))
/// {
///     using (var json = new Utf8JsonWriter(writer))
///         JsonSerializer.Serialize(json, document);
///     writer.Complete();
/// }
/// </code>
/// </example>
/// </remarks>
public readonly struct ValueWriter : IBufferWriter<byte>, IDisposable
{
    private readonly ValueWriterLease _lease;
    private readonly long _generation;

    internal ValueWriter(ValueWriterLease lease)
    {
        _lease = lease;
        _generation = lease.Generation;
    }

    /// <summary>The number of bytes written so far.</summary>
    /// <exception cref="ObjectDisposedException">The writer was completed or disposed, or its transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">The transaction was rolled back to a savepoint while the writer was open.</exception>
    public long WrittenCount => Lease.Length(_generation);

    private ValueWriterLease Lease
    {
        get
        {
            var lease = _lease;
            if (lease == null)
                ThrowDefault();
            return lease;
        }
    }

    /// <summary>Adds the first bytes of the most recently returned span or memory.</summary>
    /// <param name="count">The number of bytes.</param>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="InvalidOperationException">
    /// The span is shorter, the value would have more than 2,147,483,647 bytes, or the transaction was rolled back to a savepoint.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <inheritdoc cref="WrittenCount"/>
    public void Advance(int count) => Lease.Advance(_generation, count);

    /// <summary>Returns memory for the next bytes.</summary>
    /// <param name="sizeHint">The minimum length in bytes; 0 for any length above 0.</param>
    /// <returns>Memory that is valid until the next call of any method of the writer. Its content is undefined.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The size is negative.</exception>
    /// <inheritdoc cref="Advance"/>
    public Memory<byte> GetMemory(int sizeHint = 0) => Lease.GetRoom(_generation, sizeHint);

    /// <summary>Returns a span for the next bytes.</summary>
    /// <returns>A span that is valid until the next call of any method of the writer. Its content is undefined.</returns>
    /// <inheritdoc cref="GetMemory"/>
    public Span<byte> GetSpan(int sizeHint = 0) => Lease.GetRoom(_generation, sizeHint).Span;

    /// <summary>Adds bytes.</summary>
    /// <param name="bytes">The bytes, which may be a value of the same tree.</param>
    /// <exception cref="InvalidOperationException">
    /// The value would have more than 2,147,483,647 bytes, and none of these were added; or the transaction was rolled back to a savepoint.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <inheritdoc cref="WrittenCount"/>
    public void Write(ReadOnlySpan<byte> bytes) => Lease.Write(_generation, bytes);

    /// <summary>Sets the value of the key to the bytes written, and ends the writer, whether or not this succeeds.</summary>
    /// <remarks>A <c>Utf8JsonWriter</c> holds bytes back: flush or dispose of it first.</remarks>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <inheritdoc cref="WrittenCount"/>
    public void Complete() => Lease.Complete(_generation);

    /// <summary>Ends the writer, and discards the bytes unless they have become the value. Further calls do nothing.</summary>
    public void Dispose() => _lease?.Dispose(_generation);

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("value writer", nameof(WriteTree.OpenWriter));
}
