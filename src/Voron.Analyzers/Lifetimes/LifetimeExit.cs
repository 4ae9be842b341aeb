using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.FlowAnalysis;

namespace Voron.Analyzers.Lifetimes;

/// <summary>Reports values that leave a function although their transaction has ended when it returns.</summary>
internal static class LifetimeExit
{
    public static void Report(LifetimeFunction function, LifetimeState state, BasicBlock last, Action<LifetimeUse> report)
    {
        var place = (last.BranchValue ?? function.Graph.OriginalOperation).Syntax;
        if (function.OperationParameter is { } operation)
            state.End(Owner.Held(operation, isBegunHere: true), LifetimeStatus.Disposed, place);

        // A transaction that the object keeps is ended by its other methods, with everything that belongs to it.
        var kept = state.Places.Where(pair => pair.Key.IsMember).SelectMany(pair => pair.Value)
            .Where(held => held.Kind == LifetimeKind.Transaction).Select(held => held.Owner).ToList();
        foreach (var pair in state.Places)
        {
            if (LifetimeTransfer.FirstEnded(pair.Value) is not { Origin: not null } ended)
                continue;
            if (pair.Key.IsReturned && function.IsResultIgnored)
                continue;
            if (pair.Key.IsReturned)
                report(new(place, Text(place), ended, LifetimeEscape.Returned));
            else if (pair.Key.Symbol is IParameterSymbol { RefKind: RefKind.Out or RefKind.Ref })
                report(new(ended.Origin, pair.Key.Symbol.Name, ended, LifetimeEscape.AssignedToParameter));
            else if (pair.Key.Symbol is { } symbol && ended.Owner.IsBegunHere && IsElsewhere(function, pair.Key) && !kept.Contains(ended.Owner))
                report(new(ended.Origin, symbol.Name, ended, LifetimeEscape.Kept));
        }
    }

    // Variables of the functions around this one, fields and properties live longer than the call.
    private static bool IsElsewhere(LifetimeFunction function, Place place) =>
        place.IsMember || (place.Symbol is ILocalSymbol && !LifetimeScope.IsOf(place.Symbol, function.Symbol));

    private static string Text(SyntaxNode syntax)
    {
        if (syntax is InvocationExpressionSyntax call)
            syntax = call.Expression;
        var text = syntax.ToString();
        return text.Length <= 60 ? text : text.Substring(0, 57) + "...";
    }
}
