using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Lifetimes;

/// <summary>
/// Follows transactions, handles and spans through the control flow graph of one function.
/// </summary>
/// <remarks>
/// <para>The state of a block is the union of the states with which it can be entered, until nothing changes any more. A value is reported only
/// if it has ended on all paths on which it can get to its use, so that conditions that exclude each other cause no false report.</para>
/// <para>A value that ends in a loop may be valid at the first execution of the loop and not at the second. So each loop is followed once more
/// with only the states with which it is repeated.</para>
/// <para>A finally region is followed anew for each branch that passes it. Its own uses are reported for all of them together.</para>
/// </remarks>
internal sealed class LifetimeFlow
{
    private readonly LifetimeFunction _function;
    private readonly Action<LifetimeUse> _report;
    private readonly Dictionary<ControlFlowRegion, LifetimeState> _finallyStates = [];
    private readonly Dictionary<int, (LifetimeState State, int Last)> _repeated = [];
    private Phase _phase;

    private LifetimeFlow(LifetimeFunction function, Action<LifetimeUse> report)
    {
        _function = function;
        _report = report;
    }

    private enum Phase
    {
        Solving,
        Reporting,
        Repeating,
    }

    private ControlFlowGraph Graph => _function.Graph;

    /// <summary>Reports each use of an ended value in a function.</summary>
    public static void Run(LifetimeFunction function, Action<LifetimeUse> report) => new LifetimeFlow(function, report).Run();

    private void Run()
    {
        var solution = new Solution(within: null);
        solution.Enter(0, InitialState());
        Solve(solution);

        _phase = Phase.Reporting;
        foreach (var block in Graph.Blocks)
        {
            if (solution.StateOf(block.Ordinal) is { } state)
                Follow(block, state.Copy(), solution, _report);
        }

        foreach (var pair in _finallyStates.ToList())
            ReportRegion(pair.Key, pair.Value);

        _phase = Phase.Repeating;
        foreach (var loop in _repeated)
        {
            // What was valid at each repetition has been followed already.
            if (!loop.Value.State.Places.Any(pair => pair.Value.Any(value => !value.IsValid)))
                continue;
            var repetition = new Solution(within: null, loop.Key, loop.Value.Last);
            repetition.Enter(loop.Key, loop.Value.State);
            Solve(repetition);
            foreach (var block in Graph.Blocks)
            {
                if (repetition.StateOf(block.Ordinal) is { } state)
                    Follow(block, state.Copy(), repetition, _report);
            }
        }
    }

    private LifetimeState InitialState()
    {
        var state = new LifetimeState();
        if (_function.Symbol is IMethodSymbol method)
        {
            foreach (var parameter in method.Parameters.Where(parameter => parameter.RefKind != RefKind.Out && _function.IsFollowed(parameter)))
            {
                var isOperation = VoronTypes.Same(parameter, _function.OperationParameter);
                SetRoot(parameter, parameter.Type, Owner.Held(parameter, isOperation));
            }
        }

        foreach (var member in _function.Scope.Members)
            SetRoot(member, member is IFieldSymbol field ? field.Type : ((IPropertySymbol)member).Type, Owner.Held(member));
        return state;

        void SetRoot(ISymbol symbol, ITypeSymbol type, Owner owner)
        {
            if (_function.Types.IsRoot(type))
                state.Set(Place.Of(symbol), [LifetimeValue.Of(owner, _function.Types.KindOf(type), origin: null)]);
        }
    }

    private void Solve(Solution solution)
    {
        while (solution.Next() is { } ordinal)
        {
            _function.Cancellation.ThrowIfCancellationRequested();
            Follow(Graph.Blocks[ordinal], solution.StateOf(ordinal)!.Copy(), solution, report: null);
        }
    }

    /// <summary>Follows a block and the branches that leave it.</summary>
    private void Follow(BasicBlock block, LifetimeState state, Solution solution, Action<LifetimeUse>? report)
    {
        var transfer = new LifetimeTransfer(_function, state, report);
        var isProtected = IsProtected(block.EnclosingRegion, solution.Within);
        foreach (var operation in block.Operations)
        {
            if (isProtected)
                Throw(block, state, solution);
            transfer.Visit(operation, isUse: true);
        }

        if (isProtected)
            Throw(block, state, solution);
        var isReturned = block.ConditionKind == ControlFlowConditionKind.None
            && block.FallThroughSuccessor?.Semantics == ControlFlowBranchSemantics.Return;
        if (block.BranchValue != null)
        {
            var values = transfer.Visit(block.BranchValue, isUse: !isReturned);
            if (isReturned && block.BranchValue.Bare() is ITupleOperation tuple)
                values = [.. tuple.Elements.SelectMany(element => transfer.Visit(element, isUse: false))];
            if (isReturned)
                state.Set(Place.Returned, values);
            if (isProtected)
                Throw(block, state, solution);
        }

        var reports = report != null;
        if (block.ConditionalSuccessor is { } conditional)
        {
            var constant = block.BranchValue?.ConstantValue is { HasValue: true, Value: bool known } ? known : (bool?)null;
            var jumpsWhen = block.ConditionKind == ControlFlowConditionKind.WhenTrue;
            if (constant == null || constant == jumpsWhen)
                Leave(conditional, Decided(block, transfer, state, jumpsWhen), solution, reports);
            if (constant == null || constant != jumpsWhen)
                Leave(block.FallThroughSuccessor, Decided(block, transfer, state, !jumpsWhen), solution, reports);
        }
        else
        {
            Leave(block.FallThroughSuccessor, state, solution, reports);
        }
    }

