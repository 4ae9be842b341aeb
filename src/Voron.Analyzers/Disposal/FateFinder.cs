using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Disposal;

/// <summary>
/// Finds what the code does with a value that must be disposed, from the operations around it. A construction that it does not know counts as
/// handing the value over.
/// </summary>
internal sealed class FateFinder(VoronTypes types)
{
    /// <summary>Finds the fate of a value.</summary>
    /// <param name="value">The call that returns it, or a reference to the variable that holds it.</param>
    /// <param name="local">The variable to which it is assigned.</param>
    public Fate Of(IOperation value, out ILocalSymbol? local)
    {
        local = null;
        for (var current = value; current.Parent is { } parent; current = parent)
        {
            switch (parent)
            {
                case IConversionOperation or IAwaitOperation or IParenthesizedOperation or ISwitchExpressionArmOperation or ISwitchExpressionOperation
                    or ICoalesceOperation:
                    continue;
                case IConditionalOperation conditional when conditional.Condition != current:
                    continue;
                case IConditionalAccessOperation access when access.WhenNotNull == current:
                    continue;
                case IConditionalAccessOperation access:
                    return access.FirstMember() is IInvocationOperation called && IsRelease(called) ? Fate.HandedOver : Fate.Used;
                case IVariableInitializerOperation initializer:
                    return OfInitializer(initializer, out local);
                case ISimpleAssignmentOperation assignment when assignment.Value == current:
                    return OfAssignment(assignment, out local);
                case IIsPatternOperation match:
                    return OfPattern(match, out local);
                case IExpressionStatementOperation statement when IsBodyOfLambda(statement):
                    return Fate.HandedOver;
                case IExpressionStatementOperation or INameOfOperation or IBinaryOperation or IIsTypeOperation:
                    return Fate.Used;
                case IInvocationOperation call when call.Instance == current:
                    if (call.PassesTaskOn() || types.ReturnsItself(call.TargetMethod))
                        continue;
                    return OfCall(call);
                case IPropertyReferenceOperation property when property.Instance == current:
                    if (property.IsInnerValue())
                        continue;
                    return VoronTypes.IsTaskLike(current.Type) ? Fate.HandedOver : Fate.Used;
                default:
                    return Fate.HandedOver;
            }
        }

        return Fate.HandedOver;
    }

    private Fate OfCall(IInvocationOperation call)
    {
        if (IsRelease(call) || VoronTypes.IsTaskLike(call.Instance!.Type))
            return Fate.HandedOver;
        // A transaction that is committed at once has no code in between that could throw.
        if (call.TargetMethod.Name is "Commit" or "CommitAsync" && call.Instance is IInvocationOperation)
            return Fate.HandedOver;
        // A ref struct that returns another one, such as a range in reverse, hands its place over to it.
        var isPart = call.Instance.Type is { IsRefLikeType: true } && call.Type is { IsRefLikeType: true };
        return isPart ? Fate.HandedOver : Fate.Used;
    }

    // A savepoint ends with its transaction, so that any use of it is enough; a nested transaction must be ended in one way or the other.
    private bool IsRelease(IInvocationOperation call)
    {
        var type = VoronTypes.Unwrap(call.TargetMethod.ContainingType);
        return VoronTypes.IsDispose(call.TargetMethod) || types.IsSavepoint(type) || (types.IsNested(type) && call.TargetMethod.Name == "Commit");
    }

    // Such as in a test that expects the call to throw.
    private static bool IsBodyOfLambda(IExpressionStatementOperation statement) =>
        statement.Parent is IBlockOperation { Parent: IAnonymousFunctionOperation { Syntax: LambdaExpressionSyntax { ExpressionBody: not null } } };

    private static Fate OfInitializer(IVariableInitializerOperation initializer, out ILocalSymbol? local)
    {
        local = null;
        if (initializer.Parent is not IVariableDeclaratorOperation declarator)
            return Fate.HandedOver;
        for (var current = declarator.Parent; current is not null; current = current.Parent)
        {
            if (current is IUsingDeclarationOperation or IUsingOperation)
                return Fate.HandedOver;
            if (current is not (IVariableDeclarationOperation or IVariableDeclarationGroupOperation))
                break;
        }

        local = declarator.Symbol;
        return local.RefKind == RefKind.None ? Fate.Local : Fate.HandedOver;
    }

    private Fate OfAssignment(ISimpleAssignmentOperation assignment, out ILocalSymbol? local)
    {
        local = null;
        switch (assignment.Target)
        {
            case IDiscardOperation:
                return assignment.Parent is IExpressionStatementOperation statement && IsBodyOfLambda(statement) ? Fate.HandedOver : Fate.Used;
            case ILocalReferenceOperation { Local: { RefKind: RefKind.None } target }:
                if (assignment.Parent is not IExpressionStatementOperation && Of(assignment, out _) == Fate.HandedOver)
                    return Fate.HandedOver;
                local = target;
                return Fate.Local;
            default:
                return Fate.HandedOver;
        }
    }

    private static Fate OfPattern(IIsPatternOperation match, out ILocalSymbol? local)
    {
        local = match.Pattern switch
        {
            IDeclarationPatternOperation declaration => declaration.DeclaredSymbol as ILocalSymbol,
            IRecursivePatternOperation recursive => recursive.DeclaredSymbol as ILocalSymbol,
            _ => null,
        };
        if (local != null)
            return Fate.Local;
        // A pattern inside this one may give the value to a variable.
        var declares = match.Pattern.Descendants().Any(part =>
            part is IDeclarationPatternOperation { DeclaredSymbol: not null } or IRecursivePatternOperation { DeclaredSymbol: not null });
        return declares ? Fate.HandedOver : Fate.Used;
    }
}
