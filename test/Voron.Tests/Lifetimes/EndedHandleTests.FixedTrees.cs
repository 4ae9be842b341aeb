namespace Voron.Tests.Lifetimes;

/// <content>Fixed-size trees and their ranges.</content>
public sealed partial class EndedHandleTests
{
    [Fact]
    public void A_range_of_a_fixed_tree_ends_with_its_transaction()
    {
        Covers<FixedRange>(HandleTable.FixedRange);
        Covers<FixedRange<long>>(HandleTable.TypedRange);
        Covers<FixedRange.Enumerator>(HandleTable.FixedEnumerator);
        Covers<FixedRange<long>.Enumerator>(HandleTable.TypedEnumerator);
        CheckRanges(default, default, HandleState.Default, Outcome.NeverBegun);
        CheckEnumerators(default, default, HandleState.Default, Outcome.NeverBegun);

        using var environment = HandleSet.OpenEnvironment();
        var reading = environment.BeginRead();
        var range = reading.OpenFixedTree(HandleSet.FixedName).GetEntries();
        var typed = reading.OpenFixedTree<long>(HandleSet.FixedName).GetEntries();
        var enumerator = range.GetEnumerator();
        var typedEnumerator = typed.GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        typedEnumerator.MoveNext().Should().BeTrue();
        CheckRanges(range, typed, HandleState.Open, Outcome.Works);
        enumerator.Dispose();
        typedEnumerator.Dispose();
        CheckRanges(range, typed, HandleState.Disposed, Outcome.Works);
        CheckEnumerators(enumerator, typedEnumerator, HandleState.Disposed, Outcome.CursorClosed);
        reading.Dispose();
        CheckRanges(range, typed, HandleState.TransactionDisposed, Outcome.TransactionEnded);
        CheckEnumerators(enumerator, typedEnumerator, HandleState.TransactionDisposed, Outcome.TransactionEnded);
    }

    private static void CheckRanges(FixedRange range, FixedRange<long> typed, HandleState state, Outcome outcome)
    {
        Check(HandleTable.FixedRange, range, state, outcome);
        Check(HandleTable.TypedRange, typed, state, outcome);
    }

    private static void CheckEnumerators(
        FixedRange.Enumerator enumerator, FixedRange<long>.Enumerator typed, HandleState state, Outcome outcome)
    {
        Check(HandleTable.FixedEnumerator, enumerator, state, outcome);
        Check(HandleTable.TypedEnumerator, typed, state, outcome);
    }

    private static void CheckFixedTrees(HandleSet handles, HandleState state, Outcome outcome, Outcome ofCursor)
    {
        Check(HandleTable.FixedTree, handles.FixedTree, state, outcome);
        Check(HandleTable.TypedTree, handles.Typed, state, outcome);
        if (handles.Writing.IsDefault is false)
        {
            Check(HandleTable.WriteFixedTree, handles.WriteFixedTree, state, outcome);
            Check(HandleTable.TypedWriteTree, handles.TypedWrite, state, outcome);
        }

        var rows = outcome == Outcome.Works ? HandleTable.FixedCursor.Where(row => !IsEnd(row)) : HandleTable.FixedCursor;
        Check(rows, handles.FixedCursor, state, ofCursor);
    }
}
