using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.GroupCommit;

/// <summary>Finds asynchronous work in operations of a group commit, and uses of their transaction that the engine refuses (VORON003).</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class OperationAnalyzer : DiagnosticAnalyzer
{
    private const string BeAsynchronous = "be asynchronous: it returns at its first 'await', and its transaction ends there";

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rules.AsynchronousOperation];

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
        if (!types.IsVoron(call.TargetMethod) || IsRefused(call.TargetMethod))
            return;
        foreach (var argument in call.Arguments.Where(argument => types.IsOperation(argument.Parameter)))
        {
            var finding = new Finding(context, call.TargetMethod.Name);
            switch (Definition(argument.Value))
            {
                case IAnonymousFunctionOperation lambda when IsAsynchronous(lambda.Symbol):
                    finding.Report(AsyncKeyword(lambda.Syntax), BeAsynchronous);
                    break;
                case IAnonymousFunctionOperation lambda:
                    new OperationBody(types, lambda.Symbol, lambda.Body, finding).Check();
                    break;
                case IMethodReferenceOperation method when IsAsynchronous(method.Method):
                    finding.Report(argument.Value.Syntax.GetLocation(), BeAsynchronous);
                    break;
                case IMethodReferenceOperation method when LocalFunction(method) is { Body: { } body } local:
                    new OperationBody(types, local.Symbol, body, finding).Check();
                    break;
            }
        }
    }

    // The compiler already refuses an overload that is marked as an error.
    private static bool IsRefused(IMethodSymbol method) => method.GetAttributes().Any(attribute =>
        attribute.AttributeClass is { Name: "ObsoleteAttribute" } && attribute.ConstructorArguments.Any(argument => argument.Value is true));

    private static bool IsAsynchronous(IMethodSymbol method) => method.IsAsync || VoronTypes.IsTaskLike(method.ReturnType);

    /// <summary>The lambda or method behind an argument; for a variable, the one that is its only value.</summary>
    private static IOperation Definition(IOperation argument)
    {
        var value = argument.Bare();
        if (value is not ILocalReferenceOperation { Local: var local })
            return value;
        var root = value.Root();
        var declarators = root.Descendants().OfType<IVariableDeclaratorOperation>()
            .Where(declarator => VoronTypes.Same(declarator.Symbol, local) && declarator.Initializer != null).ToList();
        var isAssigned = root.Descendants().OfType<ISimpleAssignmentOperation>()
            .Any(assignment => VoronTypes.Same(assignment.Target.Variable(), local));
        return declarators.Count == 1 && !isAssigned ? declarators[0].Initializer!.Value.Bare() : value;
    }

    private static ILocalFunctionOperation? LocalFunction(IMethodReferenceOperation method)
    {
        if (method.Method.MethodKind != MethodKind.LocalFunction)
            return null;
        return method.Root().Descendants().OfType<ILocalFunctionOperation>()
            .FirstOrDefault(local => VoronTypes.Same(local.Symbol, method.Method.OriginalDefinition));
    }

    private static Location AsyncKeyword(SyntaxNode lambda) =>
        lambda is AnonymousFunctionExpressionSyntax { AsyncKeyword: { RawKind: not 0 } keyword } ? keyword.GetLocation() : lambda.GetLocation();

    /// <summary>Reports what an operation of a call must not do.</summary>
    internal sealed class Finding(OperationAnalysisContext context, string method)
    {
        public void Report(Location place, string what) =>
            context.ReportDiagnostic(Diagnostic.Create(Rules.AsynchronousOperation, place, method, what));
    }
}
