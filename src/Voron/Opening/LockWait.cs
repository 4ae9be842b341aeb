using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Microsoft.Extensions.Logging;
using Voron.IO;

namespace Voron.Opening;

/// <summary>
/// Takes the lock of an environment. While another one holds it, retries with growing pauses until <see cref="StorageOptions.LockTimeout"/> is
/// over: no system offers a file lock whose wait can be cancelled.
/// </summary>
internal sealed class LockWait(IDisk disk, StorageOptions options, ILogger logger)
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(500);

    private readonly long _began = Stopwatch.GetTimestamp();
    private TimeSpan _pause;

    /// <summary>Locks the environment on a disk, which is disposed if this fails. Creates the environment if necessary.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Valid options.</param>
    /// <param name="logger">The logger as the engine uses it: see <see cref="Primitives.GuardedLogger"/>.</param>
    /// <exception cref="EnvironmentInUseException">The environment is still open elsewhere; the message says how long this call waited.</exception>
    public static EnvironmentLock Take(IDisk disk, StorageOptions options, ILogger logger)
    {
        try
        {
            var wait = new LockWait(disk, options, logger);
            EnvironmentLock? held;
            while (!wait.TryTake(out held))
                Thread.Sleep(wait._pause);
            return held;
        }
        catch (Exception e)
        {
            disk.Dispose();
            OpeningFailure.ThrowTranslated(disk.Path, options, e);
            throw;
        }
    }

    /// <summary>Like <see cref="Take"/>, but blocks no thread between the attempts.</summary>
    /// <exception cref="OperationCanceledException">The call was cancelled; the lock is not held.</exception>
    /// <inheritdoc cref="Take"/>
    public static async Task<EnvironmentLock> TakeAsync(
        IDisk disk, StorageOptions options, ILogger logger, CancellationToken cancellationToken)
    {
        try
        {
            var wait = new LockWait(disk, options, logger);
            EnvironmentLock? held;
            while (!wait.TryTake(out held))
                await Task.Delay(wait._pause, cancellationToken).ConfigureAwait(false);
            return held;
        }
        catch (Exception e)
        {
            disk.Dispose();
            OpeningFailure.ThrowTranslated(disk.Path, options, e);
            throw;
        }
    }

    private bool TryTake([NotNullWhen(true)] out EnvironmentLock? held)
    {
        try
        {
            held = EnvironmentLock.Take(disk, options);
            return true;
        }
        catch (EnvironmentInUseException e) when (options.LockTimeout != TimeSpan.Zero)
        {
            held = null;
            BeginPause(e);
            return false;
        }
    }

    private void BeginPause(EnvironmentInUseException inUse)
    {
        var waited = Stopwatch.GetElapsedTime(_began);
        var isLimited = options.LockTimeout != Timeout.InfiniteTimeSpan;
        if (isLimited && waited >= options.LockTimeout)
        {
            throw new EnvironmentInUseException(
                string.Create(CultureInfo.InvariantCulture, $"{inUse.Message} Waited {waited.TotalSeconds:F1} s for it ({nameof(StorageOptions.LockTimeout)})."),
                inUse.InnerException);
        }

        if (_pause == TimeSpan.Zero)
            EnvironmentLog.WaitingForLock(logger, disk.Path, options.LockTimeout, inUse.Message);
        _pause = _pause == TimeSpan.Zero ? FirstPause : _pause * 2 < LongestPause ? _pause * 2 : LongestPause;

        // The last attempt is made when the time is over, not earlier: the pause is rounded up, because a pause of zero would not wait.
        if (isLimited && _pause > options.LockTimeout - waited)
            _pause = TimeSpan.FromMilliseconds(Math.Ceiling((options.LockTimeout - waited).TotalMilliseconds));
    }
}
