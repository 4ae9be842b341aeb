namespace Voron.Tests.Lifetimes;

/// <content>Trees of value sets.</content>
public sealed partial class EndedHandleTests
{
    private static void CheckValueSetTrees(HandleSet handles, HandleState state, Outcome outcome, Outcome ofCursor)
    {
        var works = outcome == Outcome.Works;
        Check(HandleTable.ValueSetTree, handles.ValueSetTree, state, outcome);
        if (handles.Writing.IsDefault is false)
            Check(HandleTable.WriteValueSetTree, handles.WriteValueSetTree, state, outcome);
        Check(works ? HandleTable.ValueCursor.Where(row => !IsEnd(row)) : HandleTable.ValueCursor, handles.ValueCursor, state, ofCursor);
        Check(works ? HandleTable.ValueSetCursor.Where(row => !IsEnd(row)) : HandleTable.ValueSetCursor, handles.ValueSetCursor, state, ofCursor);
    }

    private static void DisposeValueSets(HandleSet handles)
    {
        handles.ValueCursor.Dispose();
        Check(HandleTable.ValueCursor, handles.ValueCursor, HandleState.Disposed, Outcome.CursorClosed);
        handles.ValueSetCursor.Dispose();
        Check(HandleTable.ValueSetCursor, handles.ValueSetCursor, HandleState.Disposed, Outcome.CursorClosed);
    }
}
