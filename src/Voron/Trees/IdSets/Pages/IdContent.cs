using Voron.Format;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Ids that replace existing blocks, in at most two new blocks.</summary>
/// <param name="ids">The ids, in ascending order.</param>
/// <param name="payloads">The payloads.</param>
/// <param name="count">Their number, at most that of two full blocks.</param>
/// <param name="isAtEnd">
/// True if the ids are the last ones of a set that grows at its end. The first block is then filled, and the last block becomes or remains the tail.
/// </param>
internal readonly unsafe ref struct IdContent(long* ids, byte* payloads, int count, bool isAtEnd)
{
    public const int MaxIds = 2 * IdBlockShape.MaxIds;

    private readonly long* _ids = ids;
    private readonly byte* _payloads = payloads;
    private readonly int _count = count;
    private readonly bool _isAtEnd = isAtEnd;

    /// <summary>The number of blocks: 0 if there are no ids.</summary>
    public int Blocks => (_count + IdBlockShape.MaxIds - 1) / IdBlockShape.MaxIds;

    public static IdContent None => default;

    public long* Ids(int block) => _ids + From(block);

    public byte* Payloads(int block) => _payloads + From(block);

    public IdBlockShape Shape(int block)
    {
        var shape = IdBlock.Measure(Ids(block), Payloads(block), From(block + 1) - From(block));
        if (!_isAtEnd || block + 1 != Blocks || shape.Count == IdBlockShape.MaxIds || shape.GapWidth > IdBlockShape.LargeTailGapWidth)
            return shape;
        var width = shape.GapWidth <= IdBlockShape.TailGapWidth ? IdBlockShape.TailGapWidth : IdBlockShape.LargeTailGapWidth;
        return new IdBlockShape(shape.Count, width, IdBlockShape.MaxPayloadWidth, IsTail: true);
    }

    private int From(int block)
    {
        if (block == Blocks)
            return _count;
        if (block == 0)
            return 0;
        return _isAtEnd ? IdBlockShape.MaxIds : (_count + 1) / 2;
    }
}
