using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Disposal;

/// <summary>Finds transactions, cursors and other values of the engine that are not disposed (VORON001).</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class DisposalAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.Undisposed];

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

    private static void Begin(OperationBlockStartAnalysisContext block, VoronTypes types)
    {
        var created = new ConcurrentQueue<IInvocationOperation>();
        block.RegisterOperationAction(
            context =>
            {
                var call = (IInvocationOperation)context.Operation;
                var isNew = types.IsVoron(call.TargetMethod) && !types.ReturnsItself(call.TargetMethod);
                if (isNew && types.MustBeDisposed(VoronTypes.Unwrap(call.Type)))
                    created.Enqueue(call);
            },
            OperationKind.Invocation);
        block.RegisterOperationBlockEndAction(end =>
        {
            foreach (var call in created)
                Check(end, call, types);
        });
    }

    private static void Check(OperationBlockAnalysisContext context, IInvocationOperation call, VoronTypes types)
    {
        var finder = new FateFinder(types);
        switch (finder.Of(call, out var local))
        {
            case Fate.Used:
                Report(context, call, types, "never disposed");
                break;
            case Fate.Local:
                CheckLocal(context, call, local!, types);
                break;
        }
    }

    private static void CheckLocal(OperationBlockAnalysisContext context, IInvocationOperation call, ILocalSymbol local, VoronTypes types)
    {
        var releases = Releases(call.Root(), local, new(types));
        var function = call.Function();
        if (releases.Count == 0)
            Report(context, call, types, "never disposed");
        // A savepoint needs no end of its own. A nested function disposes a value at a time that is not known here.
        else if (!types.IsSavepoint(VoronTypes.Unwrap(call.Type))
            && releases.All(release => VoronTypes.Same(release.Function(), function))
            && GraphOf(context, call) is { } graph
            && new DisposalPaths(graph, call, releases).HasLeak())
            Report(context, call, types, "not disposed on every path");
    }

    /// <summary>Returns the references that hand the value of a variable over, or that of another variable with the same value.</summary>
    private static List<IOperation> Releases(IOperation root, ILocalSymbol local, FateFinder finder)
    {
        var references = root.Descendants().OfType<ILocalReferenceOperation>().ToLookup(reference => reference.Local, SymbolEqualityComparer.Default);
        var found = new List<IOperation>();
        var seen = new HashSet<ISymbol>(SymbolEqualityComparer.Default) { local };
        var waiting = new Queue<ISymbol>(seen);
        while (waiting.Count > 0)
        {
            foreach (var reference in references[waiting.Dequeue()].Where(reference => !IsTarget(reference)))
            {
                switch (finder.Of(reference, out var copy))
                {
                    case Fate.HandedOver:
                        found.Add(reference);
                        break;
                    case Fate.Local when seen.Add(copy!):
                        waiting.Enqueue(copy!);
                        break;
                }
            }
        }

        return found;
    }

    private static bool IsTarget(IOperation reference) => reference.Parent is IAssignmentOperation assignment && assignment.Target == reference;

    /// <summary>Returns the graph of the function that contains a call: that of the member, or of a lambda or local function in it.</summary>
    private static ControlFlowGraph? GraphOf(OperationBlockAnalysisContext context, IOperation call)
    {
        var root = call.Root();
        var graph = context.GetControlFlowGraph(context.OperationBlocks.First(block => block.Root() == root));
        return GraphOf(graph, call.Syntax, context.CancellationToken);
    }

    private static ControlFlowGraph? GraphOf(ControlFlowGraph graph, SyntaxNode call, CancellationToken cancellation)
    {
        var operations = graph.Descendants().ToList();
        if (operations.Any(operation => operation is IInvocationOperation && operation.Syntax == call))
            return graph;
        var functions = graph.LocalFunctions.Select(local => graph.GetLocalFunctionControlFlowGraph(local, cancellation));
        var lambdas = operations.OfType<IFlowAnonymousFunctionOperation>()
            .Select(lambda => graph.GetAnonymousFunctionControlFlowGraph(lambda, cancellation));
        return functions.Concat(lambdas).Select(inner => GraphOf(inner, call, cancellation)).FirstOrDefault(found => found != null);
    }

    private static void Report(OperationBlockAnalysisContext context, IInvocationOperation call, VoronTypes types, string what)
    {
        var type = VoronTypes.Unwrap(call.Type)!;
        var properties = ImmutableDictionary<string, string?>.Empty;
        var isAwaited = types.IsOnlyAsyncDisposable(type);
        if (isAwaited)
            properties = properties.Add(Rules.OnlyAsyncDisposable, bool.TrueString);
        var keyword = isAwaited ? "await using" : "using";
        context.ReportDiagnostic(Diagnostic.Create(
            Rules.Undisposed, call.Syntax.GetLocation(), properties, type.Name, call.TargetMethod.Name, what, keyword));
    }
}
