using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;
using Values = System.Collections.Immutable.ImmutableHashSet<Voron.Analyzers.Lifetimes.LifetimeValue>;

namespace Voron.Analyzers.Lifetimes;

/// <summary>Follows the operations of a control flow graph in their order: what each yields, assigns, ends, and uses.</summary>
/// <param name="function">The function that the graph belongs to.</param>
/// <param name="state">The state, which changes with each operation.</param>
/// <param name="report">Receives the uses of ended values; null while the states are not final.</param>
internal sealed class LifetimeTransfer(LifetimeFunction function, LifetimeState state, Action<LifetimeUse>? report)
{
    private static readonly Values None = Values.Empty;

    private readonly VoronTypes _types = function.Types;

    /// <summary>The last call that has written only if its result is true.</summary>
    public (IInvocationOperation Call, Owner Owner)? PossibleWrite { get; set; }

    /// <summary>Returns the values that an operation yields.</summary>
    /// <param name="operation">An operation of a control flow graph.</param>
    /// <param name="isUse">Whether more is done with its result than to pass it on.</param>
    public Values Visit(IOperation? operation, bool isUse)
    {
        switch (operation)
        {
            case null or INameOfOperation or ILiteralOperation or IDefaultValueOperation:
                return None;
            case ILocalReferenceOperation or IParameterReferenceOperation:
                return Read(operation.Variable()!, operation, isUse);
            case IFieldReferenceOperation or IPropertyReferenceOperation when function.Scope.IsFollowed((IMemberReferenceOperation)operation):
                return Read(((IMemberReferenceOperation)operation).Member, operation, isUse);
            case IPropertyReferenceOperation property:
                return VisitProperty(property);
            case IFlowCaptureReferenceOperation captured:
                return Use(state.Get(Place.Of(captured.Id)), operation, isUse);
            case IFlowCaptureOperation capture:
                state.Set(Place.Of(capture.Id), Visit(capture.Value, isUse: false));
                return None;
            case IConversionOperation conversion:
                return VisitConversion(conversion, isUse);
            case IParenthesizedOperation parenthesized:
                return Visit(parenthesized.Operand, isUse);
            case IAwaitOperation awaited:
                var result = Visit(awaited.Operation, isUse);
                state.ForgetMembers();
                return result;
            case ISimpleAssignmentOperation assignment:
                return Assign(assignment.Target, Visit(assignment.Value, isUse: false));
            case IDeconstructionAssignmentOperation deconstruction:
                Deconstruct(deconstruction.Target, deconstruction.Value);
                return None;
            case IInvocationOperation call:
                return new LifetimeCall(function, state, this).Visit(call);
            case IImplicitIndexerReferenceOperation slice:
                var sliced = Visit(slice.Instance, isUse: true);
                Visit(slice.Argument, isUse: true);
                return VoronTypes.IsSpan(slice.Type) ? sliced : None;
            case IIsPatternOperation match:
                VisitPattern(match);
                return None;
            case IIsNullOperation or IIsTypeOperation:
                VisitChildren(operation, isUse: false);
                return None;
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.Equals or BinaryOperatorKind.NotEquals }:
                VisitChildren(operation, isUse: false);
                return None;
            default:
                return VisitOther(operation, isUse);
        }
    }

    private Values VisitOther(IOperation operation, bool isUse)
    {
        switch (operation)
        {
            case IDelegateCreationOperation creation:
                return Visit(creation.Target, isUse);
            case IMethodReferenceOperation method:
                return Keep(Visit(method.Instance, isUse: false), operation.Syntax);
            case IFlowAnonymousFunctionOperation lambda:
                return VisitCaptures(function.CapturesOf(lambda), lambda.Syntax, place: null);
            case IObjectCreationOperation:
                VisitChildren(operation, isUse: true);
                if (!VoronTypes.IsSystem(operation.Type) && !_types.IsVoron(operation.Type))
                    state.ForgetMembers();
                return None;
            default:
                VisitChildren(operation, isUse: true);
                return None;
        }
    }

    /// <summary>Notes that a lambda or local function uses variables of this function, and returns the valid values that it keeps.</summary>
    /// <param name="captures">The uses, one of each variable.</param>
    /// <param name="origin">The lambda, or the call of the local function.</param>
    /// <param name="place">The place to report; null for that of the use.</param>
    public Values VisitCaptures(IEnumerable<IOperation> captures, SyntaxNode origin, SyntaxNode? place)
    {
        var kept = None;
        foreach (var capture in captures.Where(capture => function.IsFollowed(capture.Variable()!)))
            kept = kept.Union(Use(state.Get(Place.Of(capture.Variable()!)), capture, isUse: true, place));
        return Keep(kept, origin);
    }

    /// <summary>Assigns values to the target of an assignment or an out argument.</summary>
    public Values Assign(IOperation target, Values values)
    {
        switch (target)
        {
            case IDeclarationExpressionOperation declaration:
                return Assign(declaration.Expression, values);
            case IFlowCaptureReferenceOperation captured:
                state.Set(Place.Of(captured.Id), values);
                if (function.CapturedVariable(captured.Id) is { } variable)
                    Assign(variable, values);
                break;
            case ILocalReferenceOperation or IParameterReferenceOperation when function.IsFollowed(target.Variable()!):
                state.Set(Place.Of(target.Variable()!), values);
                break;
            case IMemberReferenceOperation member when function.Scope.IsFollowed(member):
                state.Set(Place.Of(member.Member), values);
                break;
            case IMemberReferenceOperation or IArrayElementReferenceOperation or IImplicitIndexerReferenceOperation:
                VisitChildren(target, isUse: true);
                break;
        }

        return values;
    }

    /// <summary>Returns handles or spans that come from others, through a member of the engine.</summary>
    public Values Derive(Values from, ITypeSymbol? type, SyntaxNode origin)
    {
        var kind = _types.KindOf(type);
        if (kind is not LifetimeKind.Handle and not LifetimeKind.View)
            return None;
        return Derive(from, kind, origin);
    }

    public static Values Derive(Values from, LifetimeKind kind, SyntaxNode origin) =>
        [.. from.Where(value => value.IsValid).Select(value => LifetimeValue.Of(value.Owner, kind, origin))];

    /// <summary>Reports a variable whose values cannot be used any more on any path from where they came.</summary>
    private Values Use(Values values, IOperation operation, bool isUse, SyntaxNode? place = null)
    {
        if (isUse && report != null && FirstEnded(values) is { } ended)
            report(new(place ?? operation.Syntax, operation.Describe(), ended, Escape: null));
        return values;
    }

    /// <summary>
    /// One of the values that have ended, unless the same value is valid on another path: the paths may depend on conditions that exclude
    /// each other.
    /// </summary>
    public static LifetimeValue? FirstEnded(IEnumerable<LifetimeValue> values) =>
        values.Where(value => value.Kind != LifetimeKind.Batch)
            .GroupBy(value => (value.Owner, value.Origin))
            .Where(group => group.All(value => !value.IsValid))
            .Select(group => group.OrderBy(value => value.EndedBy!.SpanStart).First())
            .OrderBy(value => value.EndedBy!.SpanStart)
            .FirstOrDefault();

    private Values Read(ISymbol variable, IOperation operation, bool isUse) =>
        function.IsFollowed(variable) ? Use(state.Get(Place.Of(variable)), operation, isUse) : None;

    // A delegate that uses a handle can be called only as long as the handle can be used.
    private static Values Keep(Values values, SyntaxNode origin) =>
        Derive([.. values.Where(value => value.Kind is LifetimeKind.Transaction or LifetimeKind.Handle)], LifetimeKind.Handle, origin);

    private Values VisitConversion(IConversionOperation conversion, bool isUse)
    {
        var method = conversion.OperatorMethod;
        if (method == null || _types.IsVoron(method) || VoronTypes.IsSystem(method))
            return Visit(conversion.Operand, isUse);
        Visit(conversion.Operand, isUse: true);
        return None;
    }

    private Values VisitProperty(IPropertyReferenceOperation property)
    {
        // The length of a span is in the span, not in the memory that it points to.
        var isLength = VoronTypes.IsSpan(property.Instance?.Type) && property.Property.Name is "Length" or "IsEmpty";
        var passesOn = property.IsInnerValue();
        var from = Visit(property.Instance, isUse: !isLength && !passesOn);
        foreach (var argument in property.Arguments)
            Visit(argument.Value, isUse: true);
        if (passesOn)
            return from;
        if (_types.IsVoron(property.Property))
            return DerivePart(from, property);
        return property.Type is { IsRefLikeType: true } && VoronTypes.IsSystem(property.Property) ? from : None;
    }

    private Values DerivePart(Values from, IPropertyReferenceOperation property)
    {
        if (!_types.IsCursor(property.Instance?.Type) || !VoronTypes.IsSpan(property.Type))
            return Derive(from, property.Type, property.Syntax);
        return
        [
            .. from.Where(cursor => cursor.IsValid).Select(cursor => LifetimeValue.Of(cursor.Owner, LifetimeKind.View, property.Syntax) with
            {
                IsAtCursor = true,
                CursorOrigin = cursor.Origin,
            }),
        ];
    }

    private void Deconstruct(IOperation target, IOperation value)
    {
        target = target is IDeclarationExpressionOperation declaration ? declaration.Expression : target;
        if (target is not ITupleOperation targets)
        {
            Assign(target, Visit(value, isUse: false));
            return;
        }

        if (value.Bare() is ITupleOperation values && values.Elements.Length == targets.Elements.Length)
        {
            var elements = values.Elements.Select(element => Visit(element, isUse: false)).ToArray();
            for (var i = 0; i < elements.Length; i++)
                Assign(targets.Elements[i], elements[i]);
            return;
        }

        // A struct of the engine that takes itself apart hands its own parts out.
        var whole = Visit(value, isUse: true);
        if (!_types.IsVoron(value.Type))
            whole = None;
        foreach (var element in targets.Elements.SelectMany(element => element.DescendantsAndSelf()).Where(element => element.Variable() != null))
            Assign(element, Derive(whole, element.Type, element.Syntax));
    }

    private void VisitPattern(IIsPatternOperation match)
    {
        var isRead = match.Pattern.DescendantsAndSelf().Any(part => part is IPropertySubpatternOperation or IListPatternOperation);
        var values = Visit(match.Value, isRead);
        foreach (var part in match.Pattern.DescendantsAndSelf())
        {
            var declared = part switch
            {
                IDeclarationPatternOperation declaration => declaration.DeclaredSymbol,
                IRecursivePatternOperation recursive => recursive.DeclaredSymbol,
                _ => null,
            };
            if (declared is not ILocalSymbol local || !function.IsFollowed(local))
                continue;
            var isWhole = part == match.Pattern;
            state.Set(Place.Of(local), isWhole ? values : Derive(values, local.Type, part.Syntax));
        }
    }

    private void VisitChildren(IOperation operation, bool isUse)
    {
        foreach (var child in operation.ChildOperations)
            Visit(child, isUse);
    }
}
