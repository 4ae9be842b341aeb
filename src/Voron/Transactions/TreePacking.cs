using Voron.Format;

namespace Voron.Transactions;

/// <summary>How the holder of the writer compresses a tree's values, and the savings so far.</summary>
internal sealed class TreePacking
{
    /// <summary>The tree size at which the first dictionary is trained, and the written bytes after which the ratio is compared each time.</summary>
    public const int WindowBytes = 1 << 20;

    /// <summary>
    /// The factor by which a tree grows before another dictionary is trained, if that is worth it: the first megabyte of ascending keys says
    /// little about the rest.
    /// </summary>
    private const int Growth = 8;

    /// <summary>The memory of an object and its cache entry, in bytes.</summary>
    public const int Bytes = 256;

    private const long BytesBetweenAttempts = 16L << 20;
    private const int Million = 1_000_000;

    private long _windowPlain;
    private long _windowPacked;
    private long _plain;
    private long _nextAttempt;
    private int _grownWith;
    private long _grownBytes;

    /// <summary>The part of a transaction in which the settings were read.</summary>
    public long Epoch { get; set; }

    /// <summary>The settings.</summary>
    public CompressionSettings Settings { get; set; }

    /// <summary>The number of the newest dictionary of the tree; 0 for none.</summary>
    public int Dictionary { get; set; }

    /// <summary>The bytes to which the dictionary compressed a million bytes when it was trained; 0 without one.</summary>
    public int Ratio { get; set; }

    /// <summary>Returns the compressed size of a million bytes, as for a trained dictionary.</summary>
    public static int RatioOf(long packed, long plain) => plain == 0 ? Million : (int)(packed * Million / plain);

    /// <summary>Notes that a value was stored. Returns true if a dictionary should be trained.</summary>
    /// <param name="plain">The length of the value.</param>
    /// <param name="packed">Its stored length.</param>
    /// <param name="treeBytes">The bytes of the tree's pages.</param>
    public bool Note(int plain, int packed, long treeBytes)
    {
        _plain += plain;
        _windowPlain += plain;
        _windowPacked += packed;
        var hasFallen = false;
        if (_windowPlain >= WindowBytes)
        {
            // The compression factor has fallen by more than a fifth: a stored byte holds less than four fifths of the plain bytes that it held.
            hasFallen = Ratio != 0 && RatioOf(_windowPacked, _windowPlain) * 4L > Ratio * 5L;
            _windowPlain = _windowPacked = 0;
        }

        if (_grownWith != Dictionary)
            (_grownWith, _grownBytes) = (Dictionary, treeBytes * Growth);
        var isDue = Dictionary == 0 ? treeBytes >= WindowBytes : hasFallen || treeBytes >= _grownBytes;
        if (!isDue || _plain < _nextAttempt || Settings.LastDictionary == PackedValue.MostDictionaries)
            return false;
        _nextAttempt = _plain + BytesBetweenAttempts;
        _grownBytes = treeBytes * Growth;
        return true;
    }
}
