using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Lifetimes;

/// <summary>Finds spans (VORON002) and handles (VORON004) that are used when their transaction has ended, or that outlive it.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class LifetimeAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.InvalidSpan, Rules.EndedHandle];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(start =>
        {
            if (VoronTypes.Of(start.Compilation) is { } types)
                start.RegisterOperationBlockStartAction(block => Begin(block, types));
        });
    }

    // Most members use no transaction, and cost one look at each of their calls.
    private static void Begin(OperationBlockStartAnalysisContext block, VoronTypes types)
    {
        var calls = new ConcurrentQueue<IOperation>();
        block.RegisterOperationAction(
            context =>
            {
                var call = (IInvocationOperation)context.Operation;
                if (types.IsVoron(call.TargetMethod) || types.KindOf(call.Type) == LifetimeKind.Transaction)
                    calls.Enqueue(call);
            },
            OperationKind.Invocation);
        block.RegisterOperationBlockEndAction(end =>
        {
            // The initializer and the body of a constructor are two blocks of one graph.
            foreach (var root in calls.Select(call => call.Root()).Distinct())
                Analyze(end, root, types);
        });
    }

    private static void Analyze(OperationBlockAnalysisContext context, IOperation root, VoronTypes types)
    {
        var uses = new List<LifetimeUse>();
        var scope = new LifetimeScope(types, context.OwningSymbol, root);
        var graph = context.GetControlFlowGraph(context.OperationBlocks.First(block => block.Root() == root));
        Follow(LifetimeFunction.Of(scope, types, graph, context.CancellationToken), uses.Add, context.CancellationToken);

        // A variable is reported where it is first used after its end, and once for each end.
        var first = uses
            .GroupBy(use => (use.Name, use.Value.EndedBy, use.Escape))
            .Select(group => group.OrderBy(use => use.Syntax.SpanStart).First())
            .GroupBy(use => use.Syntax).Select(group => group.First());
        foreach (var use in first)
            context.ReportDiagnostic(Describe(use));
    }

    private static void Follow(LifetimeFunction function, Action<LifetimeUse> report, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        LifetimeFlow.Run(function, report);
        foreach (var nested in function.Nested())
            Follow(nested, report, cancellation);
    }

    private static Diagnostic Describe(LifetimeUse use)
    {
        var value = use.Value;
        var isView = value.Kind == LifetimeKind.View;
        var what = use.Escape switch
        {
            LifetimeEscape.Returned => "is returned from the scope that ends its transaction",
            LifetimeEscape.AssignedToParameter => "is passed to the caller, beyond the end of its transaction",
            LifetimeEscape.Kept => "is kept beyond the end of its transaction",
            _ => value.Status switch
            {
                LifetimeStatus.Committed => "is used after the commit of its transaction",
                LifetimeStatus.Closed => "is used after it was closed",
                LifetimeStatus.Overwritten => "is used after its transaction has written again",
                LifetimeStatus.Moved => "is used after its cursor has moved",
                _ => "is used after its transaction was disposed",
            },
        };
        var properties = ImmutableDictionary<string, string?>.Empty;
        if (isView && use.Escape == LifetimeEscape.Returned)
            properties = properties.Add(Rules.CopyRepairs, bool.TrueString);
        Location[] places = value.EndedBy == null || value.EndedBy == use.Syntax ? [] : [value.EndedBy.GetLocation()];
        return Diagnostic.Create(isView ? Rules.InvalidSpan : Rules.EndedHandle, use.Syntax.GetLocation(), places, properties, use.Name, what);
    }
}
