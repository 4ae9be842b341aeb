using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.Lifetimes;

/// <summary>
/// The code of one member, with what its nested functions do to the variables around them. A nested function runs at an unknown time, so a
/// variable that it assigns or ends is not followed in the function that declares it.
/// </summary>
internal sealed class LifetimeScope
{
    private readonly VoronTypes _types;
    private readonly HashSet<ISymbol> _changedElsewhere = new(SymbolEqualityComparer.Default);
    private readonly Dictionary<SyntaxNode, IInvocationOperation> _groupOperations = [];
    private readonly HashSet<ISymbol> _members = new(SymbolEqualityComparer.Default);

    public LifetimeScope(VoronTypes types, ISymbol member, IOperation code)
    {
        _types = types;
        Member = member;
        foreach (var operation in code.DescendantsAndSelf())
        {
            if (operation.Variable() is { } variable)
                Note(operation, variable);
            else if (operation is IMemberReferenceOperation reference && IsFollowed(reference))
                _members.Add(reference.Member);
            else if (operation is IArgumentOperation argument && types.IsOperation(argument.Parameter)
                && argument.Value.Bare() is IAnonymousFunctionOperation function)
                _groupOperations[function.Syntax] = (IInvocationOperation)argument.Parent!;
        }
    }

    /// <summary>The member whose code it is.</summary>
    public ISymbol Member { get; }

    /// <summary>The fields and properties of the object, and static ones, that hold transactions or parts of them.</summary>
    public IEnumerable<ISymbol> Members => _members;

    /// <summary>Whether a lambda is an operation of a group commit, whose transaction ends when it returns.</summary>
    public bool IsGroupOperation(SyntaxNode lambda) => _groupOperations.ContainsKey(lambda);

    /// <summary>Whether the code that runs an operation ignores its result.</summary>
    public bool IsResultIgnored(SyntaxNode lambda)
    {
        IOperation current = _groupOperations[lambda];
        while (current.Parent is IConversionOperation or IAwaitOperation or IParenthesizedOperation
            || (current.Parent is IInvocationOperation call && call.PassesTaskOn()))
            current = current.Parent;
        // A task that is kept or passed on need not have a result that is ever looked at.
        return current.Parent is IExpressionStatementOperation or ISimpleAssignmentOperation { Target: IDiscardOperation }
            || VoronTypes.IsTaskLike(current.Type) || VoronTypes.IsAwaiting(current.Type);
    }

    /// <summary>Whether a variable can be followed in a function.</summary>
    public bool IsFollowed(ISymbol variable, ISymbol function) =>
        variable is not ILocalSymbol { RefKind: not RefKind.None }
        && (!IsOf(variable, function) || !_changedElsewhere.Contains(variable));

    public bool IsFollowed(IMemberReferenceOperation reference) =>
        IsVariable(reference.Member) && reference.IsThisOrStatic() && !_types.IsVoron(reference.Member) && _types.IsRoot(reference.Type);

    /// <summary>Whether a function declares a variable.</summary>
    public static bool IsOf(ISymbol variable, ISymbol function) => VoronTypes.Same(variable.ContainingSymbol, function);

    // The value of any other property may be another one at each call.
    private static bool IsVariable(ISymbol member) => member is IFieldSymbol || (member is IPropertySymbol
        && member.ContainingType.GetMembers().Any(field => field is IFieldSymbol { AssociatedSymbol: { } owner } && VoronTypes.Same(owner, member)));

    private void Note(IOperation reference, ISymbol variable)
    {
        var function = reference.Function() ?? Member;
        if (IsAliased(reference) || (!IsOf(variable, function) && Changes(reference)))
            _changedElsewhere.Add(variable);
    }

    // Another name for the variable may change it.
    private static bool IsAliased(IOperation reference) => reference.Parent switch
    {
        ISimpleAssignmentOperation assignment => assignment.IsRef,
        IVariableInitializerOperation { Parent: IVariableDeclaratorOperation declarator } => declarator.Symbol.RefKind != RefKind.None,
        IAddressOfOperation => true,
        _ => false,
    };

    // A reference that is not plainly a value or the receiver of a call may assign the variable.
    private static bool Changes(IOperation reference)
    {
        var parent = reference.Parent;
        while (parent is IConversionOperation or IParenthesizedOperation)
            parent = parent.Parent;
        return parent switch
        {
            IAssignmentOperation assignment => assignment.Target == reference,
            IArgumentOperation argument => argument.Parameter?.RefKind is RefKind.Out or RefKind.Ref,
            IInvocationOperation { TargetMethod: var method } =>
                VoronTypes.IsDispose(method) || method.Name.StartsWith("Commit", StringComparison.Ordinal),
            IUsingOperation or ITupleOperation or IConditionalAccessOperation => true,
            _ => false,
        };
    }
}
