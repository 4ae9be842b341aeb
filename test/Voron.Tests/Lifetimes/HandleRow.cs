namespace Voron.Tests.Lifetimes;

/// <summary>A public instance member of a handle type, a call of it, and its outcome in states where that is not the usual one.</summary>
/// <param name="Member">The member, as <see cref="HandleMembers"/> names it.</param>
/// <param name="Call">The call.</param>
internal sealed record HandleRow<T>(string Member, Action<T> Call)
    where T : allows ref struct
{
    /// <summary>
    /// The outcomes that are not those of the handle type; a member that has the state <see cref="HandleState.Open"/> here works always.
    /// </summary>
    public IReadOnlyDictionary<HandleState, Outcome> Unusual { get; init; } = new Dictionary<HandleState, Outcome>();

    /// <summary>True for a member that can be called in every state.</summary>
    public bool WorksAlways { get; init; }

    /// <summary>The outcome in a state.</summary>
    /// <param name="state">The state.</param>
    /// <param name="usual">The outcome of most members of the type.</param>
    public Outcome In(HandleState state, Outcome usual) =>
        Unusual.TryGetValue(state, out var outcome) ? outcome : WorksAlways ? Outcome.Works : usual;
}
