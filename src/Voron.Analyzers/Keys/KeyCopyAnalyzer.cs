using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Keys;

/// <summary>Finds keys of indexes that are continued through a copy of their writer (VORON005).</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class KeyCopyAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.KeyCopy];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(start =>
        {
            if (VoronTypes.Of(start.Compilation) is { } types)
                start.RegisterOperationAction(operation => Check(operation, types), OperationKind.Invocation);
        });
    }

    private static void Check(OperationAnalysisContext context, VoronTypes types)
    {
        var call = (IInvocationOperation)context.Operation;
        if (!call.TargetMethod.ReturnsByRef || !types.IsVoron(call.TargetMethod) || BeginOf(call, types) is not { } begin)
            return;
        switch (call.Parent)
        {
            case IVariableInitializerOperation { Parent: IVariableDeclaratorOperation { Symbol: { RefKind: RefKind.None } local } }
                when IsWritten(local, call):
                Report(context, call, local.Name, begin, $"declare it as 'ref var {local.Name} = ref ...'");
                break;
            case ISimpleAssignmentOperation { IsRef: false, Target: ILocalReferenceOperation { Local: var local } } assignment
                when assignment.Value == call && IsWritten(local, call):
                Report(context, call, local.Name, begin, $"declare a reference, 'ref var {local.Name} = ref ...'");
                break;
            case IArgumentOperation { Parameter: { RefKind: RefKind.None } parameter } when !types.IsVoron(parameter.ContainingSymbol):
                Report(context, call, parameter.Name, begin, "pass it by reference");
                break;
        }
    }

    // The call that has begun the key, if this one continues it: keys.Begin().Add(1).Add(2).
    private static IInvocationOperation? BeginOf(IInvocationOperation call, VoronTypes types)
    {
        for (IOperation? current = call; current is IInvocationOperation { TargetMethod.ReturnsByRef: true } link; current = link.Instance)
        {
            if (types.IsIndexKeys(link.TargetMethod.ContainingType))
                return link;
        }

        return null;
    }

    // A copy that is only read is no fault.
    private static bool IsWritten(ILocalSymbol local, IOperation call) =>
        call.Root().Descendants().OfType<ILocalReferenceOperation>().Any(reference => VoronTypes.Same(reference.Local, local)
            && reference.Parent is IInvocationOperation { TargetMethod.ReturnsByRef: true } or IArgumentOperation { Parameter.RefKind: RefKind.Ref });

    private static void Report(OperationAnalysisContext context, IInvocationOperation call, string name, IInvocationOperation begin, string repair) =>
        context.ReportDiagnostic(Diagnostic.Create(Rules.KeyCopy, call.Syntax.GetLocation(), name, begin.TargetMethod.Name, repair));
}
