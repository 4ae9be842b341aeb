namespace Voron.Simulation.Disks;

/// <summary>
/// The bytes of a simulated file: references to blocks, which never change once they are part of it. So a copy only needs an array of
/// references, and only when one of the two is changed. A null block is a hole. Blocks may lie beyond <see cref="Length"/> (after a durable
/// write whose length is not durable yet); they are cut off when an image is made.
/// </summary>
internal sealed class BlockContent
{
    public const int BlockSize = 4096;

    /// <summary>A block that is allocated but holds only zeros.</summary>
    public static readonly byte[] ZeroBlock = new byte[BlockSize];

    private byte[]?[] _blocks = [];
    private bool _shared;

    /// <summary>The length in bytes.</summary>
    public long Length { get; set; }

    /// <summary>The number of blocks that have space allocated.</summary>
    public int BlockCount { get; private set; }

    public BlockContent Clone()
    {
        _shared = true;
        return new BlockContent { _blocks = _blocks, _shared = true, Length = Length, BlockCount = BlockCount };
    }

    public byte[]? BlockAt(long index) => index < _blocks.Length ? _blocks[index] : null;

    public void SetBlock(long index, byte[]? block)
    {
        if (ReferenceEquals(BlockAt(index), block))
            return;
        if (index >= _blocks.Length)
        {
            Array.Resize(ref _blocks, (int)Math.Max(index + 1, _blocks.Length + _blocks.Length / 2));
            _shared = false;
        }
        else if (_shared)
        {
            _blocks = (byte[]?[])_blocks.Clone();
            _shared = false;
        }
        BlockCount += (block is null ? 0 : 1) - (_blocks[index] is null ? 0 : 1);
        _blocks[index] = block;
    }

    /// <summary>Returns the number of blocks within a range of bytes that are holes.</summary>
    public int CountHoles(long offset, long length)
    {
        var holes = 0;
        for (var i = offset / BlockSize; i * BlockSize < offset + length; i++)
            holes += BlockAt(i) is null ? 1 : 0;
        return holes;
    }

    public void FillHoles(long offset, long length)
    {
        for (var i = offset / BlockSize; i * BlockSize < offset + length; i++)
        {
            if (BlockAt(i) is null)
                SetBlock(i, ZeroBlock);
        }
    }

    /// <summary>Applies the bytes of a fragment. Space that stays a hole, or that a punch covers in full, has no block.</summary>
    public void Apply(in Fragment fragment)
    {
        if (fragment.IsWholeBlock)
        {
            SetBlock(fragment.Block, fragment.Bytes);
            return;
        }
        var old = BlockAt(fragment.Block);
        if (old is null && fragment.Bytes is null)
            return;
        var block = old is null ? new byte[BlockSize] : (byte[])old.Clone();
        fragment.CopyTo(block.AsSpan(fragment.Start, fragment.Length), 0);
        SetBlock(fragment.Block, block);
    }

    /// <summary>Sets the length. Bytes that are cut off read as zeros if the file grows again.</summary>
    public void Cut(long length)
    {
        for (var i = (length + BlockSize - 1) / BlockSize; i < _blocks.Length; i++)
            SetBlock(i, null);
        var kept = (int)(length % BlockSize);
        if (kept != 0)
            Apply(new Fragment(length / BlockSize, kept, BlockSize - kept, null, 0));
        Length = length;
    }

    /// <summary>Copies a range of bytes out; the range may extend beyond the length, where there are zeros.</summary>
    public void Read(long offset, Span<byte> destination)
    {
        while (destination.Length > 0)
        {
            var start = (int)(offset % BlockSize);
            var length = Math.Min(BlockSize - start, destination.Length);
            if (BlockAt(offset / BlockSize) is { } block)
                block.AsSpan(start, length).CopyTo(destination);
            else
                destination[..length].Clear();
            offset += length;
            destination = destination[length..];
        }
    }

    public byte[] ToArray()
    {
        var bytes = new byte[Length];
        Read(0, bytes);
        return bytes;
    }
}

/// <summary>The part of a write that falls into one block. <see cref="Bytes"/> is null for zeros without a block (a punch).</summary>
/// <param name="Block">The index of the block.</param>
/// <param name="Start">The offset within the block, in bytes.</param>
/// <param name="Length">The length in bytes.</param>
/// <param name="Bytes">Never changed; a whole block is shared with the contents to which it is applied.</param>
/// <param name="BytesStart">The offset in <see cref="Bytes"/> at which the fragment begins.</param>
internal readonly record struct Fragment(long Block, int Start, int Length, byte[]? Bytes, int BytesStart)
{
    public int End => Start + Length;

    public bool IsWholeBlock => Length == BlockContent.BlockSize && (Bytes is null || Bytes.Length == BlockContent.BlockSize);

    public Fragment Part(int start, int end) => new(Block, start, end - start, Bytes, Bytes is null ? 0 : BytesStart + start - Start);

    /// <summary>Copies bytes of the fragment, beginning <paramref name="skip"/> bytes into it.</summary>
    public void CopyTo(Span<byte> destination, int skip)
    {
        if (Bytes is null)
            destination.Clear();
        else
            Bytes.AsSpan(BytesStart + skip, destination.Length).CopyTo(destination);
    }

    /// <summary>Splits a write into fragments that hold copies of its bytes.</summary>
    public static List<Fragment> Split(long offset, ReadOnlySpan<byte> source)
    {
        var fragments = new List<Fragment>(source.Length / BlockContent.BlockSize + 2);
        while (source.Length > 0)
        {
            var start = (int)(offset % BlockContent.BlockSize);
            var length = Math.Min(BlockContent.BlockSize - start, source.Length);
            fragments.Add(new Fragment(offset / BlockContent.BlockSize, start, length, source[..length].ToArray(), 0));
            offset += length;
            source = source[length..];
        }
        return fragments;
    }

    /// <summary>Returns fragments of zeros over a range, as a punched hole leaves them.</summary>
    public static List<Fragment> Zeros(long offset, long length)
    {
        var fragments = new List<Fragment>();
        for (var end = offset + length; offset < end;)
        {
            var start = (int)(offset % BlockContent.BlockSize);
            var part = (int)Math.Min(BlockContent.BlockSize - start, end - offset);
            fragments.Add(new Fragment(offset / BlockContent.BlockSize, start, part, null, 0));
            offset += part;
        }
        return fragments;
    }
}
