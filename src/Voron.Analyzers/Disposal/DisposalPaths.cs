using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;
using Microsoft.CodeAnalysis.Text;

namespace Voron.Analyzers.Disposal;

/// <summary>
/// Searches for a path from the call that returns a value to the end of its function on which the value is not handed over. Paths of exceptions
/// do not count: code that disposes a value on all others has considered when.
/// </summary>
internal sealed class DisposalPaths
{
    private readonly ControlFlowGraph _graph;
    private readonly SyntaxNode _creation;
    private readonly HashSet<SyntaxNode> _releases;
    private readonly List<TextSpan> _releasingConstructs;

    /// <summary>Prepares a search.</summary>
    /// <param name="graph">The graph of the function that makes the call.</param>
    /// <param name="creation">The call.</param>
    /// <param name="releases">The references to the variable that hand the value over.</param>
    public DisposalPaths(ControlFlowGraph graph, IOperation creation, IReadOnlyCollection<IOperation> releases)
    {
        _graph = graph;
        _creation = creation.Syntax;
        _releases = [.. releases.Select(release => release.Syntax)];
        _releasingConstructs = [.. releases.SelectMany(release => ConstructsAround(release, creation))];
    }

    /// <summary>Whether there is such a path.</summary>
    public bool HasLeak()
    {
        var start = _graph.Blocks.FirstOrDefault(block => IndexOfCreation(block) >= 0);
        if (start == null)
            return false;
        var first = IndexOfCreation(start);
        if (start.Roots().Skip(first + 1).Any(Releases))
            return false;

        var seen = new HashSet<BasicBlock>();
        // Where a pattern does not match, there is no value.
        var isMatched = first == start.Operations.Length && start.BranchValue!.Bare() is IIsPatternOperation ? true : (bool?)null;
        var waiting = new Stack<BasicBlock>(Successors(start, isMatched));
        while (waiting.Count > 0)
        {
            var block = waiting.Pop();
            if (!seen.Add(block) || block == start)
                continue;
            if (block.Kind == BasicBlockKind.Exit)
                return true;
            if (block.Roots().Any(Releases))
                continue;
            foreach (var next in Successors(block))
                waiting.Push(next);
        }

        return false;
    }

    private int IndexOfCreation(BasicBlock block) => block.Roots().ToList().FindIndex(root =>
        root.DescendantsAndSelf().Any(part => part is IInvocationOperation && part.Syntax == _creation));

    private bool Releases(IOperation root) => root.DescendantsAndSelf().Any(part =>
        _releases.Contains(part.Syntax) || _releasingConstructs.Any(construct => construct.Contains(part.Syntax.Span)));

    private IEnumerable<BasicBlock> Successors(BasicBlock block, bool? condition = null)
    {
        var value = block.BranchValue?.ConstantValue is { HasValue: true, Value: bool known } ? known : condition;
        var jumpsWhen = block.ConditionKind == ControlFlowConditionKind.WhenTrue;
        if (block.ConditionalSuccessor is { } conditional && (value == null || value == jumpsWhen) && Destination(conditional) is { } jump)
            yield return jump;
        var isOpen = block.ConditionalSuccessor == null || value == null || value != jumpsWhen;
        if (isOpen && block.FallThroughSuccessor is { } following && Destination(following) is { } next)
            yield return next;
    }

    // A finally region that disposes the value does so for all paths that pass it.
    private BasicBlock? Destination(ControlFlowBranch branch)
    {
        if (branch.Semantics is not ControlFlowBranchSemantics.Regular and not ControlFlowBranchSemantics.Return)
            return null;
        var isReleased = branch.FinallyRegions.Any(region => Enumerable
            .Range(region.FirstBlockOrdinal, region.LastBlockOrdinal - region.FirstBlockOrdinal + 1)
            .Any(ordinal => _graph.Blocks[ordinal].Roots().Any(Releases)));
        return isReleased ? null : branch.Destination;
    }

    // Where a condition decides whether the value is disposed, it usually depends on whether there is one. So a branch or loop that disposes it
    // does so for both outcomes, unless the code returns there: then the other outcome continues with the value.
    private static IEnumerable<TextSpan> ConstructsAround(IOperation release, IOperation creation)
    {
        var arm = release;
        for (var current = release.Parent; current != null; arm = current, current = current.Parent)
        {
            if (current.Syntax.Span.Contains(creation.Syntax.Span) || current is IAnonymousFunctionOperation or ILocalFunctionOperation)
                yield break;
            if (current is IConditionalOperation conditional && conditional.Condition != arm && !Leaves(arm))
                yield return current.Syntax.Span;
            else if (current is IConditionalAccessOperation or ICoalesceOperation or ILoopOperation)
                yield return current.Syntax.Span;
            else if (current is ISwitchOperation && arm is ISwitchCaseOperation section && !section.Body.Any(Leaves))
                yield return current.Syntax.Span;
        }
    }

    private static bool Leaves(IOperation statement) => statement switch
    {
        IReturnOperation { Kind: OperationKind.Return } => true,
        IExpressionStatementOperation { Operation: IThrowOperation } or IThrowOperation => true,
        IBranchOperation { BranchKind: BranchKind.Continue or BranchKind.GoTo } => true,
        IBlockOperation { Operations: { Length: > 0 } statements } => Leaves(statements[statements.Length - 1]),
        _ => false,
    };
}
