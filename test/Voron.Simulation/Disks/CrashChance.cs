namespace Voron.Simulation.Disks;

/// <summary>The fate of a write that was not durable.</summary>
internal enum WriteFate
{
    Lost,
    Kept,

    /// <summary>Decided sector by sector.</summary>
    Mixed,
}

/// <summary>
/// The random choices of one crash image. Each image has its own probabilities (sector size, how much is lost or torn, how often whole
/// writes share a fate): even chances for every sector would hardly ever lose one large write and keep the next.
/// </summary>
internal sealed class CrashChance
{
    private readonly Random _random;
    private readonly int _sectorSize;
    private readonly double _kept;
    private readonly double _torn;
    private readonly double _mixed;
    private readonly double _names;
    private readonly double _spoilt;

    public CrashChance(Random random)
    {
        _random = random;
        _sectorSize = random.Next(2) == 0 ? 512 : 4096;
        _kept = Pick(0.05, 0.5, 0.95);
        _torn = Pick(0, 0.1, 0.6);
        _mixed = Pick(0.1, 0.5, 1);
        _names = Pick(0.1, 0.5, 0.9);
        _spoilt = Pick(0.05, 0.3, 1);
    }

    public bool KeepsName() => _random.NextDouble() < _names;

    /// <summary>Returns how many of a number of ordered changes happened: often none or all.</summary>
    public int PrefixOf(int count) => _random.Next(3) switch
    {
        0 => 0,
        1 => count,
        _ => _random.Next(count + 1),
    };

    public WriteFate FateOfWrite() =>
        _random.NextDouble() < _mixed ? WriteFate.Mixed : _random.NextDouble() < _kept ? WriteFate.Kept : WriteFate.Lost;

    public void Apply(WriteFate fate, in Fragment fragment, BlockContent content)
    {
        if (fate == WriteFate.Kept)
            content.Apply(fragment);
        if (fate != WriteFate.Mixed)
            return;

        var block = new byte[BlockContent.BlockSize];
        content.Read(fragment.Block * BlockContent.BlockSize, block);
        var changed = false;
        for (var sector = fragment.Start / _sectorSize * _sectorSize; sector < fragment.End; sector += _sectorSize)
        {
            var part = fragment.Part(Math.Max(fragment.Start, sector), Math.Min(fragment.End, sector + _sectorSize));
            if (_random.NextDouble() < _torn)
                Tear(part, block);
            else if (_random.NextDouble() < _kept)
                part.CopyTo(block.AsSpan(part.Start, part.Length), 0);
            else
                continue;
            changed = true;
        }
        if (changed)
            content.SetBlock(fragment.Block, block);
    }

    /// <summary>Leaves garbage in some of the sectors that were being written: arbitrary bytes, in a part or all of the sector.</summary>
    /// <returns>The number of spoilt sectors.</returns>
    public int Spoil(in Fragment fragment, BlockContent content)
    {
        var block = new byte[BlockContent.BlockSize];
        content.Read(fragment.Block * BlockContent.BlockSize, block);
        var spoilt = 0;
        for (var start = fragment.Start / _sectorSize * _sectorSize; start < fragment.End; start += _sectorSize)
        {
            if (_random.NextDouble() >= _spoilt)
                continue;
            var sector = block.AsSpan(start, _sectorSize);
            switch (_random.Next(4))
            {
                case 0:
                    sector.Fill((byte)_random.Next(256));
                    break;
                case 1:
                    _random.NextBytes(sector[_random.Next(sector.Length)..]);
                    break;
                default:
                    _random.NextBytes(sector);
                    break;
            }
            spoilt++;
        }
        if (spoilt > 0)
            content.SetBlock(fragment.Block, block);
        return spoilt;
    }

    /// <summary>Leaves garbage in some of the blocks that were being allocated to a file: their bytes from when another file owned them.</summary>
    /// <returns>The number of spoilt blocks.</returns>
    public int SpoilNewBlocks((long Offset, long Length) range, BlockContent content)
    {
        var spoilt = 0;
        for (var i = range.Offset / BlockContent.BlockSize; i * BlockContent.BlockSize < range.Offset + range.Length; i++)
        {
            if (content.BlockAt(i) is not null || _random.NextDouble() >= _spoilt / 4)
                continue;
            var block = new byte[BlockContent.BlockSize];
            _random.NextBytes(block);
            content.SetBlock(i, block);
            spoilt++;
        }
        return spoilt;
    }

    private void Tear(in Fragment part, byte[] block)
    {
        var sector = block.AsSpan(part.Start, part.Length);
        var at = _random.Next(part.Length + 1);
        switch (_random.Next(3))
        {
            case 0:
                part.CopyTo(sector[..at], 0);
                break;
            case 1:
                part.CopyTo(sector[at..], at);
                break;
            default:
                var written = new byte[part.Length];
                part.CopyTo(written, 0);
                for (var i = 0; i < written.Length; i++)
                {
                    if (_random.Next(2) == 0)
                        sector[i] = written[i];
                }
                break;
        }
    }

    private double Pick(double low, double middle, double high) => _random.Next(3) switch
    {
        0 => low,
        1 => middle,
        _ => high,
    };
}
