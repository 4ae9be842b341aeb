using System.Runtime.CompilerServices;

namespace Voron.Tests;

/// <summary>
/// The one limit of all waits. It only ends tests that hang: no test may take it for a measure of what the engine does, since another program
/// can keep the processors busy for seconds.
/// </summary>
internal static class TestWait
{
    /// <summary>The limit, which no wait reaches even on a machine with many more busy threads than processors.</summary>
    public static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    private const int TurnsOfMistake = 25;

    private static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(2);

    /// <summary>Polls until the condition holds.</summary>
    /// <param name="condition">What the test waits for.</param>
    /// <param name="because">Why it has to come, for the message.</param>
    /// <param name="awaited">The text of the condition; the compiler passes it.</param>
    /// <exception cref="TimeoutException">The condition does not hold within the limit.</exception>
    public static void Until(Func<bool> condition, string because = "", [CallerArgumentExpression(nameof(condition))] string awaited = "")
    {
        if (!SpinWait.SpinUntil(condition, Limit))
            throw Expired(because, awaited);
    }

    /// <inheritdoc cref="Until"/>
    public static Task UntilAsync(
        Func<bool> condition, string because = "", [CallerArgumentExpression(nameof(condition))] string awaited = "") =>
        UntilAsync(() => Task.FromResult(condition()), because, awaited);

    /// <inheritdoc cref="Until"/>
    public static async Task UntilAsync(
        Func<Task<bool>> condition, string because = "", [CallerArgumentExpression(nameof(condition))] string awaited = "")
    {
        var deadline = Deadline();
        while (!await condition())
        {
            if (Environment.TickCount64 > deadline)
                throw Expired(because, awaited);
            await Task.Delay(Turn, TestContext.Current.CancellationToken);
        }
    }

    /// <summary>Repeats work without a pause until the condition holds.</summary>
    /// <inheritdoc cref="Until"/>
    public static void WorkUntil(
        Func<bool> condition, Action work, string because = "", [CallerArgumentExpression(nameof(condition))] string awaited = "")
    {
        var deadline = Deadline();
        while (!condition())
        {
            if (Environment.TickCount64 > deadline)
                throw Expired(because, awaited);
            work();
        }
    }

    /// <summary>
    /// Gives a faulty engine time to make a mistake, before the test asserts that it has made none. A sound engine passes however slow the
    /// machine is; on a slow one, only a fault may stay undetected.
    /// </summary>
    /// <param name="mistake">Returns whether the mistake has been made.</param>
    /// <param name="time">The time; null for one in which other threads have had their turn.</param>
    public static void GiveTimeFor(Func<bool> mistake, TimeSpan? time = null) => SpinWait.SpinUntil(mistake, time ?? TurnsOfMistake * Turn);

    /// <summary>Does the same as <see cref="GiveTimeFor"/>, and blocks no thread.</summary>
    public static async Task GiveTimeForAsync(Func<bool> mistake)
    {
        for (var i = 0; i < TurnsOfMistake && !mistake(); i++)
            await Task.Delay(Turn, TestContext.Current.CancellationToken);
    }

    private static long Deadline() => Environment.TickCount64 + (long)Limit.TotalMilliseconds;

    private static TimeoutException Expired(string because, string awaited) =>
        new($"Within {Limit.TotalMinutes:N0} minutes this did not come: {awaited}{(because == "" ? "" : $" ({because})")}.");
}