    /// <summary>Returns the state on the path on which the condition of a block has a given result.</summary>
    private static LifetimeState Decided(BasicBlock block, LifetimeTransfer transfer, LifetimeState state, bool isTrue)
    {
        var decided = state.Copy();
        var value = block.BranchValue!.Bare();
        for (; value is IUnaryOperation { OperatorKind: UnaryOperatorKind.Not } not; value = not.Operand.Bare())
            isTrue = !isTrue;
        if (!isTrue)
            return decided;

        // A call such as Insert has written where it returned true. Where a transaction is null, nothing belongs to it.
        if (transfer.PossibleWrite is { } write && value == write.Call)
            decided.Overwrite(write.Owner, write.Call.Syntax);
        else if (value is IIsNullOperation nothing)
            decided.Forget(transfer.Visit(nothing.Operand, isUse: false));
        return decided;
    }

    private void Leave(ControlFlowBranch? branch, LifetimeState state, Solution solution, bool reports)
    {
        if (branch == null)
            return;
        if (branch.Semantics == ControlFlowBranchSemantics.StructuredExceptionHandling)
        {
            solution.EndRegion(state);
            return;
        }

        if (branch.Destination == null)
            return;
        var current = state.Copy();
        foreach (var region in branch.FinallyRegions)
        {
            current = current == null ? null : RunFinally(region, current);
            if (current == null)
                return;
        }

        if (branch.Destination.Kind == BasicBlockKind.Exit)
        {
            if (reports && _phase == Phase.Reporting && solution.Within == null)
                LifetimeExit.Report(_function, current!, branch.Source, _report);
            return;
        }

        if (_phase == Phase.Reporting && solution.Within == null && branch.Destination.Ordinal <= branch.Source.Ordinal)
            NoteRepetition(branch, current!);
        if (_phase == Phase.Solving || !reports)
            solution.Enter(branch.Destination.Ordinal, current!);
    }

    private void NoteRepetition(ControlFlowBranch branch, LifetimeState state)
    {
        var first = branch.Destination!.Ordinal;
        if (!_repeated.TryGetValue(first, out var known))
            known = (new(), 0);
        known.State.Merge(state);
        _repeated[first] = (known.State, Math.Max(known.Last, branch.Source.Ordinal));
    }

    /// <summary>Returns the state at the end of a finally region; null if it has no end.</summary>
    private LifetimeState? RunFinally(ControlFlowRegion region, LifetimeState state)
    {
        if (_phase != Phase.Repeating)
            NoteFinally(region, state);
        var inner = new Solution(region);
        inner.Enter(region.FirstBlockOrdinal, state);
        Solve(inner);
        return inner.AtEnd;
    }

    private void NoteFinally(ControlFlowRegion region, LifetimeState state)
    {
        if (!_finallyStates.TryGetValue(region, out var all))
            _finallyStates[region] = all = new();
        all.Merge(state);
    }

    private void ReportRegion(ControlFlowRegion region, LifetimeState state)
    {
        var inner = new Solution(region);
        inner.Enter(region.FirstBlockOrdinal, state);
        Solve(inner);
        for (var i = region.FirstBlockOrdinal; i <= region.LastBlockOrdinal; i++)
        {
            if (inner.StateOf(i) is { } entered)
                Follow(Graph.Blocks[i], entered.Copy(), inner, _report);
        }
    }

    private static bool IsProtected(ControlFlowRegion region, ControlFlowRegion? within) => TriesAround(region, within).Any();

    /// <summary>The try regions around a region, from the inside to the outside.</summary>
    private static IEnumerable<ControlFlowRegion> TriesAround(ControlFlowRegion region, ControlFlowRegion? within)
    {
        // The root of a nested function is enclosed by a region of the function around it.
        for (var current = region; current.Kind != ControlFlowRegionKind.Root && current != within; current = current.EnclosingRegion!)
        {
            if (current.Kind == ControlFlowRegionKind.Try)
                yield return current;
        }
    }

    /// <summary>Passes the state on to the handlers that an exception in the block may enter.</summary>
    private void Throw(BasicBlock block, LifetimeState state, Solution solution)
    {
        foreach (var region in TriesAround(block.EnclosingRegion, solution.Within))
        {
            foreach (var handler in region.EnclosingRegion!.NestedRegions.Where(handler => handler != region))
            {
                if (handler.Kind == ControlFlowRegionKind.Finally)
                    NoteFinally(handler, state);
                else
                    solution.Enter(handler.FirstBlockOrdinal, state);
            }
        }
    }

    /// <summary>The states with which blocks are entered: of the whole function, of one finally region, or of one loop.</summary>
    /// <param name="within">The finally region; null for the function.</param>
    /// <param name="first">The first block to follow.</param>
    /// <param name="last">The last block to follow.</param>
    private sealed class Solution(ControlFlowRegion? within, int first = 0, int last = int.MaxValue)
    {
        private readonly Dictionary<int, LifetimeState> _states = [];
        private readonly SortedSet<int> _waiting = [];

        public ControlFlowRegion? Within => within;

        /// <summary>The state in which the region is left; null before it is.</summary>
        public LifetimeState? AtEnd { get; private set; }

        public LifetimeState? StateOf(int block) => _states.TryGetValue(block, out var state) ? state : null;

        public void Enter(int block, LifetimeState state)
        {
            if (block < first || block > last)
                return;
            if (!_states.TryGetValue(block, out var known))
                _states[block] = state.Copy();
            else if (!known.Merge(state))
                return;
            _waiting.Add(block);
        }

        public void EndRegion(LifetimeState state)
        {
            AtEnd ??= new();
            AtEnd.Merge(state);
        }

        public int? Next()
        {
            if (_waiting.Count == 0)
                return null;
            var first = _waiting.Min;
            _waiting.Remove(first);
            return first;
        }
    }
}
