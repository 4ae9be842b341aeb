using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>A position in the order of a query: that of a returned row. The next page begins after it, even in a later transaction.</summary>
/// <remarks>
/// It contains the row's key in the index of the query, the row id, and a mark of the table, the index and the direction: a query in another order
/// refuses it with a <see cref="PageTokenException"/>. Whatever is inserted, changed or deleted between two pages, a row that keeps its key is
/// returned once. The default value means the start. A token from an untrusted source can be any text: it can skip rows, but cannot reveal a row that
/// the query would not return.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct PageToken : IEquatable<PageToken>
{
    private readonly byte[]? _key;

    // In a shared index, the id contains the member number of the table above the row id, and the text begins with a dot.
    private const char MarkOfShared = '.';

    internal PageToken(uint order, ReadOnlySpan<byte> key, long id)
    {
        _key = key.ToArray();
        Order = order;
        Id = id;
    }

    /// <summary>True for the default, which stands for the start.</summary>
    public bool IsStart => _key == null;

    /// <summary>The id of the row.</summary>
    public long RowId => SharedPlace.RowIdOf(Id);

    /// <summary>The id of the row in the index.</summary>
    internal long Id { get; }

    /// <summary>The mark of the order to which the token belongs, see <see cref="PageOrder"/>.</summary>
    internal uint Order { get; }

    /// <summary>The key of the row in the index of the query.</summary>
    public ReadOnlySpan<byte> Key => _key;

    /// <summary>Compares two tokens by their bytes.</summary>
    public static bool operator ==(PageToken left, PageToken right) => left.Equals(right);

    /// <summary>Compares two tokens by their bytes.</summary>
    public static bool operator !=(PageToken left, PageToken right) => !left.Equals(right);

    /// <summary>Reads a token as <see cref="ToString"/> writes it; an empty text stands for the start.</summary>
    /// <param name="text">The text.</param>
    /// <exception cref="FormatException">The text is not a token.</exception>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    public static PageToken Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return TryParse(text, out var token) ? token : throw new FormatException($"'{text}' is not a page token.");
    }

    /// <summary>Reads a token as <see cref="ToString"/> writes it; false if the text is not a token.</summary>
    /// <param name="text">The text; an empty one stands for the start, and null is not a token.</param>
    /// <param name="token">The token.</param>
    public static bool TryParse([NotNullWhen(true)] string? text, out PageToken token)
    {
        token = default;
        if (string.IsNullOrEmpty(text))
            return text != null;
        var isShared = text[0] == MarkOfShared;
        var rest = text.AsSpan(isShared ? 1 : 0);
        if (!Base64Url.IsValid(rest))
            return false;
        var bytes = Base64Url.DecodeFromChars(rest);
        var keyAt = sizeof(uint) + (isShared ? sizeof(long) : RowIdBytes.Bytes);
        if (bytes.Length < keyAt)
            return false;
        long id;
        if (isShared)
            id = BinaryPrimitives.ReadInt64BigEndian(bytes.AsSpan(sizeof(uint)));
        else
            RowIdBytes.TryRead(bytes.AsSpan(sizeof(uint), RowIdBytes.Bytes), out id);
        if (id < 0)
            return false;
        token = new PageToken(BinaryPrimitives.ReadUInt32BigEndian(bytes), bytes.AsSpan(keyAt), id);
        return true;
    }

    /// <inheritdoc/>
    public bool Equals(PageToken other) => Id == other.Id && Order == other.Order && IsStart == other.IsStart && Key.SequenceEqual(other.Key);

    /// <inheritdoc/>
    public override bool Equals([NotNullWhen(true)] object? obj) => obj is PageToken other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => Id.GetHashCode();

    /// <summary>Returns the token as text for a URL or a form: letters, digits, hyphens, underscores, and a dot.</summary>
    public override string ToString()
    {
        if (_key == null)
            return "";
        var isShared = Id > RowIdBytes.Max;
        var bytes = new byte[sizeof(uint) + (isShared ? sizeof(long) : RowIdBytes.Bytes) + _key.Length];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, Order);
        if (isShared)
            BinaryPrimitives.WriteInt64BigEndian(bytes.AsSpan(sizeof(uint)), Id);
        else
            RowIdBytes.Write(Id, bytes.AsSpan(sizeof(uint)));
        _key.CopyTo(bytes, bytes.Length - _key.Length);
        return isShared ? MarkOfShared + Base64Url.EncodeToString(bytes) : Base64Url.EncodeToString(bytes);
    }
}
