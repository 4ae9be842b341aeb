using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Voron.Extensions.Hosting;

/// <summary>The health of an environment. Opens nothing, waits for no other thread, and throws nothing.</summary>
/// <param name="hosted">The environment.</param>
/// <param name="tables">Its tables that are brought to their definitions.</param>
/// <param name="settings">Returns its thresholds.</param>
/// <param name="time">The clock.</param>
internal sealed class EnvironmentHealthCheck(
    HostedEnvironment hosted, IReadOnlyList<HostedTable> tables, Func<VoronHealthCheckSettings> settings, TimeProvider time) : IHealthCheck
{
    private readonly BackPressureWatch _flushServices = new(time);

    private string Closed => $"The environment of section '{hosted.Section}' is closed.";

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(Check(context.Registration.FailureStatus));

    private HealthCheckResult Check(HealthStatus failed)
    {
        try
        {
            var (environment, isOpening, isClosed, failure) = hosted.Condition;
            if (environment != null)
                return Check(environment, failed);
            if (isClosed)
                return new HealthCheckResult(failed, Closed);
            if (isOpening)
                return new HealthCheckResult(failed, $"The environment of section '{hosted.Section}' is being opened.");
            return failure == null
                ? new HealthCheckResult(failed, $"The environment of section '{hosted.Section}' has not been opened yet. It is opened when the host starts, or when it is first used.")
                : new HealthCheckResult(failed, failure.Message, failure);
        }
        catch (Exception e)
        {
            return new HealthCheckResult(failed, $"The condition of the environment of section '{hosted.Section}' is not known: {e.Message}", e);
        }
    }

    private HealthCheckResult Check(StorageEnvironment environment, HealthStatus failed)
    {
        EnvironmentStatistics statistics;
        try
        {
            statistics = environment.GetStatistics();
        }
        catch (ObjectDisposedException)
        {
            return new HealthCheckResult(failed, Closed);
        }

        var thresholds = settings();
        var isSlowed = _flushServices.IsActive(statistics, thresholds.BackPressureWindow);
        var troubles = environment.Options.ReadOnly ? [] : tables.Select(table => table.Trouble).OfType<string>();
        var assessment = new HealthAssessment(environment.Path, environment.Options, statistics, thresholds, time.GetUtcNow());
        return assessment.Assess(failed, isSlowed, troubles);
    }
}
