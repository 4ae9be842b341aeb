namespace Voron.Primitives;

/// <summary>The number of a write transaction. Ids rise by one with each commit; a snapshot is named by the newest id it sees.</summary>
internal readonly record struct TransactionId(long Value) : IComparable<TransactionId>
{
    /// <summary>The state of an environment that has just been created.</summary>
    public static readonly TransactionId Zero;

    public TransactionId Next => new(Value + 1);

    public static bool operator <(TransactionId left, TransactionId right) => left.Value < right.Value;

    public static bool operator >(TransactionId left, TransactionId right) => left.Value > right.Value;

    public static bool operator <=(TransactionId left, TransactionId right) => left.Value <= right.Value;

    public static bool operator >=(TransactionId left, TransactionId right) => left.Value >= right.Value;

    public int CompareTo(TransactionId other) => Value.CompareTo(other.Value);

    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
