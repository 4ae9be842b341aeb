using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;
using Values = System.Collections.Immutable.ImmutableHashSet<Voron.Analyzers.Lifetimes.LifetimeValue>;

namespace Voron.Analyzers.Lifetimes;

/// <summary>Follows one call: its arguments, what it ends or invalidates, and the values that it yields.</summary>
internal sealed class LifetimeCall(LifetimeFunction function, LifetimeState state, LifetimeTransfer transfer)
{
    private static readonly Values None = Values.Empty;

    private readonly VoronTypes _types = function.Types;

    public Values Visit(IInvocationOperation call)
    {
        var method = call.TargetMethod;
        var isVoron = _types.IsVoron(method);
        var passesOn = call.PassesTaskOn() || IsNullableValue(call);
        var receiver = transfer.Visit(call.Instance, isUse: !passesOn && !VoronTypes.IsDispose(method));
        var arguments = VisitArguments(call);
        if (method.MethodKind == MethodKind.LocalFunction)
            transfer.VisitCaptures(function.CapturesOf(method), call.Syntax, call.Syntax);
        if (passesOn)
            return receiver;

        if (isVoron && method.IsExtensionMethod && call.Instance == null)
            receiver = arguments.FirstOrDefault() ?? None;
        ApplyEnd(call, receiver);
        ApplyWrite(call, receiver);
        ApplyMove(call, receiver);
        if (!isVoron && !VoronTypes.IsDispose(method) && !IsOfSpans(method))
            state.ForgetMembers();
        var isBatch = receiver.Any(value => value.Kind == LifetimeKind.Batch);
        AssignOutputs(call, isVoron ? receiver : None);
        if (isVoron)
            FillBatches(call, receiver);

        if (_types.KindOf(method.ReturnType) == LifetimeKind.Transaction)
            return Begin(call, isVoron);
        if (isVoron)
            return isBatch ? None : New(receiver, method.ReturnType, call.Syntax);
        // A part of a span, or another view of it, such as a slice.
        return method.ReturnType.IsRefLikeType && VoronTypes.IsSystem(method)
            ? [.. arguments.Aggregate(receiver, (all, argument) => all.Union(argument)).Where(value => value.Kind == LifetimeKind.View)]
            : None;
    }

    private static bool IsNullableValue(IInvocationOperation call) =>
        call.TargetMethod.Name == "GetValueOrDefault" && call.Instance?.Type?.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T;

    private static bool IsOfSpans(IMethodSymbol method) =>
        VoronTypes.IsSpan(method.ContainingType)
        || (method.ContainingType.Name is "MemoryExtensions" or "MemoryMarshal" && VoronTypes.IsSystem(method));

    private List<Values> VisitArguments(IInvocationOperation call)
    {
        var found = new List<Values>();
        foreach (var argument in call.Arguments)
        {
            if (argument.Parameter?.RefKind == RefKind.Out)
            {
                found.Add(None);
                continue;
            }

            // A method that gets a reference may assign another value, and often does so because the old one has ended.
            var isReference = argument.Parameter?.RefKind == RefKind.Ref;
            found.Add(transfer.Visit(argument.Value, isUse: !isReference));
            if (isReference)
                transfer.Assign(argument.Value, None);
        }

        return found;
    }

    private void ApplyEnd(IInvocationOperation call, Values receiver)
    {
        var name = call.TargetMethod.Name;
        var isDispose = VoronTypes.IsDispose(call.TargetMethod);
        var isCommit = _types.IsVoron(call.TargetMethod) && name is "Commit" or "CommitAsync" or "Release";
        if ((!isDispose && !isCommit) || SingleOwner(receiver) is not { } owner)
            return;
        if (receiver.All(value => value.Kind == LifetimeKind.Transaction))
            state.End(owner, isDispose ? LifetimeStatus.Disposed : LifetimeStatus.Committed, call.Syntax);
        else if (receiver.All(value => value.Kind == LifetimeKind.Handle) && receiver.Select(value => value.Origin).Distinct().Count() == 1)
            state.Close(receiver.First(), call.Syntax);
    }

    // A call that returns false has written nothing. If its result decides how the code continues, the write is noted on that path only; if the
    // code does something else with the result, nothing is known.
    private void ApplyWrite(IInvocationOperation call, Values receiver)
    {
        if (!_types.Writes(call.TargetMethod) || SingleOwner(receiver) is not { } owner)
            return;
        if (call.TargetMethod.ReturnType.SpecialType != SpecialType.System_Boolean || IsIgnored(call))
            state.Overwrite(owner, call.Syntax);
        else
            transfer.PossibleWrite = (call, owner);
    }

    // A call that finds nothing moves the cursor as well.
    private void ApplyMove(IInvocationOperation call, Values receiver)
    {
        if (_types.Moves(call.TargetMethod) && receiver.Count == 1)
            state.Move(receiver.First(), call.Syntax);
    }

    private static bool IsIgnored(IInvocationOperation call) =>
        call.Parent is IExpressionStatementOperation or ISimpleAssignmentOperation { Target: IDiscardOperation };

    private void AssignOutputs(IInvocationOperation call, Values receiver)
    {
        foreach (var argument in call.Arguments.Where(argument => argument.Parameter?.RefKind == RefKind.Out))
            transfer.Assign(argument.Value, New(receiver, argument.Parameter!.Type, argument.Syntax));
    }

    private void FillBatches(IInvocationOperation call, Values receiver)
    {
        var filled = call.Arguments.Where(argument => argument.Parameter?.Type is { TypeKind: TypeKind.Class } type && _types.IsVoron(type));
        foreach (var argument in filled)
            transfer.Assign(argument.Value, LifetimeTransfer.Derive(receiver, LifetimeKind.Batch, argument.Syntax));
    }

    private Values New(Values from, ITypeSymbol type, SyntaxNode origin)
    {
        var derived = transfer.Derive(from, type, origin);
        if (!derived.IsEmpty && derived.Any(value => value.Kind == LifetimeKind.Handle))
            state.Forget(origin);
        return derived;
    }

    private Values Begin(IInvocationOperation call, bool isVoron)
    {
        state.Forget(call.Syntax);
        return [LifetimeValue.Of(isVoron ? Owner.BegunAt(call.Syntax) : Owner.Elsewhere(call.Syntax), LifetimeKind.Transaction, call.Syntax)];
    }

    // A variable that may hold one of several transactions says nothing certain about any of them.
    private static Owner? SingleOwner(Values values)
    {
        var owners = values.Select(value => value.Owner).Distinct().Take(2).ToArray();
        return owners.Length == 1 ? owners[0] : null;
    }
}
