using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>An environment whose opening a test controls.</summary>
internal sealed class FakeSource(Func<CancellationToken, Task<StorageEnvironment>> open) : IEnvironmentSource
{
    private int _openings;

    public FakeSource(Func<StorageEnvironment> open)
        : this(_ => Task.FromResult(open()))
    {
    }

    public int Openings => _openings;

    public string Section => "Voron:fake";

    public EnvironmentOpening Prepare() => new("nowhere", () => OpenAsync(CancellationToken.None).GetAwaiter().GetResult(), OpenAsync);

    private Task<StorageEnvironment> OpenAsync(CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _openings);
        return open(cancellationToken);
    }
}
