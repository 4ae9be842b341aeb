using System.Runtime.InteropServices;
using Voron.Compression;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>Compresses values with the newest dictionaries of their trees.</summary>
/// <remarks>
/// A value is compressed if that saves an eighth of it. It is then stored in the leaf if it fits; otherwise, compression must also save a page.
/// </remarks>
internal abstract class TreePacker : ValuePacker
{
    private const int LeastPart = 8;

    private byte[] _output = [];

    /// <inheritdoc/>
    public override NewValue Pack(uint treeId, long treePages, int pageSize, int keyLength, ReadOnlySpan<byte> value)
    {
        var tree = Find(treeId);
        if (tree.Settings.Mode == 0)
            return new NewValue(pageSize, keyLength, value);
        if (_output.Length == 0)
            _output = GC.AllocateUninitializedArray<byte>(PackedValue.MostBytes);
        var most = value.Length - value.Length / LeastPart;
        var dictionary = tree.Dictionary;
        var block = ValueEncoder.Compress(
            FindIndex(treeId, dictionary), value, _output.AsSpan(PackedValue.Size, most - PackedValue.Size),
            tree.Settings.Mode == (byte)ValueCompression.Thorough);
        var packed = block == 0 ? value.Length : PackedValue.Size + block;
        if (tree.Note(value.Length, packed, treePages * pageSize))
            Want(treeId);
        var isInline = TreeLimits.IsInline(pageSize, keyLength, packed);
        if (block == 0 || (!isInline && TreeLimits.OverflowPages(pageSize, block) >= TreeLimits.OverflowPages(pageSize, value.Length)))
            return new NewValue(pageSize, keyLength, value);
        var header = new PackedValue
        {
            Form = isInline ? ExtendedForm.Packed : ExtendedForm.PackedOutside,
            Codec = PackedValue.Lz4,
            Dictionary = (byte)dictionary,
            Length = value.Length,
        };
        MemoryMarshal.Write(_output, header);
        return NewValue.Packed(header, _output.AsSpan(0, packed));
    }

    /// <summary>Returns how the values of a tree are compressed.</summary>
    protected abstract TreePacking Find(uint treeId);

    /// <summary>Returns a dictionary of a tree; one without bytes for the number 0.</summary>
    protected abstract DictionaryIndex FindIndex(uint treeId, int number);

    /// <summary>Notes that a tree should get a dictionary.</summary>
    protected abstract void Want(uint treeId);
}
