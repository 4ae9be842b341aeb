using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Voron.Analyzers.GroupCommit;

/// <summary>Searches the body of an operation for work that continues elsewhere, waits, and forbidden uses of its transaction.</summary>
internal sealed class OperationBody
{
    private readonly VoronTypes _types;
    private readonly IMethodSymbol _function;
    private readonly IOperation _body;
    private readonly OperationAnalyzer.Finding _finding;

    /// <summary>The parameter of the operation, and copies of it.</summary>
    private readonly HashSet<ISymbol> _transactions = new(SymbolEqualityComparer.Default);

    /// <summary>The transaction and everything that was opened through it.</summary>
    private readonly HashSet<ISymbol> _handles = new(SymbolEqualityComparer.Default);

    public OperationBody(VoronTypes types, IMethodSymbol function, IOperation body, OperationAnalyzer.Finding finding)
    {
        _types = types;
        _function = function;
        _body = body;
        _finding = finding;
        _transactions.UnionWith(function.Parameters.Where(parameter => types.IsWriteTransaction(parameter.Type)));
        _handles.UnionWith(_transactions);
        FindVariables();
    }

    public void Check() => Check(_body);

    private void Check(IOperation operation)
    {
        switch (operation)
        {
            case IAnonymousFunctionOperation lambda when IsRunElsewhere(lambda):
                return;
            case ILocalFunctionOperation { Symbol.IsAsync: true }:
                return;
            case IInvocationOperation call:
                if (CheckCall(call))
                    return;
                break;
            case IPropertyReferenceOperation { Property.Name: "Result", Instance: { } task } when VoronTypes.IsTaskLike(task.Type):
                _finding.Report(operation.Syntax.GetLocation(), $"wait for '{task.Describe()}': all other writers wait with it");
                break;
            case IObjectCreationOperation { Type: { Name: "Thread" or "Timer" } type } when VoronTypes.IsIn(type, "System", "Threading"):
                _finding.Report(operation.Syntax.GetLocation(), Start(type.Name));
                return;
            case IUsingOperation or IUsingDeclarationOperation:
                CheckUsing(operation);
                break;
        }

        foreach (var child in operation.ChildOperations)
            Check(child);
    }

    /// <summary>Checks a call.</summary>
    /// <returns>Whether its arguments need no check of their own.</returns>
    private bool CheckCall(IInvocationOperation call)
    {
        var method = call.TargetMethod;
        if (IsTransaction(call.Instance) && (VoronTypes.IsDispose(method) || method.Name is "Commit" or "CommitAsync"))
            _finding.Report(call.Syntax.GetLocation(), End(method.Name.StartsWith("Commit", StringComparison.Ordinal) ? "commit" : "dispose"));
        else if (IsWait(call))
            _finding.Report(call.Syntax.GetLocation(), $"wait with '{call.Describe()}': all other writers wait with it");
        else if (StartsWork(call))
            _finding.Report(call.Syntax.GetLocation(), Start(call.Describe()));
        else if (VoronTypes.IsTaskLike(method.ReturnType) && !call.PassesTaskOn() && PassesHandle(call) && !IsWaitedFor(call))
            _finding.Report(call.Syntax.GetLocation(), $"start '{call.Describe()}': it would use the transaction after the operation has returned");
        return StartsWork(call) || call.Arguments.Any(argument => _types.IsOperation(argument.Parameter));
    }

    private static string Start(string work) => $"start other work with '{work}': it would run beside the operation, or after it";

    private static string End(string how) => $"{how} its transaction: the group commit does so for all operations after they have returned";

    private void CheckUsing(IOperation operation)
    {
        var resources = operation is IUsingOperation statement ? statement.Resources : ((IUsingDeclarationOperation)operation).DeclarationGroup;
        var values = resources is IVariableDeclarationGroupOperation group
            ? group.Descendants().OfType<IVariableDeclaratorOperation>().Select(declarator => declarator.Initializer?.Value)
            : [resources];
        foreach (var value in values.Where(IsTransaction))
            _finding.Report(value!.Syntax.GetLocation(), End("dispose"));
    }

    private static bool IsWait(IInvocationOperation call)
    {
        var method = call.TargetMethod;
        var type = method.ContainingType;
        if (VoronTypes.IsTaskLike(type))
            return method.Name is "Wait" or "WaitAll" or "WaitAny" or "RunSynchronously";
        return method.Name == "GetResult" && VoronTypes.IsAwaiting(type);
    }

    // The wait is reported, not the call that it waits for.
    private static bool IsWaitedFor(IInvocationOperation call)
    {
        for (var current = call.Parent; current != null; current = current.Parent)
        {
            if (current is IInvocationOperation waiting && IsWait(waiting))
                return true;
            if (current is IPropertyReferenceOperation { Property.Name: "Result" })
                return true;
            if (current is IExpressionStatementOperation or IBlockOperation)
                break;
        }

        return false;
    }

