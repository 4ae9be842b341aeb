using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>What a call must be refused with.</summary>
/// <param name="Type">The exception.</param>
internal sealed record Refusal(Type Type)
{
    /// <summary>The index that the exception names; null if it names none.</summary>
    public string? Index { get; init; }

    /// <summary>The key that two rows would have.</summary>
    public string? Key { get; init; }

    /// <summary>The row that has the key already.</summary>
    public ModelRow? Holder { get; init; }

    /// <summary>The row that is to be changed; null for a new one.</summary>
    public ModelRow? Changed { get; init; }

    public RowVersion Expected { get; init; }

    public RowVersion Actual { get; init; }

    public static Refusal Format() => new(typeof(RowFormatException));

    public static Refusal OfFunction(string index, ModelRow? changed = null) => new(typeof(IndexKeyException)) { Index = index, Changed = changed };

    public static Refusal TooLong(string index) => new(typeof(KeyTooLongException)) { Index = index };

    public static Refusal NotReady(string index) => new(typeof(IndexNotReadyException)) { Index = index };

    public static Refusal Stale(RowVersion expected, RowVersion actual) => new(typeof(ConcurrencyException)) { Expected = expected, Actual = actual };

    public static Refusal Duplicate(string index, string key, ModelRow holder, ModelRow? changed) =>
        new(typeof(DuplicateKeyException)) { Index = index, Key = key, Holder = holder, Changed = changed };

    /// <summary>Requires that an exception says all of this.</summary>
    /// <param name="thrown">The exception.</param>
    /// <param name="idOf">Returns the id of a row; null if it is not in the table.</param>
    public void Check(Exception thrown, Func<ModelRow, long?> idOf)
    {
        var isRight = thrown.GetType() == Type && thrown switch
        {
            DuplicateKeyException duplicate => duplicate.IndexName == Index && ModelKey.Of(duplicate.Key.Span) == Key
                && IsId(duplicate.RowId, Changed, idOf) && (idOf(Holder!) is not { } id || id == duplicate.ExistingRowId),
            ConcurrencyException stale => stale.Expected == Expected && stale.Actual == Actual,
            IndexKeyException failed => failed.IndexName == Index && IsId(failed.RowId, Changed, idOf),
            KeyTooLongException tooLong => tooLong.IndexName == Index,
            IndexNotReadyException missing => missing.IndexName == Index,
            _ => true,
        };
        if (!isRight)
            throw new ModelMismatchException($"a call that was to be refused by {this} threw: {thrown.GetType().Name} {thrown.Message}");
    }

    public override string ToString() => $"{Type.Name} {Index}";

    private static bool IsId(long? told, ModelRow? row, Func<ModelRow, long?> idOf) => row == null ? told == null : told == idOf(row);
}
