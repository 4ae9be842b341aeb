using System.Buffers;
using System.Runtime.CompilerServices;
using Voron.Compression;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Reads compressed values.</summary>
internal static unsafe class PackedReader
{
    /// <summary>Decompresses the value of a record into the memory of the transaction, where it remains until the transaction ends.</summary>
    /// <inheritdoc cref="Unpack"/>
    /// <exception cref="InvalidOperationException">The transaction has read too many compressed values.</exception>
    public static ReadOnlySpan<byte> Read(PageReader reader, byte* record, uint treeId)
    {
        if (reader.Unpacker is not { } unpacker)
            throw Damaged(reader, record, treeId, "it can only be read in a transaction");
        var value = unpacker.Arena.Rent(LeafPage.Packed(record)->Length);
        Unpack(reader, record, treeId, value);
        return value;
    }

    /// <summary>Copies a part of a value. The whole value is decompressed, but not kept in memory.</summary>
    /// <inheritdoc cref="Unpack"/>
    public static void Copy(PageReader reader, byte* record, uint treeId, long offset, Span<byte> destination)
    {
        var length = LeafPage.Packed(record)->Length;
        if (offset == 0 && destination.Length == length)
        {
            Unpack(reader, record, treeId, destination);
            return;
        }

        var value = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            Unpack(reader, record, treeId, value.AsSpan(0, length));
            value.AsSpan((int)offset, destination.Length).CopyTo(destination);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(value);
        }
    }

    /// <summary>Returns whether a value equals certain bytes. The value is not kept in memory.</summary>
    /// <inheritdoc cref="Unpack"/>
    public static bool HasBytes(PageReader reader, byte* record, uint treeId, ReadOnlySpan<byte> expected)
    {
        if (LeafPage.Packed(record)->Length != expected.Length)
            return false;
        var value = ArrayPool<byte>.Shared.Rent(expected.Length);
        try
        {
            Unpack(reader, record, treeId, value.AsSpan(0, expected.Length));
            return value.AsSpan(0, expected.Length).SequenceEqual(expected);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(value);
        }
    }

    /// <summary>Decompresses the value of a record.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record of a compressed value.</param>
    /// <param name="treeId">The id of the tree.</param>
    /// <param name="value">Receives the value. Its length is that in the record.</param>
    /// <exception cref="CorruptionException">The value is damaged, or the tree lacks the dictionary that the value requires.</exception>
    public static void Unpack(PageReader reader, byte* record, uint treeId, Span<byte> value)
    {
        var packed = LeafPage.Packed(record);
        var dictionary = default(ReadOnlySpan<byte>);
        if (packed->Dictionary != 0)
        {
            if (reader.Unpacker?.Find(treeId, packed->Dictionary) is not { } found)
                throw Damaged(reader, record, treeId, $"dictionary {packed->Dictionary} of the tree is missing or damaged");
            dictionary = found.Bytes;
        }

        if (ValueDecoder.Decompress(Block(reader, record), dictionary, value) != value.Length)
            throw Damaged(reader, record, treeId, $"its bytes do not decompress to {value.Length} bytes with dictionary {packed->Dictionary}");
    }

    private static ReadOnlySpan<byte> Block(PageReader reader, byte* record)
    {
        if (LeafPage.Overflow(record) is var reference && reference == null)
            return new ReadOnlySpan<byte>(LeafPage.InlineBytes(record) + PackedValue.Size, LeafPage.InlineLength(record) - PackedValue.Size);
        var bytes = TreePages.ReadExtent(reader, new PageNumber(reference->FirstPage), reference->Length);
        return new ReadOnlySpan<byte>(bytes + PageHeader.Size, (int)reference->Length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static CorruptionException Damaged(PageReader reader, byte* record, uint treeId, string what) => new(
        $"The compressed value of key {KeyText.Of(LeafPage.Key(record))} in the tree with id {treeId} of '{reader.FilePath}' cannot be read: {what}. " +
        "Run Verify, or restore a backup.");
}
