using Voron.Format;

namespace Voron.Transactions;

/// <summary>How the holder of the writer compresses the values of a tree, and what it has saved so far.</summary>
internal sealed class TreePacking
{
    /// <summary>A tree with this many bytes gets its first dictionary, and the ratio is compared each time as many were written.</summary>
    public const int WindowBytes = 1 << 20;

    /// <summary>
    /// By how much a tree grows before it gets another dictionary, if that is worth it: the first megabyte of keys in ascending order says little
    /// about the others.
    /// </summary>
    private const int Growth = 8;

    /// <summary>The bytes of memory of such an object, and of its place in a cache.</summary>
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

    /// <summary>Returns the bytes of a million that are left, in the same way as for a dictionary that is trained.</summary>
    public static int RatioOf(long packed, long plain) => plain == 0 ? Million : (int)(packed * Million / plain);

    /// <summary>Notes that a value was stored. Returns true if a dictionary should be trained.</summary>
    /// <param name="plain">The length of the value.</param>
    /// <param name="packed">The bytes that it takes.</param>
    /// <param name="treeBytes">The bytes of the tree's pages.</param>
    public bool Note(int plain, int packed, long treeBytes)
    {
        _plain += plain;
        _windowPlain += plain;
        _windowPacked += packed;
        var hasFallen = false;
        if (_windowPlain >= WindowBytes)
        {
            // A fifth less than it was: four fifths as many bytes for each that is stored.
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
