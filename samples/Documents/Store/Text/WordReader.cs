using System.Buffers;
using System.Globalization;
using System.Text;

namespace Voron.Documents.Text;

/// <summary>Reads the words of a text: runs of letters and digits, in small letters, without accents.</summary>
/// <param name="text">The text in UTF-8.</param>
/// <param name="buffer">Receives each word: <see cref="MaxWordBytes"/>. Longer words are cut.</param>
internal ref struct WordReader(ReadOnlySpan<byte> text, Span<byte> buffer)
{
    /// <summary>The number of bytes that an index has of a word.</summary>
    public const int MaxWordBytes = 120;

    private const byte Separator = 0;
    private const byte Beyond = 1;

    // For each byte: the small letter or digit that it stands for, that it separates words, or that it begins a character beyond ASCII.
    private static readonly byte[] Letters = MakeLetters();

    private readonly Span<byte> _buffer = buffer;
    private ReadOnlySpan<byte> _rest = text;
    private int _length;

    /// <summary>The word. Valid until the next call of <see cref="MoveNext"/>.</summary>
    public readonly ReadOnlySpan<byte> Current => _buffer[.._length];

    /// <summary>Goes to the next word; false at the end of the text.</summary>
    public bool MoveNext()
    {
        _length = 0;
        var rest = _rest;
        var at = 0;
        while (at < rest.Length)
        {
            var letter = Letters[rest[at]];
            if (letter > Beyond)
            {
                if (_length < MaxWordBytes)
                    _buffer[_length++] = letter;
                at++;
            }
            else if (letter == Beyond)
            {
                var isInWord = TakeBeyond(rest[at..], out var bytes);
                at += bytes;
                if (!isInWord && _length > 0)
                    break;
            }
            else
            {
                at++;
                if (_length > 0)
                    break;
            }
        }

        _rest = rest[at..];
        return _length > 0;
    }

    // An accent of its own belongs to its word, and is left out.
    private bool TakeBeyond(ReadOnlySpan<byte> rest, out int bytes)
    {
        if (Rune.DecodeFromUtf8(rest, out var rune, out bytes) != OperationStatus.Done)
            return false;
        var category = Rune.GetUnicodeCategory(rune);
        if (category is UnicodeCategory.NonSpacingMark or UnicodeCategory.SpacingCombiningMark)
            return _length > 0;
        if (!Rune.IsLetterOrDigit(rune) && category is not (UnicodeCategory.LetterNumber or UnicodeCategory.OtherNumber or UnicodeCategory.PrivateUse))
            return false;
        var folded = Accents.Remove(Rune.ToLowerInvariant(rune));
        if (_length + folded.Utf8SequenceLength <= MaxWordBytes)
            _length += folded.EncodeToUtf8(_buffer[_length..]);
        return true;
    }

    private static byte[] MakeLetters()
    {
        var letters = new byte[256];
        for (var i = 0; i < letters.Length; i++)
        {
            letters[i] = i switch
            {
                >= 128 => Beyond,
                _ when char.IsAsciiLetterOrDigit((char)i) => (byte)char.ToLowerInvariant((char)i),
                _ => Separator,
            };
        }

        return letters;
    }
}
