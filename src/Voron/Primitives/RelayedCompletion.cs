namespace Voron.Primitives;

/// <summary>A completion that the <see cref="CompletionRelay"/> can run.</summary>
internal abstract class RelayedCompletion
{
    /// <summary>The next completion in the same list, which belongs to the journal or to the relay.</summary>
    public RelayedCompletion? Next { get; set; }

    /// <summary>Performs the work of the relay, on a thread that nothing depends on.</summary>
    public abstract void RunRelayed();
}
