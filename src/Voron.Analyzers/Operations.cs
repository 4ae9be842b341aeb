using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers;

/// <summary>Questions about operations that several rules ask.</summary>
internal static class Operations
{
    /// <summary>The operation below conversions and parentheses.</summary>
    public static IOperation Bare(this IOperation operation)
    {
        while (true)
        {
            switch (operation)
            {
                case IConversionOperation conversion:
                    operation = conversion.Operand;
                    break;
                case IParenthesizedOperation parenthesized:
                    operation = parenthesized.Operand;
                    break;
                case IDelegateCreationOperation creation:
                    operation = creation.Target;
                    break;
                default:
                    return operation;
            }
        }
    }

    /// <summary>The operation of the whole member.</summary>
    public static IOperation Root(this IOperation operation)
    {
        while (operation.Parent != null)
            operation = operation.Parent;
        return operation;
    }

    /// <summary>The function that contains the operation: a lambda, a local function, or else null for the member.</summary>
    public static IMethodSymbol? Function(this IOperation operation)
    {
        for (var current = operation.Parent; current != null; current = current.Parent)
        {
            if (current is IAnonymousFunctionOperation lambda)
                return lambda.Symbol;
            if (current is ILocalFunctionOperation local)
                return local.Symbol;
        }

        return null;
    }

    /// <summary>The operations of a block in their order, each with its parts, and the one that decides how the block is left.</summary>
    public static ImmutableArray<IOperation> Roots(this BasicBlock block) =>
        block.BranchValue == null ? block.Operations : block.Operations.Add(block.BranchValue);

    /// <summary>All operations of a graph, but not those of nested functions.</summary>
    public static IEnumerable<IOperation> Descendants(this ControlFlowGraph graph) =>
        graph.Blocks.SelectMany(block => block.Roots()).SelectMany(root => root.DescendantsAndSelf());

    /// <summary>The local variable or parameter that an operation refers to.</summary>
    public static ISymbol? Variable(this IOperation? operation) => operation switch
    {
        ILocalReferenceOperation local => local.Local,
        IParameterReferenceOperation parameter => parameter.Parameter,
        _ => null,
    };

    public static bool IsThisOrStatic(this IMemberReferenceOperation member) =>
        member.Instance is null or IInstanceReferenceOperation { ReferenceKind: InstanceReferenceKind.ContainingTypeInstance };

    /// <summary>Whether a call belongs to an awaited task: it only passes the task or its result on.</summary>
    public static bool PassesTaskOn(this IInvocationOperation call) =>
        call.Instance != null && (VoronTypes.IsTaskLike(call.Instance.Type) || VoronTypes.IsAwaiting(call.Instance.Type))
        && call.TargetMethod.Name is "ConfigureAwait" or "AsTask" or "GetAwaiter" or "GetResult" or "Preserve" or "WaitAsync";

    /// <summary>Whether a property is the value inside a nullable or a task.</summary>
    public static bool IsInnerValue(this IPropertyReferenceOperation property) => property.Instance?.Type is { } type && (
        (property.Property.Name == "Result" && VoronTypes.IsTaskLike(type))
        || (property.Property.Name == "Value" && type.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T));

    /// <summary>The first member that a conditional access calls or reads on its value.</summary>
    public static IOperation? FirstMember(this IConditionalAccessOperation access) => access.WhenNotNull.DescendantsAndSelf().FirstOrDefault(member =>
        member is IInvocationOperation { Instance: IConditionalAccessInstanceOperation }
            or IMemberReferenceOperation { Instance: IConditionalAccessInstanceOperation });

    /// <summary>The expression that stands for an operation in messages.</summary>
    public static string Describe(this IOperation operation)
    {
        var syntax = operation.Syntax is InvocationExpressionSyntax { Expression: var called } ? called : operation.Syntax;
        var text = syntax is MemberAccessExpressionSyntax or IdentifierNameSyntax ? syntax.ToString() : syntax.ToString().Split('\n')[0].Trim();
        return text.Length <= 60 ? text : text.Substring(0, 57) + "...";
    }
}