    private bool StartsWork(IInvocationOperation call)
    {
        var method = call.TargetMethod;
        var type = method.ContainingType;
        if (VoronTypes.IsIn(type, "System", "Threading", "Tasks"))
        {
            return (type.Name, method.Name) switch
            {
                ("Task", "Run") or ("TaskFactory", "StartNew") => true,
                ("Task", "ContinueWith") => UsesHandle(call),
                ("Parallel", _) => UsesHandle(call),
                _ => false,
            };
        }

        return type.Name == "ThreadPool" && VoronTypes.IsIn(type, "System", "Threading")
            && method.Name.EndsWith("QueueUserWorkItem", StringComparison.Ordinal);
    }

    /// <summary>Whether a lambda leaves the operation, which is reported if it takes the transaction along.</summary>
    private bool IsRunElsewhere(IAnonymousFunctionOperation lambda)
    {
        var used = lambda.Body.Descendants().FirstOrDefault(part => part.Variable() is { } variable && _handles.Contains(variable));
        if (Escapes(lambda))
        {
            if (used != null)
                _finding.Report(lambda.Syntax.GetLocation(), $"keep its transaction: this delegate uses '{used.Describe()}' after the operation has returned");
            return true;
        }

        if (!lambda.Symbol.IsAsync)
            return false;
        if (used != null)
            _finding.Report(lambda.Syntax.GetLocation(), $"pass on its transaction: this asynchronous delegate uses '{used.Describe()}' after the operation has returned");
        return true;
    }

    private bool Escapes(IOperation lambda)
    {
        var current = lambda;
        while (current.Parent is IConversionOperation or IParenthesizedOperation or IDelegateCreationOperation)
            current = current.Parent;
        return current.Parent switch
        {
            IReturnOperation returned => VoronTypes.Same(returned.Function(), _function),
            IAssignmentOperation assignment when assignment.Value == current => IsOutside(assignment.Target),
            IEventAssignmentOperation => true,
            IArgumentOperation { Parent: IInvocationOperation { Instance: { } collection } call } =>
                IsAdd(call.TargetMethod) && IsOutside(collection),
            _ => false,
        };
    }

    private static bool IsAdd(IMethodSymbol method) =>
        method.Name is "Add" or "Enqueue" or "Push" or "Insert" or "TryAdd" or "AddLast" or "AddFirst"
        && VoronTypes.IsSystem(method) && method.ContainingType.IsGenericType;

    // A variable of the operation, or of a function inside it, ends with the operation.
    private bool IsOutside(IOperation target) => target switch
    {
        IDiscardOperation => false,
        ILocalReferenceOperation local => !IsInside(local.Local),
        IParameterReferenceOperation parameter => !IsInside(parameter.Parameter),
        IArrayElementReferenceOperation element => IsOutside(element.ArrayReference),
        IMemberReferenceOperation { Instance: ILocalReferenceOperation or IParameterReferenceOperation } member => IsOutside(member.Instance),
        IMemberReferenceOperation => true,
        _ => false,
    };

    private bool IsInside(ISymbol variable)
    {
        for (var function = variable.ContainingSymbol; function is IMethodSymbol; function = function.ContainingSymbol)
        {
            if (VoronTypes.Same(function, _function))
                return true;
        }

        return false;
    }

    private bool PassesHandle(IInvocationOperation call) =>
        IsHandle(call.Instance) || call.Arguments.Any(argument => IsHandle(argument.Value));

    private bool IsHandle(IOperation? value) => value?.Bare() is IAnonymousFunctionOperation lambda
        ? UsesHandle(lambda)
        : IsOfHandle(value);

    private bool IsOfHandle(IOperation? value) =>
        _types.KindOf(value?.Bare().Type) is LifetimeKind.Transaction or LifetimeKind.Handle && Root(value) is { } root && _handles.Contains(root);

    private bool UsesHandle(IOperation operation) =>
        operation.Descendants().Any(part => part.Variable() is { } variable && _handles.Contains(variable));

    private bool IsTransaction(IOperation? value) => value?.Bare().Variable() is { } variable && _transactions.Contains(variable);

    // A variable may be declared before the one that it is a copy of is assigned, so the search continues as long as it finds something.
    private void FindVariables()
    {
        var assigned = _body.Descendants().Select(Assigned).Where(pair => pair.Variable != null && pair.Value != null).ToList();
        for (var count = -1; count != _handles.Count;)
        {
            count = _handles.Count;
            foreach (var (variable, value) in assigned)
            {
                if (IsTransaction(value))
                    _transactions.Add(variable!);
                if (IsOfHandle(value))
                    _handles.Add(variable!);
            }
        }
    }

    private static (ISymbol? Variable, IOperation? Value) Assigned(IOperation operation) => operation switch
    {
        IVariableDeclaratorOperation declarator => (declarator.Symbol, declarator.Initializer?.Value),
        ISimpleAssignmentOperation assignment => (assignment.Target.Variable(), assignment.Value),
        _ => (null, null),
    };

    /// <summary>The variable at the beginning of a chain of calls.</summary>
    private static ISymbol? Root(IOperation? value)
    {
        while (value != null)
        {
            value = value.Bare();
            switch (value)
            {
                case IInvocationOperation call:
                    value = call.Instance;
                    break;
                case IPropertyReferenceOperation property:
                    value = property.Instance;
                    break;
                default:
                    return value.Variable();
            }
        }

        return null;
    }
}
