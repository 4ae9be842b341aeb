using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Lifetimes;

/// <summary>A member, lambda or local function, with its control flow graph.</summary>
internal sealed class LifetimeFunction
{
    private readonly Dictionary<IMethodSymbol, IReadOnlyList<IOperation>> _captures = new(SymbolEqualityComparer.Default);

    private readonly Lazy<Dictionary<CaptureId, IOperation>> _capturedVariables;

    private LifetimeFunction(LifetimeScope scope, VoronTypes types, ISymbol symbol, ControlFlowGraph graph, CancellationToken cancellation)
    {
        Scope = scope;
        Types = types;
        Symbol = symbol;
        Graph = graph;
        Cancellation = cancellation;
        _capturedVariables = new(FindCapturedVariables);
    }

    public LifetimeScope Scope { get; }

    public VoronTypes Types { get; }

    public ISymbol Symbol { get; }

    public ControlFlowGraph Graph { get; }

    public CancellationToken Cancellation { get; }

    /// <summary>Whether the function is an operation of a group commit whose result is ignored.</summary>
    public bool IsResultIgnored { get; private set; }

    /// <summary>The parameter whose transaction ends when the function returns, because it is an operation of a group commit.</summary>
    public IParameterSymbol? OperationParameter { get; private set; }

    public static LifetimeFunction Of(LifetimeScope scope, VoronTypes types, ControlFlowGraph graph, CancellationToken cancellation) =>
        new(scope, types, scope.Member, graph, cancellation);

    /// <summary>The lambdas and local functions of this function, but not those inside them.</summary>
    public IEnumerable<LifetimeFunction> Nested()
    {
        foreach (var local in Graph.LocalFunctions)
            yield return new(Scope, Types, local, Graph.GetLocalFunctionControlFlowGraph(local, Cancellation), Cancellation);
        foreach (var lambda in Graph.Descendants().OfType<IFlowAnonymousFunctionOperation>())
        {
            var isOperation = Scope.IsGroupOperation(lambda.Syntax);
            yield return new(Scope, Types, lambda.Symbol, Graph.GetAnonymousFunctionControlFlowGraph(lambda, Cancellation), Cancellation)
            {
                OperationParameter = isOperation
                    ? lambda.Symbol.Parameters.FirstOrDefault(parameter => Types.IsWriteTransaction(parameter.Type)) : null,
                IsResultIgnored = isOperation && Scope.IsResultIgnored(lambda.Syntax),
            };
        }
    }

    public bool IsFollowed(ISymbol variable) => Scope.IsFollowed(variable, Symbol);

    /// <summary>The variable that a temporary value of the graph stands for, when it is the target of an assignment; null if there is none.</summary>
    public IOperation? CapturedVariable(CaptureId capture) => _capturedVariables.Value.TryGetValue(capture, out var variable) ? variable : null;

    /// <summary>Returns one use of each variable of other functions that a lambda reads.</summary>
    public IReadOnlyList<IOperation> CapturesOf(IFlowAnonymousFunctionOperation lambda)
    {
        if (!_captures.TryGetValue(lambda.Symbol, out var captures))
            _captures[lambda.Symbol] = captures = Captures(Graph.GetAnonymousFunctionControlFlowGraph(lambda, Cancellation), lambda.Symbol);
        return captures;
    }

    /// <summary>Returns one use of each variable of other functions that a local function reads; none if it belongs to another function.</summary>
    public IReadOnlyList<IOperation> CapturesOf(IMethodSymbol local)
    {
        var definition = local.OriginalDefinition;
        if (!Graph.LocalFunctions.Contains(definition))
            return [];
        if (!_captures.TryGetValue(definition, out var captures))
            _captures[definition] = captures = Captures(Graph.GetLocalFunctionControlFlowGraph(definition, Cancellation), definition);
        return captures;
    }

    private Dictionary<CaptureId, IOperation> FindCapturedVariables()
    {
        var found = new Dictionary<CaptureId, IOperation>();
        foreach (var capture in Graph.Descendants().OfType<IFlowCaptureOperation>())
        {
            if (capture.Value is ILocalReferenceOperation or IParameterReferenceOperation or IMemberReferenceOperation)
                found[capture.Id] = capture.Value;
        }

        return found;
    }

    private static List<IOperation> Captures(ControlFlowGraph graph, IMethodSymbol function)
    {
        var found = new Dictionary<ISymbol, IOperation>(SymbolEqualityComparer.Default);
        foreach (var operation in graph.Descendants())
        {
            if (operation.Variable() is { } variable && !LifetimeScope.IsOf(variable, function) && IsRead(operation) && !found.ContainsKey(variable))
                found.Add(variable, operation);
        }

        return [.. found.Values];
    }

    private static bool IsRead(IOperation reference)
    {
        var parent = reference.Parent;
        while (parent is IConversionOperation)
            parent = parent.Parent;
        return !(parent is IAssignmentOperation assignment && assignment.Target == reference)
            && !(parent is IInvocationOperation call && VoronTypes.IsDispose(call.TargetMethod));
    }
}
