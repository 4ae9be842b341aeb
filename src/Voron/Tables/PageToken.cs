using System.Buffers.Text;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>A place in the order of a query: a row that was returned. The next page begins behind it, also in a later transaction.</summary>
/// <remarks>
/// It holds the row's key in the index of the query, and its id. Whatever is inserted, changed or deleted between two pages, a row whose key stays is
/// returned once. The default stands for the start. A token that comes back from outside can be any text: it can skip rows, and reveal none that the
/// query would not return.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct PageToken : IEquatable<PageToken>
{
    private readonly byte[]? _key;

    internal PageToken(ReadOnlySpan<byte> key, long rowId)
    {
        _key = key.ToArray();
        RowId = rowId;
    }

    /// <summary>True for the default, which stands for the start.</summary>
    public bool IsStart => _key == null;

    /// <summary>The id of the row.</summary>
    public long RowId { get; }

    /// <summary>The key of the row in the index of the query.</summary>
    public ReadOnlySpan<byte> Key => _key;

    /// <summary>Compares two tokens by their bytes.</summary>
    public static bool operator ==(PageToken left, PageToken right) => left.Equals(right);

    /// <summary>Compares two tokens by their bytes.</summary>
    public static bool operator !=(PageToken left, PageToken right) => !left.Equals(right);

    /// <summary>Reads a token as <see cref="ToString"/> writes it; an empty text stands for the start.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="FormatException">The text is no token.</exception>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    public static PageToken Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return TryParse(text, out var token) ? token : throw new FormatException($"'{text}' is no page token.");
    }

    /// <summary>Reads a token as <see cref="ToString"/> writes it; false if the text is none.</summary>
    /// <param name="text">The text; null and empty ones stand for the start.</param>
    /// <param name="token">The token.</param>
    public static bool TryParse([NotNullWhen(true)] string? text, out PageToken token)
    {
        token = default;
        if (string.IsNullOrEmpty(text))
            return text != null;
        if (!Base64Url.IsValid(text))
            return false;
        var bytes = Base64Url.DecodeFromChars(text);
        if (bytes.Length < RowKey.Bytes || !RowKey.TryRead(bytes.AsSpan(0, RowKey.Bytes), out var rowId))
            return false;
        token = new PageToken(bytes.AsSpan(RowKey.Bytes), rowId);
        return true;
    }

    /// <inheritdoc/>
    public bool Equals(PageToken other) => RowId == other.RowId && IsStart == other.IsStart && Key.SequenceEqual(other.Key);

    /// <inheritdoc/>
    public override bool Equals([NotNullWhen(true)] object? obj) => obj is PageToken other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => RowId.GetHashCode();

    /// <summary>Returns the token as text for an address or a form: letters, digits, hyphens and underscores.</summary>
    public override string ToString()
    {
        if (_key == null)
            return "";
        var bytes = new byte[RowKey.Bytes + _key.Length];
        RowKey.Write(RowId, bytes);
        _key.CopyTo(bytes, RowKey.Bytes);
        return Base64Url.EncodeToString(bytes);
    }
}
