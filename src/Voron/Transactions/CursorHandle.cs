using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>
/// What every public cursor is: a pooled cursor, and the generation in which it was opened. A cursor has this as its only field, so it is no larger
/// than these two.
/// </summary>
/// <param name="lease">The pooled cursor.</param>
/// <param name="generation">The generation of the cursor's handle.</param>
internal readonly struct CursorHandle(CursorLease lease, long generation)
{
    // Null in a default value.
    private readonly CursorLease? _lease = lease;
    private readonly long _generation = generation;

    /// <summary>The pooled cursor, for a call that <see cref="Read"/> has begun.</summary>
    public CursorLease Lease
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _lease!;
    }

    /// <summary>The pooled cursor, for a step within a page: it marks nothing, because marking would cost as much as the step.</summary>
    /// <exception cref="InvalidOperationException">The cursor is a default value, or its tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor was disposed, or its transaction has ended.</exception>
    public CursorLease Opened
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var lease = _lease;
            if (lease == null)
                ThrowDefault();
            lease.ThrowIfClosed(_generation);
            return lease;
        }
    }

    /// <summary>Begins a call that reads in the transaction.</summary>
    /// <inheritdoc cref="Opened"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadingCall Read()
    {
        var lease = _lease;
        if (lease == null)
            ThrowDefault();
        return new ReadingCall(lease, _generation);
    }

    /// <summary>Closes the cursor. Further calls of this method do nothing.</summary>
    public void Dispose() => _lease?.Return(_generation);

    /// <summary>Returns the place of the cursor; null if it is closed. Any thread may call this at any time.</summary>
    public string? PlaceOf(Func<CursorLease, long, string?> place) => _lease == null ? null : place(_lease, _generation);

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    /// <param name="what">What the cursor is.</param>
    /// <param name="place">Returns the place; null if the handle has ended.</param>
    public string Describe(string what, Func<CursorLease, long, string?> place) =>
        $"{what} {PlaceOf(place) ?? (_lease == null ? "(never opened)" : "(closed)")}";

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("cursor", "OpenCursor, OpenIds or OpenValues");
}
